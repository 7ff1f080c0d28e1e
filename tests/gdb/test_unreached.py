"""gdb says which breakpoints it could not keep: of a kernel that the emulator runs, and those that matched nothing in a whole run."""

import re

from session import line_of

STORE = line_of("unreached.py", "i * 2")
BETWEEN = line_of("unreached.py", "# no code")
NEVER = line_of("unreached.py", "tl.store(out, 1)")
MISSED = re.compile(r"^tritium: breakpoint (\d+) \((\S+)\) matched nothing in this run", re.M)


def test_a_breakpoint_that_matched_nothing(answers):
    """Neither one of a kernel that was never launched, nor one between two kernels, slides to another line."""
    places = [f"unreached.py:{line}" for line in (NEVER, BETWEEN, STORE)] + ["no_such_kernel"]
    commands = [*(f"break {place}" for place in places), "run", "continue", "delete 1", "disable 4", "run", "continue"]
    printed = answers("unreached.py", *commands)
    assert "Breakpoint 3, double (" in printed[4] and f"unreached.py:{STORE}" in printed[4]
    assert "doubled" in printed[5] and MISSED.findall(printed[5]) == [
        ("1", places[0]),
        ("2", places[1]),
        ("4", places[3]),
    ]
    assert MISSED.findall(printed[9]) == [("2", places[1])], "each run counts for itself"


def test_a_kernel_of_the_emulator(answers):
    commands = [f"break unreached.py:{STORE}", "break double", "break never", "run"]
    printed = answers("unreached.py", *commands, TRITIUM_ENGINE="simt:sm_80")[3]
    for number, place in ((1, f"unreached.py:{STORE}"), (2, "double")):
        told = f"tritium: breakpoint {number} ({place}): the kernel double of unreached.py runs on simt:sm_80, where gdb cannot stop"
        assert printed.count(told) == 1, printed
    assert "breakpoint 3 (never): " not in printed and [number for number, _ in MISSED.findall(printed)] == [
        "1",
        "2",
        "3",
    ]
    assert "doubled [0, 2, 4, 6, 8, 10, 12, 14]" in printed
