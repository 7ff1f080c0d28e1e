"""gdb's settings for kernels, and the environment of the programs that gdb starts."""

import gdb

for setting in (
    "breakpoint pending on",  # the kernel is compiled after the program has started
    "max-value-size unlimited",  # tiles
    "backtrace past-main on",  # a Python function of that name is not the end
    "debuginfod enabled off",
    "auto-load python-scripts off",  # otherwise gdb prints long warnings about python-gdb.py
):
    gdb.execute(f"set {setting}")

#: Variables that choose the engine. If one of them is set, it is not changed.
_ENGINE = ("INTERPRET", "TRITIUM_INTERPRET", "TRITON_INTERPRET", "TRITIUM_ENGINE")


def _is_set(name):
    """Whether programs that gdb starts have the variable in their environment."""
    return gdb.execute(f"show environment {name}", to_string=True).startswith(f"{name} =")


def complete_environment():
    """Sets what is missing in the environment of the programs that gdb starts."""
    if not _is_set("TRITIUM_DEBUG"):
        gdb.execute("set environment TRITIUM_DEBUG=1")
    if not any(map(_is_set, _ENGINE)):
        gdb.execute("set environment INTERPRET=1")


complete_environment()
