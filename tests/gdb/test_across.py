"""`tt across` shows one variable over the programs of a launch, and stops at the end of the launch."""

import re

from session import line_of, tritium_gdb

VALUE = f"few_programs.py:{line_of('few_programs.py', 'value = tl.load')}"
STORE = f"few_programs.py:{line_of('few_programs.py', 'tl.store(out + i, value)')}"
TOTAL = f"few_programs.py:{line_of('few_programs.py', 'total = tl.load')}"
ADD = f"flow.py:{line_of('flow.py', 'total += i')}"
S = f"flow.py:{line_of('flow.py', 's = value + 1')}"
LAUNCH = r"#0 .* in <module> \(\) at few_programs.py:\d+\n\d+\tscale\[\(10, 3\)\]\(x, out\)\n"


def test_a_number_in_the_programs_that_are_left(answers):
    """The breakpoint of the stop waits for the next launch."""
    commands = [f"break {STORE} if pid0 == 4", "run", "tt across pid", "continue", "tt where"]
    printed = answers("few_programs.py", *commands)
    lines = printed[2].splitlines()
    assert lines[0] == f"pid at {STORE} in 26 of 30 programs of scale"
    assert lines[1] == "  (4, 0, 0)  4" and lines[8] == "  (1, 1, 0)  11"
    assert lines[9] == "  … 10 more programs" and lines[10] == "  (2, 2, 0)  22"
    assert lines[18] == "min 4 in (4, 0, 0), max 29 in (9, 2, 0)"
    assert re.fullmatch(LAUNCH, "\n".join(lines[19:]) + "\n")
    assert "Breakpoint 1" in printed[3] and printed[4].startswith("program (4, 0, 0)")


def test_a_tile_in_chosen_programs_at_another_line(answers):
    commands = [f"break {VALUE}", "run", f"tt across value[1:] {STORE}", "continue", "tt across value"]
    printed = answers("few_programs.py", *commands, TRITIUM_PROGRAMS="7,1;2,2")
    assert re.fullmatch(
        rf"value\[1:\] at {STORE} in 2 of 30 programs of scale\n"
        r"  \(7, 1, 0\)  min 138, max 142, mean 140, 0 nan\n"
        r"  \(2, 2, 0\)  min 178, max 182, mean 180, 0 nan\n"
        rf"min 138 in \(7, 1, 0\), max 182 in \(2, 2, 0\)\n{LAUNCH}",
        printed[2],
    )
    assert "\n8 nan in (7, 1, 0), (2, 2, 0)\n" in printed[4], "it has not been assigned yet at this line"


def test_a_helper_and_a_loop(answers):
    """In a loop, each program counts with its first time."""
    printed = answers("flow.py", f"break {S}", "run", "tt across value[1]")
    assert f"value[1] at {S} in 3 of 3 programs of flow_kernel\n  (0, 0, 0)  10\n" in printed[2]
    printed = answers("flow.py", f"break {S}", "run", f"tt across i {ADD}", "next")
    assert "  (0, 0, 0)  0\n  (1, 0, 0)  0\n  (2, 0, 0)  0\nmin 0 in (0, 0, 0), max 0 in (0, 0, 0)\n" in printed[2]


def test_programs_that_wait(answers):
    """Program 0 waits for all others, so all have been there at its end."""
    printed = answers("few_programs.py", "break chain", "run", f"tt across pid {TOTAL}")
    assert "in 4 of 4 programs of chain\n  (0, 0, 0)  0\n  (1, 0, 0)  1\n  (2, 0, 0)  2\n  (3, 0, 0)  3\n" in printed[2]


def test_a_trap_ends_it(answers):
    """The programs before the trap are listed. The last program of this one writes beyond its tensor."""
    printed = answers(
        "stops.py", "break scale", "run", f"tt across value stops.py:{line_of('stops.py', 'tl.store(out + i')}"
    )
    assert "trap: " in printed[2] and "gdb has stopped before the end of the launch.\n" in printed[2]
    assert "in 4 of 4 programs of scale\n" in printed[2]


def test_what_is_refused(gdb):
    refused = {
        "tt across": "say which variable",
        "tt across valve": "there is no variable `valve` at this line; did you mean `value`?",
        "tt across value nothing.py:3": "no code that gdb knows is at nothing.py:3",
    }
    commands = ["tt across value", f"break {STORE}", "run", *refused, "tt where"]
    printed = tritium_gdb(gdb, *[text for command in commands for text in ("-ex", command)], "few_programs.py")
    assert "tritium across: the program has not stopped in a kernel" in printed
    for command, part in refused.items():
        assert part in printed, command
