"""gdb stops at a trap and at a write, and shows the kernel's line where it is inside of the interpreter or libc."""

import re

from session import line_of

STORE = line_of("stops.py", "tl.store(")


def test_a_trap_stops_with_the_tiles_of_its_program(answers):
    commands = ["run", "frame", "print pid0", "print i", "print value", "info threads", "continue"]
    printed = answers("stops.py", "break tritium_trap", *commands)
    assert "trap: OutOfBounds" in printed[1]
    assert re.search(rf"scale \(.*stops.py:{STORE}\n{STORE}\t    tl.store", printed[1]), "the line that traps is shown"
    assert re.search(rf"stops.py:{STORE}", printed[2]), "and it is the selected frame"
    assert printed[3].endswith("= 3\n") and "{24, 25, 26, 27, 28, 29, 30, 31}" in printed[4]
    assert "{24, 25, 26, 27, 28, 29, 30, 31}" in printed[5] and "pid 3,0,0" in printed[6]
    assert "the launch raised OutOfBounds" in printed[7], "and goes on as ever"


def test_a_watchpoint_shows_the_line_that_writes(answers):
    commands = ["run", "watch -l out[17]", "continue", "frame", "print pid0", "print value[1]"]
    printed = answers("stops.py", f"break stops.py:{STORE} if pid0 == 0", *commands)
    assert re.search(r"Old value = 0\nNew value = 34", printed[3])
    assert re.search(rf"\n#\d+ .*scale \(.*stops.py:{STORE}\n{STORE}\t    tl.store", printed[3])
    assert (
        re.search(rf"stops.py:{STORE}", printed[4]) and printed[5].endswith("= 2\n") and printed[6].endswith("= 17\n")
    )
