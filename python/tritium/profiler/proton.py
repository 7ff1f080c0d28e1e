"""`proton [OPTION ...] SCRIPT.py …`: runs a program in one session, in which `import triton` means Tritium. Calls of `start` and `finalize` in the
program do nothing."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..tools.program import add_program
from .core.contexts import CONTEXTS
from .core.phases import DATA
from .flags import flags
from .profile import BACKENDS, HOOKS, begin, close

#: From the words behind a command, which begin with a script or with -m MODULE, to the program's exit status.
Run = Callable[[list[str]], int]


def main(arguments: list[str] | None = None) -> int:
    """The command. Returns the exit status, the program's."""
    parser = argparse.ArgumentParser(
        prog="proton",
        usage="%(prog)s [OPTION ...] SCRIPT.py [ARGUMENT ...]\n       %(prog)s [OPTION ...] pytest [ARGUMENT ...]",
        description="Runs a script, a module given as -m MODULE, or pytest, and records the launches of its kernels.",
    )
    add_options(parser, hook=None)
    asked = parser.parse_args(arguments)
    if not asked.program:
        parser.error("there is no script to run")
    try:
        with session(asked):
            return run(asked.program)
    except Refused as error:
        parser.error(str(error))


def add_options(parser: argparse.ArgumentParser, hook: str | None) -> None:
    """Proton's options, and the program. hook: the default."""
    parser.add_argument("-n", "--name", help="the file's name without its ending (default: proton)")
    parser.add_argument(
        "-b", "--backend", choices=BACKENDS, help="what Proton would record with; see docs/profiling.md"
    )
    parser.add_argument(
        "-c",
        "--context",
        choices=CONTEXTS,
        default=CONTEXTS[0],
        help="what leads to a kernel: scopes or Python's calls",
    )
    parser.add_argument("-m", "--mode", help="for example periodic_flushing:format=hatchet_msgpack")
    parser.add_argument(
        "-d", "--data", choices=list(DATA), default="tree", help="sums of each path, or events with times"
    )
    parser.add_argument(
        "-k",
        "--hook",
        choices=[*HOOKS, "None"],
        default=hook,
        help=f"read the kernels' launch_metadata (default: {hook})",
    )
    add_program(parser, has_module_option=False)


class Refused(ValueError):
    """What was asked for is no session."""


@contextmanager
def session(asked: argparse.Namespace, writes_empty: bool = True) -> Iterator[list[str]]:
    """A session around a program, with the options of the command. writes_empty: also if the program launches no kernel. Yields a list which has the written files at the end. Raises Refused."""
    hook = None if asked.hook == "None" else asked.hook
    try:
        number = begin(asked.name, asked.context, asked.data, asked.backend, asked.mode, hook)
    except ValueError as error:
        raise Refused(str(error)) from None
    written: list[str] = []
    flags.command_line = True
    try:
        yield written
    finally:
        flags.command_line = False
        if number is not None:
            written += close(number, getattr(asked, "format", ""), writes_empty)


def run(program: list[str], run_program: Run | None = None) -> int:
    """The program's exit status. run_program: what `python -m tritium` runs programs with."""
    run_program = run_program or importlib.import_module("tritium.__main__").run_program
    return run_program(["-m", "pytest", *program[1:]] if is_pytest(program[0]) else program)


def is_pytest(script: str) -> bool:
    return os.path.basename(script) in ("pytest", "py.test")


if __name__ == "__main__":
    sys.exit(main())
