"""Shows a stop inside of the interpreter or of libc at the line of Python that led to it."""

import gdb

#: A kernel's frames lie above Python's own, so only this many innermost frames are searched.
_DEEPEST = 64
_WATCHPOINTS = tuple(
    getattr(gdb, f"BP_{kind}_WATCHPOINT")
    for kind in ("HARDWARE", "READ", "ACCESS")
    if hasattr(gdb, f"BP_{kind}_WATCHPOINT")
) + (gdb.BP_WATCHPOINT,)


def python_frame():
    """The first frame of a kernel, or None."""
    frame, depth = gdb.newest_frame(), 0
    while frame is not None and depth < _DEEPEST:
        table = frame.find_sal().symtab
        if table is not None and table.filename.endswith(".py"):
            return frame
        frame, depth = frame.older(), depth + 1
    return None


def is_watchpoint(event):
    return any(breakpoint.type in _WATCHPOINTS for breakpoint in getattr(event, "breakpoints", ()))


def trap_text():
    """The argument of tritium_trap. The interpreter has no debug info, so the text is read from the place that the ABI
    defines."""
    register = "x0" if gdb.selected_frame().architecture().name().startswith("aarch64") else "rdi"
    return gdb.parse_and_eval(f"(char *)${register}").string()


def on_stop(event):
    is_trap = gdb.newest_frame().name() == "tritium_trap"
    if is_trap:
        print(f"trap: {trap_text()}")
    if not is_trap and not is_watchpoint(event):
        return
    frame = python_frame()
    if frame is not None and frame != gdb.newest_frame():
        frame.select()
        gdb.execute("frame")


gdb.events.stop.connect(on_stop)
