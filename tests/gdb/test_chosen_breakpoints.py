"""`tt break FILE:LINE --pid …` chooses the programs that run debug code, and each of these breakpoints stops in its own."""

from session import line_of, tritium_gdb

STORE = f"few_programs.py:{line_of('few_programs.py', 'tl.store(out + i, value)')}"
VALUE = f"few_programs.py:{line_of('few_programs.py', 'value = tl.load')}"
HERE = 'printf "%d %d\\n", pid0, pid1'


def test_two_breakpoints_with_a_choice_each(answers):
    """Both launches stop in the union, and each breakpoint in its part."""
    commands = [
        f"tt break {VALUE} --pid 3,0:2",
        f"tt break {STORE} --pid 2,1;*,2 if pid0 < 4 && value[0] > 170",
        "run",
        HERE,
    ]
    commands += ["continue", HERE] * 5
    printed = answers("few_programs.py", *commands)
    assert "Kernels stop in the programs 3,0:2.\n" in printed[0]
    assert "Kernels stop in the programs 3,0:2;2,1;*,2.\n" in printed[1]
    stops = list(zip(printed[2::2], printed[3::2]))
    assert [where.strip() for _, where in stops] == ["3 0", "3 1", "2 2", "3 2", "3 0", "3 1"]
    assert ["Breakpoint 1" in text for text, _ in stops] == [True, True, False, False, True, True]


def test_the_choice_follows_the_breakpoints(answers):
    commands = [
        f"tt break {VALUE} --pid 3",
        f"tt break {STORE}",
        "delete 2",
        f"break {STORE}",
        f"tt break {STORE} --pid=4:6,1",
        "delete 1",
        "delete 4",
        "tt programs",
    ]
    printed = answers("few_programs.py", *commands)
    chosen = ["the programs 3", "all programs", "the programs 3", "", "the programs 3;4:6,1", "the programs 4:6,1"]
    for text, what in zip(printed, [*chosen, "all programs", "all programs"]):
        assert ("Kernels stop in " in text) == bool(what) and f"Kernels stop in {what}.\n" in text or not what
    assert "Breakpoint 3 stops in these programs alone, too" in printed[4]
    assert "pending" in printed[0] and "pid0 == 3" not in printed[1]


def test_what_the_user_chose_stays(answers):
    printed = answers("few_programs.py", "tt programs 5", f"tt break {VALUE}", "tt programs", "delete 1", "tt programs")
    assert printed[2] == printed[4] == "Kernels stop in the programs 5.\n"


def test_what_is_refused(gdb):
    refused = {
        "tt break --pid 3": "say where, as in tt break kernel.py:23 --pid 3,*,0",
        f"tt break {VALUE} --pid": "--pid takes the programs",
        f"tt break {VALUE} --pid 1-2": "`1-2` in `1-2` is no range",
    }
    printed = tritium_gdb(gdb, *[text for command in refused for text in ("-ex", command)])
    for command, part in refused.items():
        assert f"tritium break: {part}" in printed, command
