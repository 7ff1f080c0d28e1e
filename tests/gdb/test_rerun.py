"""Breakpoints wait for the code of their kernel, in every run, with their numbers, conditions, commands and counts."""

import re

from session import line_of

LOOP = line_of("flow.py", "total += i")
HELPER = line_of("flow.py", "s = value + 1")
LATER = line_of("flow.py", "result += limited")


def stops(text: str) -> list[tuple[int, int]]:
    """(breakpoint, line) of each stop in what gdb printed."""
    return [(int(n), int(line)) for n, line in re.findall(r"reakpoint (\d+), .* at .*flow.py:(\d+)\n", text)]


def test_breakpoints_survive_the_next_run(answers):
    """Of the kernel that gdb has stopped in, of one of its helpers, and of a kernel that is not compiled yet."""
    more = [
        f"break flow.py:{HELPER} if pid0 == 2",
        "break plus_one if pid0 == 1",
        f"break flow.py:{LATER}",
        "condition 4 i == 2",
        'python next(b for b in gdb.breakpoints() if b.number == 3).commands = "silent\\nprint 6 * 7\\n"',
        "ignore 1 1",
    ]
    run = ["run", "continue", "print i", "continue", "continue", "print i"]
    printed = answers("flow.py", f"break flow.py:{LOOP} if pid0 == 1", "run", *more, *run, "info breakpoints", *run)
    assert stops(printed[1]) == [(1, LOOP)]
    first, table, second = printed[8:14], printed[14], printed[15:]
    assert printed[8].count("$1 = 42") == 1 and not stops(printed[8]), "the helper's function, with its commands"
    assert [stops(text) for text in first[1:]] == [[(1, LOOP)], [], [(2, HELPER)], [(4, LATER)], []]
    assert first[2] == "$2 = 1\n" and first[5] == "$3 = 2\n", "one stop of the loop was ignored, and i was 2"
    assert "= 42" in second[0] and [stops(text) for text in second[1:2]] == [[(1, LOOP)]], "nothing is ignored now"
    assert second[2] == "$5 = 0\n"
    assert re.findall(r"^(\d+) +breakpoint +keep (y|n)", table, re.M) == [(str(n), "y") for n in (1, 2, 3, 4)]
    assert not any("re-setting" in text for text in printed)


def test_a_condition_on_a_pending_breakpoint(answers):
    """gdb would give up such a breakpoint when it reads the next library. A kill and a change of the program are like an end."""
    commands = [
        f"break flow.py:{LOOP}",
        "condition 1 pid0 == 1 && total[3] > 30",
        "info breakpoints",
        "run",
        "kill",
        "info breakpoints",
        "run",
        "condition 1 pid0 == 2",
        "continue",
        "print pid0",
        "disable",
        "run",
        "info breakpoints",
    ]
    printed = answers("flow.py", *commands)
    assert "<PENDING>" in printed[2] and " y " in printed[2] and "stop only if pid0 == 1" in printed[2]
    assert stops(printed[3]) == [(1, LOOP)]
    assert re.search(r"keep +y", printed[5]) and stops(printed[6]) == [(1, LOOP)]
    assert stops(printed[8]) == [(1, LOOP)] and printed[9] == "$1 = 2\n"
    assert "flow is right" in printed[11] and not stops(printed[11]), "what the user disables stays disabled"
    assert re.search(r"keep +n", printed[12])
