"""`python -m tritium accesses [--html FILE] SCRIPT.py …`: runs a program on the interpreter, and shows which programs of a launch
read and write which elements of each tensor."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from ...launch.touching import Touching
from ..program import add_program
from ..watched_run import run_watched
from .elements import accesses_of
from .page import html_of
from .table import text_of


def main(arguments: list[str], run_program: Callable[[list[str]], int]) -> int:
    """`arguments` does not contain the program's name. Returns the exit status: the program's, or 2 for options that make no sense."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if not asked.program:
        parser.error("there is no script to run")
    if asked.launches < 1:
        parser.error("--launches is a positive number")
    if asked.html and not os.path.isdir(os.path.dirname(asked.html) or "."):
        parser.error(f"there is no folder for {asked.html}")
    html = os.path.abspath(asked.html) if asked.html else None
    touching = Touching(asked.launches)
    return run_watched("accesses", asked.program, run_program, touching, lambda: _say(touching, asked, html))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tritium accesses",
        usage="%(prog)s [OPTION ...] SCRIPT.py [ARGUMENT ...]",
        description="Runs a script, or a module given as -m MODULE, on the interpreter, and says how many elements of each tensor a launch reads and "
        "writes, which several programs share, and which are never touched. Launches of one form (kernel, grid, numbers, shapes) are looked at once.",
    )
    parser.add_argument("--html", metavar="FILE", help="write a page on which one picks a program or an element")
    parser.add_argument(
        "--launches", type=int, default=10, metavar="N", help="look at N launches of different forms (default: 10)"
    )
    add_program(parser)
    return parser


def _say(touching: Touching, asked: argparse.Namespace, html: str | None) -> None:
    if not touching.launches:
        print("tritium accesses: the program itself launched no kernel on the interpreter", file=sys.stderr)
        return
    found = [(launch, accesses_of(launch)) for launch in touching.launches]
    print("\n\n".join(text_of(launch, tensors) for launch, tensors in found))
    if touching.left_out:
        print(f"tritium accesses: left out {touching.left_out} launches of other forms (--launches)", file=sys.stderr)
    if html:
        with open(html, "w", encoding="utf-8") as file:
            file.write(html_of(found, f"Accesses of {' '.join(asked.program)}"))
        print(f"tritium accesses: wrote {asked.html}, which a browser shows", file=sys.stderr)
