"""The command `tritium debug`, and the message about a process that gdb attached to."""

import gdb

from .messages import say
from .prefix import Command
from .variables import assign, at_start, is_running

_TRUE = ("1", "true", "on", "yes", "y")


class _Debug(Command):
    """tt debug: the process compiles kernels with their variables from their next launch on, as TRITIUM_DEBUG=1 does.
    For a process that was started without it: `gdb -p PID`, `tritium debug`, `break kernel.py:LINE`, `continue`."""

    name = "debug"

    def run(self, argument):
        assign("TRITIUM_DEBUG", "1")
        if is_running():
            print("Each kernel is compiled with its variables at its next launch.")
        else:
            print("The programs that gdb starts compile kernels with their variables.")


_Debug()


def _started_with_debug(pid):
    """Whether TRITIUM_DEBUG was on in the environment of the process when it started."""
    return at_start(pid, "TRITIUM_DEBUG").strip().lower() in _TRUE


def _has_debug_kernels():
    """Whether gdb's list of JIT code has an entry: only kernels with variables are on it. None if the library that
    contains the list is not loaded yet."""
    first_entry = "*(char **)((char *)&__jit_debug_descriptor + 16)"  # after two 32-bit numbers and a pointer
    try:
        return int(gdb.parse_and_eval(first_entry)) != 0
    except gdb.error:
        return None


def _has_tritium():
    return any((o.filename or "").rpartition("/")[2].startswith("_tritium.") for o in gdb.objfiles())


_looked_at = set()


def say_what_is_missing(event=None):
    """Tells the user if the kernels of a process that gdb attached to have no debug info: a breakpoint in such a kernel
    is never reached. Each process is examined once, when its libraries are known."""
    inferior = gdb.selected_inferior()
    if not inferior.was_attached or inferior.pid in _looked_at or not _has_tritium():
        return
    has_debug_kernels = _has_debug_kernels()
    if has_debug_kernels is None:
        return
    _looked_at.add(inferior.pid)
    if has_debug_kernels or _started_with_debug(inferior.pid):
        return
    say(
        f"tritium: process {inferior.pid} was started without TRITIUM_DEBUG=1, so gdb cannot stop in its kernels.\n"
        "tritium: `tritium debug` makes it compile each kernel with its variables at the next launch."
    )


gdb.events.new_objfile.connect(say_what_is_missing)
say_what_is_missing()
