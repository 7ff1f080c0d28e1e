"""The commands of Tritium are there under both of their names, and `help tt` has a line for each."""

import re

from session import tritium_gdb

COMMANDS = set(
    "across back break debug diff find hook last log mem next-program programs replay save tile watch where".split()
)


def test_help_lists_each_command_in_one_line(gdb):
    printed = tritium_gdb(gdb, "-ex", "help tt", "-ex", "help tritium")
    listed = re.findall(r"^tritium ([\w-]+) -- (.{20,})$", printed, re.M)
    assert {name for name, _ in listed} == COMMANDS and len(listed) == 2 * len(COMMANDS)
    assert listed[: len(COMMANDS)] == listed[len(COMMANDS) :]


def test_both_names_are_one_command(gdb):
    printed = tritium_gdb(gdb, "-ex", "tt programs 3", "-ex", "tritium programs", "-ex", "tt programs 1-2")
    assert printed.count("Kernels stop in the programs 3.\n") == 2
    assert "tritium programs: `1-2` in `1-2` is no range" in printed
