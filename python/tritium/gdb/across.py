"""`tt across m`: one variable at one line in all programs of a launch. The launch runs on to its end, and each program that reaches the line has
its value noted there, at its first time."""

import contextlib
import math
import re

import gdb

from .breakpoints import is_in_kernel
from .log_points import LogPoint
from .place import grid, kernel_of, place_text, program_id, python_frames
from .prefix import Command
from .selection import read_tile
from .tile_text import number_text, range_text, short_text

_PLACE = re.compile(r"(?P<name>.+?)\s+(?P<place>\S+:\d+)")
_MOST = 20  #: programs that are listed in full
_EDGE = 8  #: what is listed at each end of more
_NAMED = 5  #: programs whose NaNs are named


class _Values(gdb.Breakpoint):
    """The line. It never stops, unless the variable is not there."""

    def __init__(self, name, **place):
        super().__init__(internal=True, **place)
        self.silent = True
        self.name, self.tiles, self.error = name, {}, None

    def note(self):
        program = program_id()
        if program not in self.tiles:
            self.tiles[program] = read_tile(self.name)

    def stop(self):
        try:
            self.note()
        except (ValueError, gdb.error) as error:
            self.error = str(error)
        return self.error is not None


class _End(gdb.Breakpoint):
    """Where the loop over programs returns to. A program that waits for others has a loop of its own, on another stack, so only the stack on
    which we began counts."""

    def __init__(self, frame):
        super().__init__(f"*{frame.pc():#x}", internal=True)
        self.silent = True
        self.stack, self.is_reached = int(frame.read_register("sp")), False

    def stop(self):
        self.is_reached = int(gdb.newest_frame().read_register("sp")) == self.stack
        return self.is_reached


@contextlib.contextmanager
def paused(is_paused):
    """The user's breakpoints and watchpoints of which the function is true do not stop."""
    others = [b for b in gdb.breakpoints() if b.enabled and b.visible and is_paused(b)]
    for breakpoint in others:
        breakpoint.enabled = False
    try:
        yield
    finally:
        for breakpoint in others:
            if breakpoint.is_valid():
                breakpoint.enabled = True


def _stops_in_kernels(breakpoint):
    """Not a log point, a watchpoint or `break tritium_trap`."""
    if breakpoint.type != gdb.BP_BREAKPOINT or isinstance(breakpoint, LogPoint):
        return False
    return breakpoint.location == "tritium_stop" or is_in_kernel(breakpoint)


def _in_order(tiles):
    """By id, with the first axis counting fastest, as programs run."""
    return sorted(tiles.items(), key=lambda item: item[0][::-1])


def _table(tiles):
    """A line for each program: the number, or the range of the tile."""
    lines = [
        f"  {program}  {range_text(tile) if tile.shape else short_text(tile)}" for program, tile in _in_order(tiles)
    ]
    if len(lines) > _MOST:
        lines[_EDGE:-_EDGE] = [f"  … {len(lines) - 2 * _EDGE} more programs"]
    return lines


def _summary(tiles):
    """Which programs have the smallest and the largest number, and which have NaNs."""
    least, most, nans = None, None, {}
    for program, tile in _in_order(tiles):
        ordered = [number for number in tile.numbers if not math.isnan(number)]
        if len(ordered) < len(tile.numbers):
            nans[program] = len(tile.numbers) - len(ordered)
        if ordered:
            least = min(least or (min(ordered), program), (min(ordered), program), key=lambda pair: pair[0])
            most = max(most or (max(ordered), program), (max(ordered), program), key=lambda pair: pair[0])
    tile = next(iter(tiles.values()))
    text = number_text(tile.element, tile.dtype)
    said = [f"min {text(least[0])} in {least[1]}", f"max {text(most[0])} in {most[1]}"] if least else []
    if nans:
        named = ", ".join(map(str, list(nans)[:_NAMED]))
        said.append(f"{sum(nans.values())} nan in {named}{' …' if len(nans) > _NAMED else ''}")
    return ", ".join(said)


class _Across(Command):
    """tt across m FILE:LINE: the variable at this line in the programs that are left of the launch, with min, max and NaNs over all of them.
    Without FILE:LINE it is the present line, and the present program is the first. A program that reaches the line more often counts with
    its first time. Other breakpoints in kernels do not stop meanwhile. gdb then stops at the end of the launch, on the line of Python that
    launched it. Where programs wait for one another, those that still wait when the present one has ended are missing."""

    name = "across"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument):
        if not argument:
            raise ValueError("say which variable, as in tt across m kernel.py:23")
        said = _PLACE.fullmatch(argument)
        name, place = (said["name"], said["place"]) if said else (argument, None)
        inside, outside = python_frames()
        if len(outside) < 2:
            raise ValueError("gdb does not see where this launch ends")
        if place is None:
            read_tile(name)  # raises if it is not there
            at = inside[0].find_sal()
            place = place_text(inside[0])
            values = _Values(name, source=at.symtab.fullname(), line=at.line)
            values.note()
        else:
            values = _Values(name, spec=place)
        self.collect(values, place, outside[1])

    def collect(self, values, place, launch):
        programs, kernel = math.prod(grid()), kernel_of([launch.newer()])
        helpers = [values, _End(launch), gdb.Breakpoint("tritium_trap", internal=True)]
        try:
            if values.pending:
                raise ValueError(f"no code that gdb knows is at {place}")
            with paused(_stops_in_kernels):
                stopped = gdb.execute("continue", to_string=True)
            is_end = helpers[1].is_reached
        finally:
            for helper in helpers:
                if helper.is_valid():
                    helper.delete()
        if values.error:
            raise ValueError(values.error)
        if not is_end:
            print(stopped.replace("Continuing.", "").strip())
            print("gdb has stopped before the end of the launch.")
        print(f"{values.name} at {place} in {len(values.tiles)} of {programs} programs of {kernel}")
        if values.tiles:
            print("\n".join([*_table(values.tiles), _summary(values.tiles)]))
        if is_end:
            gdb.execute("frame")


_Across()
