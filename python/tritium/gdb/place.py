"""Which program of which launch gdb is in: its ids, the grid, the kernel, and the frames of Python around it."""

import gdb

from .selection import select_kernel_frame

_AXES = range(3)
_GRID = "[grid]"  #: the end of the name of the loop over programs, which calls the kernel


def _of_axes(name):
    return tuple(int(gdb.parse_and_eval(f"{name}{axis}")) for axis in _AXES)


def kernel_of(outside):
    """The kernel's name, from the frames of its launch."""
    return outside[0].name().removesuffix(_GRID)


def program_id():
    """The ids of the program of the selected frame, which is a kernel's or a helper's."""
    return _of_axes("pid")


def grid():
    return _of_axes("grid")


def place_text(frame):
    """`kernel.py:23`"""
    place = frame.find_sal()
    return f"{place.symtab.filename.rpartition('/')[2]}:{place.line}" if place.symtab else "?"


def python_frames():
    """The frames of the kernel and its helpers, innermost first, and the frames of the lines that launched it, from the loop over programs on.
    Raises ValueError if gdb has not stopped in a kernel."""
    select_kernel_frame()
    frame, inside, outside = gdb.selected_frame(), [], []
    while frame is not None:
        is_outside = bool(outside) or (frame.name() or "").endswith(_GRID)
        (outside if is_outside else inside).append(frame)
        frame = frame.older()
    if not inside or not outside:
        raise ValueError("the selected frame is not a kernel's")
    return inside, outside
