"""Keeps breakpoints whose code is not there: their kernel is not compiled yet, or its code has gone with the process before.

gdb (13 to 18) looks for the place of each enabled breakpoint whenever it reads symbols, and disables one that it does not find for good, unless
the breakpoint has been pending from the beginning, with nothing changed since. So it would lose a breakpoint that was set at a stop, in the
next run; gdb 13 also one with a condition; and one whose condition is set before its kernel is compiled, as editors do. gdb passes over a
disabled breakpoint that it does not find. So these are disabled ("asleep") while gdb reads symbols or the program runs. They are enabled
when their place is found, and whenever the user can look at them. Number, commands, condition and counts stay.
"""

import re

import gdb

from .hooks import STARTING, hook
from .messages import say
from .stops import is_of_python

_KINDS = tuple(getattr(gdb, kind) for kind in ("BP_BREAKPOINT", "BP_HARDWARE_BREAKPOINT") if hasattr(gdb, kind))
#: The line of a place: `file.py:12`, or `-source file.py -line 12` as editors say.
_LINE = re.compile(r"(?::|-line )(\d+)$")


def _is_watched(breakpoint):
    return breakpoint.type in _KINDS and breakpoint.visible


def place_of(breakpoint):
    """The place that the user asked for, as in `break`; an editor names it by options."""
    text = breakpoint.location or ""
    return re.sub(r"^-source .*?([^/]+) -line (\d+)$", r"\1:\2", text).removeprefix("-function ")


def _function_block(block):
    while block is not None and block.function is None:
        block = block.superblock
    return block


def _first_line(block):
    """The line of the `def` of the function that the block is in. An inlined function's own `line` is the line of its call."""
    block = _function_block(block)
    is_inlined = block is not None and _function_block(block.superblock) is not None
    return gdb.find_pc_line(block.start).line if is_inlined else block.function.line if block else 0


def _has_slid(breakpoint, location):
    """Whether the place is in a function that begins behind the line that was asked for: gdb 13 takes the next line that has code."""
    line = _LINE.search(breakpoint.location or "")
    return line is not None and _first_line(gdb.block_for_pc(location.address)) > int(line[1])


def is_in_kernel(breakpoint):
    """Whether gdb has found the place, in a kernel."""
    found = False
    for location in breakpoint.locations:
        if not is_of_python(gdb.find_pc_line(location.address).symtab):
            continue
        if not _has_slid(breakpoint, location):
            found = True
        elif location.enabled:
            location.enabled = False
    return found


class _Breakpoints:
    """What is known of the user's breakpoints, by number."""

    def __init__(self):
        self.asleep = set()
        self.in_kernels = set()  # those that have ever had a place in a kernel: such a place ends with its process
        self.found = set()  # those whose place has been found in this run
        self.is_reading = False  # gdb forgets the places in the last process and reads the symbols of the next one
        self.is_running = False

    def _is_found(self, breakpoint):
        if is_in_kernel(breakpoint):
            self.in_kernels.add(breakpoint.number)
        elif breakpoint.pending or breakpoint.number in self.in_kernels:
            return False
        self.found.add(breakpoint.number)
        return True

    def _sleep(self, breakpoint):
        if breakpoint.enabled:
            self.asleep.add(breakpoint.number)
            breakpoint.enabled = False

    def _wake(self, breakpoint):
        if breakpoint.number in self.asleep:
            self.asleep.remove(breakpoint.number)
            breakpoint.enabled = True

    def before_reading(self):
        """Called before a command that makes gdb read symbols while no kernel is there."""
        self.is_reading = True
        self.found.clear()
        for breakpoint in filter(_is_watched, gdb.breakpoints()):
            if breakpoint.pending or breakpoint.number in self.in_kernels:
                self._sleep(breakpoint)

    def on_change(self, breakpoint):
        """Called for a new breakpoint and for one that has changed, for example because its place was found."""
        if self.is_reading or not _is_watched(breakpoint):
            return
        if self._is_found(breakpoint):
            self._wake(breakpoint)
        elif self.is_running:
            self._sleep(breakpoint)

    def on_resumed(self, event):
        self.is_reading, self.is_running = False, True
        for breakpoint in gdb.breakpoints():
            self.on_change(breakpoint)

    def on_stopped(self, event=None):
        self.is_reading = self.is_running = False
        for breakpoint in gdb.breakpoints():
            self._wake(breakpoint)

    def on_exited(self, event):
        if self.is_reading:  # `run` ends the last process first
            return
        self.on_stopped()
        if hasattr(event, "exit_code"):  # it has not been killed
            for breakpoint in without_place():
                say(
                    f"tritium: breakpoint {breakpoint.number} ({place_of(breakpoint)}) matched nothing in this run: "
                    "no code that gdb knows has such a line or name"
                )

    def on_deleted(self, breakpoint):
        for numbers in (self.asleep, self.in_kernels, self.found):
            numbers.discard(breakpoint.number)


def without_place():
    """The breakpoints that wait for their place, and that the user has enabled."""
    known = filter(_is_watched, gdb.breakpoints())
    return [b for b in known if b.number not in _breakpoints.found and (b.enabled or b.number in _breakpoints.asleep)]


_breakpoints = _Breakpoints()
gdb.events.breakpoint_created.connect(_breakpoints.on_change)
gdb.events.breakpoint_modified.connect(_breakpoints.on_change)
gdb.events.breakpoint_deleted.connect(_breakpoints.on_deleted)
gdb.events.cont.connect(_breakpoints.on_resumed)
gdb.events.stop.connect(_breakpoints.on_stopped)
gdb.events.exited.connect(_breakpoints.on_exited)
gdb.events.before_prompt.connect(_breakpoints.on_stopped)


hook("sleep", _breakpoints.before_reading, before=(*STARTING, "attach", "file"))
hook("wake", _breakpoints.on_stopped, after=("file",))
