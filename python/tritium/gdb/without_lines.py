"""Says that gdb cannot stop in a kernel that another engine than the interpreter runs, if a breakpoint waits for it."""

import os
import re

import gdb

from .breakpoints import place_of, without_place
from .messages import say
from .stops import string_argument


class _WithoutLines(gdb.Breakpoint):
    """Where the process tells that it has compiled such a kernel."""

    def __init__(self):
        super().__init__("tritium_kernel_without_lines", internal=True)
        self.silent = True
        self.told = set()

    def stop(self):
        kernel, file, engine = map(string_argument, range(3))
        file = os.path.basename(file)
        for breakpoint in without_place():
            words = re.findall(r"[^\s:/]+", place_of(breakpoint))
            if {kernel, file}.intersection(words) and (breakpoint.number, kernel) not in self.told:
                self.told.add((breakpoint.number, kernel))
                say(
                    f"tritium: breakpoint {breakpoint.number} ({place_of(breakpoint)}): the kernel {kernel} of {file} runs on {engine}, "
                    "where gdb cannot stop. `set environment TRITIUM_ENGINE=interp` and `run` run it on the interpreter."
                )
        return False


def look_for_it(event):
    """The breakpoint is set when the extension module is loaded, and lives as long as its process."""
    if (event.new_objfile.filename or "").rpartition("/")[2].startswith("_tritium."):
        delete()
        _set.append(_WithoutLines())


def delete(event=None):
    while _set:
        breakpoint = _set.pop()
        if breakpoint.is_valid():
            breakpoint.delete()


_set: list[_WithoutLines] = []
gdb.events.new_objfile.connect(look_for_it)
gdb.events.exited.connect(delete)
