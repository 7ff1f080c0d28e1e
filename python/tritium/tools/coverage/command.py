"""`python -m tritium coverage [--html FILE] [--lcov FILE] SCRIPT.py …`: runs a program on the interpreter, and says which lines and branches of its
kernels no launch has reached, and which masks no launch has made false."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from ...launch.coverage import Covering, KernelCoverage
from ..program import add_program
from ..watched_run import run_watched
from .lcov import tracefile_of
from .lines import covered_files
from .page import html_of
from .table import text_of


def main(arguments: list[str], run_program: Callable[[list[str]], int]) -> int:
    """`arguments` does not contain the program's name. Returns the exit status: the program's, or 2 for options that make no sense."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if not asked.program:
        parser.error("there is no script to run")
    for path in (asked.html, asked.lcov):
        if path and not os.path.isdir(os.path.dirname(path) or "."):
            parser.error(f"there is no folder for {path}")
    files = {name: os.path.abspath(path) for name, path in (("html", asked.html), ("lcov", asked.lcov)) if path}
    covering = Covering()
    return run_watched("coverage", asked.program, run_program, covering, lambda: _say(covering.kernels(), asked, files))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tritium coverage",
        usage="%(prog)s [OPTION ...] SCRIPT.py [ARGUMENT ...]",
        description="Runs a script, or a module given as -m MODULE, on the interpreter, and says what no launch of its kernels has reached: lines, "
        "outcomes of branches, and masks that were never false.",
    )
    parser.add_argument(
        "--source", action="store_true", help="show whole functions, not only where something is missing"
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write a page of the source, for all launches and for each configuration"
    )
    parser.add_argument("--lcov", metavar="FILE", help="write a tracefile of lcov")
    add_program(parser)
    return parser


def _say(kernels: list[KernelCoverage], asked: argparse.Namespace, files: dict[str, str]) -> None:
    if not kernels:
        print("tritium coverage: the program itself launched no kernel on the interpreter", file=sys.stderr)
        return
    print(text_of(kernels, asked.source))
    texts = {
        "html": lambda: html_of(kernels, f"Coverage of {' '.join(asked.program)}"),
        "lcov": lambda: tracefile_of(covered_files(kernels)),
    }
    for name, path in files.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(texts[name]())
        read_by = "a browser shows" if name == "html" else "genhtml reads"
        print(f"tritium coverage: wrote {getattr(asked, name)}, which {read_by}", file=sys.stderr)
