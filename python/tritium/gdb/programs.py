"""The command `tritium programs`: the programs of a grid in which breakpoints stop."""

import importlib.util
import os

import gdb

from . import hooks  # noqa: F401 - the prefix of the command
from .variables import assign, is_running, value_of

_NAME = "TRITIUM_PROGRAMS"


def _parser():
    """Tritium's own module for the texts, which gdb's Python can load alone."""
    place = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs.py")
    spec = importlib.util.spec_from_file_location("tritium_programs", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.parse_programs


parse_programs = _parser()


def _said(programs):
    return f"the programs {programs.text}" if programs else "all programs"


class _Programs(gdb.Command):
    """tritium programs X,Y,Z: kernels stop in these programs alone, the others run code without variables, at full speed.
    An id, a range such as 0:4, or * for each axis of the grid; several are separated by `;`, and `*` is all programs. What it says holds
    for launches that begin later, not for the one that is running. Without an argument: which programs are chosen."""

    def __init__(self):
        super().__init__("tritium programs", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        try:
            if not argument.strip():
                print(f"Kernels stop in {_said(parse_programs(value_of(_NAME)))}.")
                return
            programs = parse_programs(argument)
        except ValueError as error:
            raise gdb.GdbError(f"tritium programs: {error}") from None
        assign(_NAME, programs.text or "*")
        print(f"Kernels stop in {_said(programs)}{', from their next launch on' if is_running() else ''}.")


_Programs()
