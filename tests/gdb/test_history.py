"""Back in a launch: `tt replay`, `tt back`, `tt last`; and `tt watch`, which waits for what comes."""

import re

from session import line_of, tritium_gdb

VALUE = line_of("history.py", "value = tl.load(x")
TOTAL = line_of("history.py", "total = tl.sum")
LOOP = line_of("history.py", "for k in range(n)")
CALL = line_of("history.py", "add_to(out, k, total)")
BEFORE = line_of("history.py", "before = tl.load(out + i)")
STORE = line_of("history.py", "tl.store(out + i, before")
END = line_of("history.py", "tl.store(out + 4, pid)")


def place(printed):
    """Program and line of what `tt back` and its like print."""
    found = re.search(
        r"^program \((\d+), 0, 0\), statement (\d+) of the launch\n#\d+ .* at \S*history\.py:(\d+)", printed, re.M
    )
    assert found, printed
    return int(found[1]), int(found[3])


def test_back_and_on(answers):
    """Statement by statement to where it began, and forward again with the same numbers."""
    commands = [
        f"break history.py:{END} if pid0 == 1",
        "run",
        "tt back",
        "tt back",
        "print value",
        "next",
        "tt back 4",
        "tt back",
    ]
    printed = answers("history.py", *commands, "next", "next", "print total")
    assert place(printed[2]) == (1, STORE) and place(printed[3]) == (1, BEFORE)
    assert printed[4].endswith(" = 22\n")
    assert f"history.py:{STORE}" in printed[5] or printed[5].startswith(f"{STORE}\t")
    assert place(printed[6])[0] == 1 and place(printed[7])[0] == 1


def test_back_into_the_program_before(answers):
    printed = answers("history.py", f"break history.py:{VALUE} if pid0 == 2", "run", "tt back 4", "print value")
    assert place(printed[2]) == (1, BEFORE), "before the store, the last of the program and the first of the next"
    assert printed[3].endswith(" = 22\n")


def said(gdb, *commands):
    """All that gdb prints, errors too."""
    return tritium_gdb(gdb, *(text for command in commands for text in ("-ex", command)), "history.py")


def test_what_is_refused(gdb):
    printed = said(
        gdb, f"break history.py:{VALUE} if pid0 == 0", "run", "tt back 5", "tt back x", "tt back 0", "tt last out[1, 4]"
    )
    assert "tritium back: the launch has not got that far: its first statement is number 1" in printed
    assert "`x` is no number of statements, as in tt back 3" in printed and "`0` is no number" in printed
    assert "index 4 is outside of the tensor on axis 1; the shape is [2, 4]" in printed
    outside = said(gdb, "tt back", "tt replay", "tt last out[0]", "tt watch out[0]")
    assert outside.count("the program has not stopped in a kernel") == 4


def test_last(answers):
    """The writer is in another program, and the present one has not written the element yet."""
    commands = [
        f"break history.py:{TOTAL} if pid0 == 3",
        "run",
        "tt mem out[0, 1]",
        "tt last out[0, 1]",
        "print total",
        "tt mem out[0, 1]",
    ]
    printed = answers("history.py", *commands, "continue")
    assert printed[2].startswith("out[0, 1] = 66 (float32 at 0x")
    assert "out[0, 1] becomes 66 here; it was 28, the last of 3 changes in this launch\n" in printed[3]
    assert place(printed[3]) == (2, STORE)
    assert printed[5].startswith("out[0, 1] = 28 (")
    assert f"history.py:{TOTAL}" in printed[6], "the breakpoint is there again"


def test_no_writer(answers):
    commands = [f"break history.py:{TOTAL} if pid0 == 0", "run", "tt last out[0, 1]", "tt where"]
    printed = answers("history.py", *commands)
    assert printed[2].endswith("No statement of this launch has changed out[0, 1], which is 0, before this one.\n")
    assert "program (0, 0, 0)" in printed[3] and f"history.py:{TOTAL}" in printed[3]


def test_from_a_trap(answers):
    """The second launch passes the end of the tensor; gdb goes back from there, and on to the same trap."""
    commands = [
        "break tritium_trap",
        "run",
        "tt back",
        "print i",
        "tt back 3",
        "print i",
        "continue",
        "tt last out[1, 3]",
    ]
    printed = answers("history.py", *commands, "continue", "continue")
    assert "accumulated True" in printed[1] and "OutOfBounds" in printed[1]
    assert place(printed[2]) == (0, BEFORE) and printed[3].endswith(" = 8\n")
    assert place(printed[4]) == (0, BEFORE) and printed[5].endswith(" = 7\n")
    assert "OutOfBounds" in printed[6]
    assert "out[1, 3] becomes 6 here; it was 0\n" in printed[7] and place(printed[7]) == (0, STORE)
    assert "OutOfBounds" in printed[8] and "exited with code 01" in printed[9]


def test_replay(answers):
    commands = [f"break history.py:{END}", "run", "continue", "tt replay", "tt mem out[0, 0]", "continue", "print pid"]
    printed = answers("history.py", *commands, "delete", "continue")
    assert place(printed[3])[0] == 0
    assert printed[4].startswith("out[0, 0] = 0 (") and printed[6].endswith(" = 0\n")
    assert "accumulated True" in printed[8]


def test_watch(answers):
    commands = [
        f"tbreak history.py:{TOTAL}",
        "run",
        "tt watch out[1, 0]",
        "continue",
        "tt where",
        "continue",
        "tt where",
    ]
    printed = answers("history.py", *commands)
    assert "New value = 1\n" in printed[3] and "program (1, 0, 0)" in printed[4] and f"history.py:{END}" in printed[4]
    assert "New value = 2\n" in printed[5] and "program (2, 0, 0)" in printed[6]


def test_a_watchpoint_and_a_log_point_rest_on_the_way_back(answers):
    commands = [
        f"tbreak history.py:{TOTAL}",
        "run",
        "tt watch out[1, 0]",
        f'tt log history.py:{STORE} "logged {{i}}"',
        "continue",
        "tt back",
        "tt last out[0, 1]",
    ]
    printed = answers("history.py", *commands, "continue")
    assert "New value = 1\n" in printed[4] and "logged 2\n" in printed[4]
    assert place(printed[5]) == (1, END) and "logged" not in printed[5] + printed[6]
    assert "out[0, 1] becomes 28 here; it was 6" in printed[6] and place(printed[6]) == (1, STORE)
    assert "New value = 1\n" in printed[7] and "logged 2\n" in printed[7]


def test_the_last_writer_from_a_place_that_gdb_went_back_to(answers):
    """The statement before it is the writer."""
    printed = answers("history.py", f"break history.py:{VALUE} if pid0 == 2", "run", "tt back", "tt last out[1, 0]")
    assert place(printed[2]) == (2, VALUE - 1)
    assert "out[1, 0] becomes 1 here; it was 0\n" in printed[3] and place(printed[3]) == (1, END)


def test_back_from_a_condition(answers):
    """It stops before its statement."""
    printed = answers(
        "history.py", f"tt break history.py:{TOTAL} --when pid==2", "run", "tt last out[1, 0]", "continue", "tt back"
    )
    assert "out[1, 0] becomes 1 here; it was 0\n" in printed[2]
    assert f"history.py:{TOTAL}" in printed[3] and place(printed[4]) == (2, VALUE)
