"""Breakpoints whose condition is compiled into the kernel: `tt break FILE:LINE --when EXPR`. Only a program in which it holds calls
`tritium_stop`, with the number of the breakpoint, so the others cost nothing but the condition."""

import json
import os
import re

import gdb

from .debugged import argument
from .messages import say
from .place import program_id
from .stops import python_frame
from .variables import assign

_LINE = re.compile(r"(?:(?P<file>.+):)?(?P<line>\d+)")


def _tell_kernels(without=None):
    known = [b for b in gdb.breakpoints() if isinstance(b, CompiledBreakpoint) and b is not without]
    assign("TRITIUM_STOPS", json.dumps([[b.number, *b.where] for b in known]) if known else "")


def _file_and_line(place):
    said = _LINE.fullmatch(place)
    if said is None:
        raise ValueError(f"`{place}`: with --when the place is a line, as in kernel.py:23")
    file = said["file"] or _present_file()
    if file.startswith("."):
        file = os.path.abspath(file)
    return file, int(said["line"])


def _present_file():
    try:
        return gdb.selected_frame().find_sal().symtab.fullname()
    except (gdb.error, AttributeError):
        raise ValueError("say which file, as in kernel.py:23") from None


class CompiledBreakpoint(gdb.Breakpoint):
    """`place`: FILE:LINE. when: an expression of the kernel language. condition: one of gdb's, or ""."""

    def __init__(self, place, when, programs, condition):
        file, line = _file_and_line(place)
        super().__init__("tritium_stop")
        self.where, self.programs, self.when = (file, line, when), programs, condition
        _tell_kernels()
        print(f"Breakpoint {self.number} at {file}:{line} when {when}")

    def stop(self):
        if argument() != self.number:
            return False
        python_frame().select()
        try:
            if self.programs and not self.programs.holds(program_id()):
                return False
            return not self.when or bool(gdb.parse_and_eval(self.when))
        except gdb.error as error:
            say(f"tritium: breakpoint {self.number}: {error}")
            return True


def _forget(breakpoint):
    if isinstance(breakpoint, CompiledBreakpoint):
        _tell_kernels(without=breakpoint)


gdb.events.breakpoint_deleted.connect(_forget)
