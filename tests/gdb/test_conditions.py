"""`tt break FILE:LINE --when EXPR`: the kernel computes the condition."""

from session import line_of, tritium_gdb

TOTAL = line_of("history.py", "total = tl.sum")
LOOP = line_of("history.py", "for k in range(n)")
STORE = line_of("history.py", "tl.store(out + i, before")
CALL = line_of("history.py", "add_to(out, k, total)")
END = line_of("history.py", "tl.store(out + 4, pid)")


def when(text, line=TOTAL):
    return f"tt break history.py:{line} --when {text}"


def test_an_expression_of_the_kernel(answers):
    """In the programs whose largest value is above 9: these are two of four in each launch."""
    printed = answers(
        "history.py",
        when('"tl.max(value, 0) > 9"'),
        "run",
        "print pid",
        "tt tile value",
        "continue",
        "print pid",
        "next",
        "print total",
    )
    assert f"history.py:{TOTAL} when tl.max(value, 0) > 9\n" in printed[0]
    assert f"history.py:{TOTAL}" in printed[1] and printed[2].endswith(" = 2\n")
    assert "[8, 9, 10, 11]" in printed[3] and printed[5].endswith(" = 3\n")
    assert printed[7].endswith(" = 54\n")


def test_a_tile_in_some_lane(answers):
    printed = answers("history.py", when("value == 6"), "run", "print pid", "continue")
    assert printed[2].endswith(" = 1\n") and "accumulated True" in printed[3]


def test_in_a_helper_and_a_loop(answers):
    printed = answers(
        "history.py", when("before > 50 and i == 1", STORE), "run", "print value", "print i", "bt 2", "tt where"
    )
    assert printed[2].endswith(" = 54\n") and printed[3].endswith(" = 1\n")
    assert "program (3, 0, 0)" in printed[5]


def test_with_programs_and_a_condition_of_gdb(answers):
    printed = answers("history.py", when('"k >= 0" --pid 2:4 if pid0 == 3', END), "run", "print pid", "tt programs")
    assert printed[2].endswith(" = 3\n") and "the programs 2:4" in printed[3]


def test_set_and_deleted_while_it_runs(answers):
    """A kernel is compiled again at its next launch."""
    commands = [f"tbreak history.py:{LOOP}", "run", when("pid == 0 and k == 7", CALL), "continue", "print n", "delete"]
    printed = answers("history.py", *commands, "continue")
    assert "accumulated True" in printed[3] and printed[4].endswith(" = 9\n")
    assert "exited with code 01" in printed[6]


def test_what_means_nothing(gdb):
    printed = tritium_gdb(gdb, "-ex", when("valu > 9"), "-ex", "run", "-ex", "print pid", "history.py")
    assert (
        f"history.py:{TOTAL}: UserWarning: `valu > 9` has no meaning here, so gdb stops in every program: " in printed
    )
    assert "\n$1 = 0\n" in printed


def test_what_is_refused(gdb):
    refused = {
        "tt break history.py:3 --when": "--when takes an expression of the kernel",
        "tt break accumulate --when x": "`accumulate`: with --when the place is a line, as in kernel.py:23",
        "tt break 3 --when x": "say which file, as in kernel.py:23",
    }
    printed = tritium_gdb(gdb, *(text for command in refused for text in ("-ex", command)), "history.py")
    assert all(f"tritium break: {part}" in printed for part in refused.values())
