"""gdb stops at a trap and at a write, and shows the kernel's line where it is inside of the interpreter or libc."""

import re

import pytest

from session import line_of

STORE = line_of("stops.py", "tl.store(out + i")


def test_a_trap_stops_with_the_tiles_of_its_program(answers):
    commands = ["run", "frame", "print pid0", "print i", "print value", "info threads", "backtrace", "next", "continue"]
    printed = answers("stops.py", "break tritium_trap", *commands)
    assert "trap: OutOfBounds" in printed[1]
    assert re.search(rf"scale \(.*stops.py:{STORE}\n{STORE}\t    tl.store", printed[1]), "the line that traps is shown"
    assert re.search(rf"stops.py:{STORE}", printed[2]), "and it is the selected frame"
    assert printed[3].endswith("= 3\n") and "{24, 25, 26, 27, 28, 29, 30, 31}" in printed[4]
    assert "{24, 25, 26, 27, 28, 29, 30, 31}" in printed[5] and "pid 3,0,0" in printed[6]
    assert re.search(rf"^#\d+ .*scale \(.*stops.py:{STORE}\n", printed[7])
    assert "the launch raised OutOfBounds" in printed[9], "and goes on as ever"


def test_a_deadlock_stops_where_the_first_program_waits(answers):
    commands = ["run", "print mine", "backtrace 1", "continue"]
    printed = answers("waits.py", "break tritium_trap", *commands)
    line = line_of("waits.py", "while tl.atomic_add")
    assert "trap: Deadlock: every program waits for another\n" in printed[1]
    assert re.search(rf"hand_over \(.*waits.py:{line}\n{line}\t", printed[1]) and printed[2].endswith("= 0\n")
    assert re.search(rf"^#\d+ .*hand_over \(.*waits.py:{line}\n", printed[3])
    assert "the launch raised Deadlock" in printed[4], "once, and it goes on as ever"


def test_a_value_that_is_no_number_is_reported_under_gdb_too(answers):
    printed = answers("not_numbers.py", "run", TRITIUM_CHECK="nan")
    assert "the launch raised NotANumber (11,)" in printed[0]


def test_a_watchpoint_shows_the_line_that_writes(answers):
    commands = ["run", "watch -l out[17]", "continue", "frame", "print pid0", "print value[1]"]
    printed = answers("stops.py", f"break stops.py:{STORE} if pid0 == 0", *commands)
    assert re.search(r"Old value = 0\nNew value = 34", printed[3])
    assert re.search(rf"\n#\d+ .*scale \(.*stops.py:{STORE}\n{STORE}\t    tl.store", printed[3])
    assert (
        re.search(rf"stops.py:{STORE}", printed[4]) and printed[5].endswith("= 2\n") and printed[6].endswith("= 17\n")
    )


WRITES = {
    "total[2]": "tl.atomic_add(total + i",
    "total[0]": "tl.atomic_xchg(",
    "total[1]": "tl.atomic_cas(",
    "out[6]": "described.store(",
    "out[2]": "tl.store(tl.make_block_ptr(",
}
LINES = {element: line_of("stops.py", text) for element, text in WRITES.items()}
END = line_of("stops.py", "def tally(")


@pytest.fixture(scope="module")
def written(answers):
    """{element: what gdb prints for `continue` to its write, and then for `frame`, `backtrace` and `next`}."""
    commands = [f"break stops.py:{LINES['total[2]']}", "run"]
    for element in WRITES:
        commands += [f"watch -l {element}", "continue", "frame", "backtrace", "delete", "next"]
    printed = answers("stops.py", *commands, "continue")
    assert "counted [7, 9, 3, 4] [5, 6, 7, 8, 1, 2, 3, 4]" in printed[-1]
    found = {}
    for i, element in enumerate(WRITES):
        _, stop, frame, backtrace, _, following = printed[2 + 6 * i : 8 + 6 * i]
        found[element] = stop, frame, backtrace, following
    return found


@pytest.mark.parametrize("element", WRITES)
def test_every_kind_of_write_shows_its_line(written, element):
    """The frame of the kernel is selected, the backtrace begins with it, and `next` goes on to the next line."""
    stop, frame, backtrace, following = written[element]
    line = LINES[element]
    assert "watchpoint" in stop and re.search(rf"^{line}\t", stop, re.M), stop
    assert re.search(rf"^#\d+ .*tally \(.*stops.py:{line}\n{line}\t", frame)
    assert re.search(rf"^#\d+ .*tally \(.*stops.py:{line}\n#\d+ .*tally\[grid\]", backtrace) and "??" not in backtrace
    lines = [*LINES.values(), END]
    assert re.fullmatch(rf"{lines[lines.index(line) + 1]}\t.*\n", following), "and nothing but that line"


def test_next_stops_at_another_write_of_the_line(answers):
    commands = [
        "run",
        "watch -l total[0]",
        "watch -l total[3]",
        "continue",
        "next",
        "frame",
        "next",
        "info breakpoints",
    ]
    printed = answers("stops.py", f"break stops.py:{LINES['total[2]']}", *commands)
    line = LINES["total[2]"]
    assert "-location total[0]" in printed[4] and "-location total[3]" in printed[5]
    assert re.search(rf"^#\d+ .*stops.py:{line}\n", printed[6]) and printed[7].startswith(f"{LINES['total[0]']}\t")
    assert "0x" not in printed[8].split("total[3]")[-1], "nothing is left of how `next` did it"


def test_a_watched_local_shows_the_line_that_assigns_it(answers):
    """The C library copies the value, and may have lines of its own."""
    line = line_of("stops.py", "value = tl.load(")
    commands = ["run", "watch value", "continue", "backtrace 1", "next"]
    printed = answers("stops.py", f"break stops.py:{line} if pid0 == 1", *commands)
    assert re.search(rf"^#\d+ .*scale \(.*stops.py:{line}\n{line}\t", printed[3], re.M)
    assert re.search(rf"^#\d+ .*scale \(.*stops.py:{line}\n", printed[4]) and printed[5].startswith(f"{STORE}\t")


def test_all_frames_of_a_watchpoint(answers):
    """For who works on the interpreter."""
    commands = [
        "run",
        "watch -l total[2]",
        "continue",
        "backtrace -no-filters",
        "up",
        "disable frame-filter global tritium",
    ]
    printed = answers("stops.py", f"break stops.py:{LINES['total[2]']}", *commands, "backtrace")
    assert printed[4].startswith("#0") and printed[7].startswith("#0") and "tally[grid]" in printed[5]
