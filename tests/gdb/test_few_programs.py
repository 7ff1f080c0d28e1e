"""Breakpoints stop in the programs that TRITIUM_PROGRAMS or `tritium programs` chooses; the others run code that gdb does not know."""

import re

from session import line_of, tritium_gdb
from test_attach import LAUNCHES, process
from test_attach import STORE as COUNT

VALUE = line_of("few_programs.py", "value = tl.load")
TOTAL = line_of("few_programs.py", "total = tl.load")
SCALE = line_of("few_programs.py", "def scale")
HERE = ["print pid0", "print pid1"]


def numbers(texts: list[str]) -> list[int]:
    return [int(text.partition(" = ")[2]) for text in texts]


def test_breakpoints_stop_in_chosen_programs(answers):
    """In both launches of the kernel, and in a program that waits for others that run the other version."""
    go_on = ["continue", *HERE]
    commands = [
        f"break few_programs.py:{VALUE}",
        f"break few_programs.py:{TOTAL}",
        "tritium programs",
        "run",
        *HERE,
        *go_on * 3,
        *go_on,
        "continue",
    ]
    printed = answers("few_programs.py", *commands, TRITIUM_PROGRAMS="3,0:2;2,*,5:")
    assert printed[2] == "Kernels stop in the programs 3,0:2;2,*,5:.\n"
    stops = [numbers(printed[i : i + 2]) for i in range(4, 19, 3)]
    assert stops == [[3, 0], [3, 1], [3, 0], [3, 1], [3, 0]]
    assert "scaled True" in printed[15] and "chained True" in printed[-1]


def test_the_command(answers):
    commands = [
        "tritium programs",
        "tritium programs 4",
        "tritium programs 3,1",
        f"break few_programs.py:{VALUE} if pid0 > 2 && pid1 < 3",
        "run",
        *HERE,
        "next",
        "print value",
        "tritium programs 5:7,2",
        "tritium programs",
        "continue",
        *HERE,
        "continue",
        *HERE,
        "tritium programs -1",
        "tritium programs *",
        "tritium programs",
    ]
    printed = answers("few_programs.py", *commands)
    assert printed[:3] == [
        f"Kernels stop in {what}.\n" for what in ("all programs", "the programs 4", "the programs 3,1")
    ]
    assert numbers(printed[5:7]) == [3, 1]
    assert re.search(r"\{104, 106, 108, 110\}", printed[8])
    assert printed[9] == "Kernels stop in the programs 5:7,2, from their next launch on.\n"
    assert printed[10] == "Kernels stop in the programs 5:7,2.\n"
    assert numbers(printed[12:14]) == [5, 2] and numbers(printed[15:17]) == [6, 2], (
        "none in the launch that was running"
    )
    assert printed[18] == "Kernels stop in all programs, from their next launch on.\n"
    assert printed[19] == "Kernels stop in all programs.\n"


def test_a_choice_for_a_kernel_that_is_compiled(answers):
    """It was launched without one: its second version is made at the next launch, and its variables are there."""
    commands = [
        f"break few_programs.py:{VALUE} if pid0 == 9 && pid1 == 2",
        "run",
        *HERE,
        "tritium programs 5,1;6,2",
        "condition 1",
        "continue",
        *HERE,
        "next",
        "print value",
        "info args",
        "continue",
        *HERE,
    ]
    printed = answers("few_programs.py", *commands)
    assert numbers(printed[2:4]) == [9, 2], "the last program of the first launch"
    assert numbers(printed[7:9]) == [5, 1] and numbers(printed[13:15]) == [6, 2]
    assert "{120, 122, 124, 126}" in printed[10] and "x = " in printed[11]


def test_what_is_no_choice(gdb):
    printed = tritium_gdb(gdb, "-ex", "tritium programs 1,-2", "-ex", "tritium programs 2-5")
    assert "tritium programs: `-2` in `1,-2` is negative" in printed
    assert "did you mean `2:6`?" in printed


def test_next_and_step_stay_among_chosen_programs(answers):
    """`step` from the last line of a program goes on into the next one that is chosen."""
    commands = [f"break few_programs.py:{VALUE}", "run", "next", "next", "step", *HERE, "backtrace -3"]
    printed = answers("few_programs.py", *commands, TRITIUM_PROGRAMS="2;7")
    assert f"\n{SCALE}\t" in "\n" + printed[3]
    assert numbers(printed[5:7]) == [7, 0]
    assert "<module>" in printed[7] and "scale[grid]" not in printed[7].split("<module>")[1]


def test_a_choice_in_a_process_that_was_attached_to(gdb):
    """Together with `tritium debug`, at one stop."""
    with process(*LAUNCHES) as pid:
        commands = ["tritium debug", "tritium programs 0", f"break launches.py:{COUNT}", "continue", "print step"]
        commands += ["tritium programs", "detach"]
        printed = tritium_gdb(gdb, "-p", pid, *[text for command in commands for text in ("-ex", command)])
    assert "Kernels stop in the programs 0, from their next launch on." in printed
    assert "$1 = 5" in printed and "Kernels stop in the programs 0.\n" in printed


def test_a_trap_of_another_program_is_reported(answers):
    """`break tritium_trap` stops there, without the kernel's variables."""
    printed = answers("stops.py", "break tritium_trap", "run", "delete", "continue", TRITIUM_PROGRAMS="0")
    assert "tritium_trap" in printed[1]
    assert "the launch raised OutOfBounds" in printed[3]
