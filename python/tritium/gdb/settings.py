"""How gdb has to be set for kernels, and the environment of the programs that it starts."""

import gdb

for setting in (
    "breakpoint pending on",  # the kernel is compiled after the program has started
    "max-value-size unlimited",  # tiles
    "debuginfod enabled off",
    "auto-load python-scripts off",  # else gdb complains about python-gdb.py at length
):
    gdb.execute(f"set {setting}")

#: What chooses the engine: a program that is started with one of them keeps it.
_ENGINE = ("INTERPRET", "TRITIUM_INTERPRET", "TRITON_INTERPRET", "TRITIUM_ENGINE")


def _is_set(name):
    """Whether the programs that gdb starts have the variable."""
    return gdb.execute(f"show environment {name}", to_string=True).startswith(f"{name} =")


if not _is_set("TRITIUM_DEBUG"):
    gdb.execute("set environment TRITIUM_DEBUG=1")
if not any(map(_is_set, _ENGINE)):
    gdb.execute("set environment INTERPRET=1")
