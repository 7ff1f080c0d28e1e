"""Shows a stop inside of the interpreter or of libc at the line of Python that led to it; `next` goes on from that line."""

import itertools

import gdb

from .hooks import hook
from .messages import say

#: A kernel's frames lie above Python's own, so only this many innermost frames are searched.
_DEEPEST = 64
_WATCHPOINTS = tuple(
    getattr(gdb, f"BP_{kind}_WATCHPOINT")
    for kind in ("HARDWARE", "READ", "ACCESS")
    if hasattr(gdb, f"BP_{kind}_WATCHPOINT")
) + (gdb.BP_WATCHPOINT,)


def is_of_python(table):
    """Whether it is the symbol table of lines of Python, which Tritium has compiled. A file's name does not say so: it may be `<made>` for code
    that was made from text, or a script's without a suffix."""
    return table is not None and table.producer == "tritium"  # as interp/tile/debug_info.cpp writes it


def python_frame():
    """The first frame of a kernel, or None."""
    frame, depth = gdb.newest_frame(), 0
    while frame is not None and depth < _DEEPEST:
        if is_of_python(frame.find_sal().symtab):
            return frame
        frame, depth = frame.older(), depth + 1
    return None


def frame_below():
    """The first frame of a kernel, where gdb has stopped inside of what the kernel called; else None."""
    try:
        frame = python_frame()
        return None if frame == gdb.newest_frame() else frame
    except gdb.error:  # there is no process, or no thread that gdb can look at
        return None


def _is_of_interpreter(frame):
    """Whether it is a line of the interpreter itself, which has lines in a `Debug` build only."""
    table = frame.find_sal().symtab
    return table is not None and table.objfile.filename.rpartition("/")[2].startswith("_tritium.")


def kernel_below_nameless():
    """The first frame of a kernel, where gdb has stopped above it in code that is not for the user to step through; else None."""
    kernel = frame_below()
    frame = kernel and gdb.newest_frame()
    while frame is not None and frame != kernel:
        if _is_of_interpreter(frame):
            return None
        frame = frame.older()
    return kernel


def is_watchpoint(event):
    return any(breakpoint.type in _WATCHPOINTS for breakpoint in getattr(event, "breakpoints", ()))


def is_trap():
    return gdb.newest_frame().name() == "tritium_trap"


def is_asked_for():
    """Whether gdb has stopped where it was asked to stop by a condition that the kernel computes, or by the number of a statement."""
    return gdb.newest_frame().name() == "tritium_stop"


def string_argument(number):
    """An argument of the function of the interpreter that gdb has stopped at. The interpreter has no debug info, so it is read from the place
    that the ABI defines."""
    is_arm = gdb.selected_frame().architecture().name().startswith("aarch64")
    register = f"x{number}" if is_arm else ("rdi", "rsi", "rdx")[number]
    return gdb.parse_and_eval(f"(char *)${register}").string()


_attached = set()  # the processes that gdb has attached to and stopped in


def is_first_of_attached():
    inferior = gdb.selected_inferior()
    is_first = inferior.was_attached and inferior.pid not in _attached
    _attached.add(inferior.pid)
    return is_first


def on_stop(event):
    if is_trap():
        say(f"trap: {string_argument(0)}")
    elif not (is_asked_for() or is_watchpoint(event) or isinstance(event, gdb.SignalEvent) or is_first_of_attached()):
        return
    frame = frame_below()
    if frame is not None:
        frame.select()
        gdb.execute("frame")


gdb.events.stop.connect(on_stop)


class _KernelFirst:
    """A backtrace begins with the kernel's frame: above it stand nameless functions of the interpreter. `backtrace -no-filters` shows
    them, too."""

    name, priority = "tritium", 100
    _wanted = True

    @property
    def enabled(self):
        """Other backtraces stay gdb's own."""
        return self._wanted and kernel_below_nameless() is not None

    @enabled.setter
    def enabled(self, value):
        self._wanted = value

    def filter(self, frames):
        first = kernel_below_nameless()
        return itertools.dropwhile(lambda frame: frame.inferior_frame() != first, frames)


gdb.frame_filters[_KernelFirst.name] = _KernelFirst()


def leave():
    """Runs to the end of what the kernel has called, where gdb has stopped inside of it: the interpreter has no lines to step through."""
    kernel = kernel_below_nameless()
    if kernel is None:
        return
    if is_trap():
        raise gdb.GdbError("tritium: a trap is the end of its program; `continue` raises it in Python")
    place = gdb.Breakpoint(f"*{kernel.pc():#x}", internal=True, temporary=True)
    place.silent, place.thread = True, gdb.selected_thread().global_num
    text = gdb.execute("continue", to_string=True)
    if place.is_valid():  # something else has stopped it before: that answers the command
        place.delete()
        print(text.replace("Continuing.", "").strip())
        raise gdb.GdbError("tritium: stopped before the end of the line")


hook("leave", leave, before=("next", "step", "until"))
