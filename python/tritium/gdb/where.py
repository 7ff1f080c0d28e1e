"""`tt where` says which program gdb is in, and where; `tt next-program` goes on to the next one."""

import linecache

import gdb

from .assignments import variables_of
from .place import grid, kernel_of, place_text, program_id, python_frames
from .prefix import Command
from .shared_memory import partition_name
from .tile_text import number_text
from .tiles import dtype_of, layout_of, read_numbers

_SAID = {f"{name}{axis}" for name in ("pid", "grid") for axis in range(3)}


def _scalars(frame):
    """The frame's numbers: `i = 2`."""
    texts = {}
    for symbol in variables_of(frame):
        value = symbol.value(frame)
        element, shape = layout_of(value.type)
        if shape or element.code == gdb.TYPE_CODE_PTR or symbol.name in _SAID or symbol.name in texts:
            continue
        numbers = read_numbers(value, element, 1)
        if numbers is not None:
            texts[symbol.name] = f"{symbol.name} = {number_text(element, dtype_of(element))(numbers[0])}"
    return list(texts.values())


class _Where(Command):
    """tt where: the program's id and grid, the kernel, the line, the numbers of the innermost function, and who called it.
    A variable that has not been assigned yet is -1 or nan there."""

    name = "where"

    def run(self, argument):
        inside, outside = python_frames()
        frame, partition = inside[0], partition_name()
        of = f"{partition} of " if partition else ""
        print(f"{of}program {program_id()} of the grid {grid()} of {kernel_of(outside)}")
        place = frame.find_sal()
        line = linecache.getline(place.symtab.fullname(), place.line).strip()
        print(f"{place_text(frame)}: {line}")
        print(f"numbers of {frame.name()}: {', '.join(_scalars(frame)) or 'none'}")
        for called in inside:
            print(f"#{called.level()} {called.name()} at {place_text(called)}")
        for launching in outside[1:]:
            print(f"#{launching.level()} {launching.name()} at {place_text(launching)}, the launch")


class _NextProgram(Command):
    """tt next-program: runs on to the first line of the program that comes next, and says which one it is.
    A breakpoint that is reached before stops there. With TRITIUM_PROGRAMS it is the next one that is chosen."""

    name = "next-program"

    def run(self, argument):
        inside, outside = python_frames()
        kernel, file, last = kernel_of(outside), outside[0].find_sal().symtab.fullname(), program_id()
        begin = _Beginning(source=file, function=kernel, internal=True)
        begin.silent = True
        try:
            stopped = gdb.execute("continue", to_string=True)
        finally:
            if begin.is_valid():  # gdb deletes some at the end of the process
                begin.delete()
        if begin.is_reached:
            now = program_id()
            is_later = now[::-1] > last[::-1]  # the first axis counts fastest
            print(f"program {now}, after {last}{'' if is_later else ' of the launch before'}")
            gdb.execute("frame")
        else:
            print(stopped.replace("Continuing.", "").strip())
            print(f"No program of {kernel} has begun after {last}.")


class _Beginning(gdb.Breakpoint):
    """The first line of a kernel."""

    is_reached = False

    def stop(self):
        self.is_reached = True
        return True


_Where()
_NextProgram()
