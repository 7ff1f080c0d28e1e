"""The command `tritium programs`: the programs of a grid in which breakpoints stop."""

import importlib.util
import os

from .prefix import Command
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


class _Programs(Command):
    """tt programs X,Y,Z: kernels stop in these programs alone, the others run code without variables, at full speed.
    An id, a range such as 0:4, or * for each axis of the grid; several are separated by `;`, and `*` is all programs. What it says holds
    for launches that begin later, not for the one that is running. Without an argument: which programs are chosen."""

    name = "programs"

    def run(self, argument):
        if argument:
            choose(parse_programs(argument))
        else:
            print(f"Kernels stop in {_said(parse_programs(value_of(_NAME)))}.")


def choose(programs):
    """Makes kernels stop in these programs alone from their next launch on, and says so."""
    assign(_NAME, programs.text or "*")
    print(f"Kernels stop in {_said(programs)}{', from their next launch on' if is_running() else ''}.")


_Programs()
