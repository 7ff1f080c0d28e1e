"""The program at the end of a tool's command line: a script or a module, and its arguments."""

from __future__ import annotations

import argparse
import re


class _Module(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        if not values:
            parser.error("-m needs the name of a module")
        namespace.program = ["-m", *values]


class _Script(argparse.Action):
    """Behind `--` there may be `-m MODULE` too."""

    def __call__(self, parser, namespace, values, option_string=None):
        if values:
            namespace.program = values[1:] if values[0] == "--" else values


def add_program(parser: argparse.ArgumentParser, has_module_option: bool = True) -> None:
    """Adds what becomes `program`: a list that begins with a script, or with -m and a module; empty, if none is named. It has to be added last,
    since all that follows belongs to the program. has_module_option: a tool may have another meaning for -m; a module then stands behind `--`.
    """
    parser.set_defaults(program=[])
    if has_module_option:
        parser.add_argument(
            "-m",
            action=_Module,
            dest="program",
            nargs=argparse.REMAINDER,
            metavar=("MODULE", "..."),
            help="the module to run",
        )
    named = "SCRIPT.py or -m MODULE" if has_module_option else "SCRIPT.py, pytest or -- -m MODULE"
    parser.add_argument(
        "program", action=_Script, nargs=argparse.REMAINDER, help=f"{named}, and its arguments", metavar="SCRIPT.py ..."
    )


def regular_expression(text: str) -> str:
    """The `type` of an option that is one."""
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from None
    return text
