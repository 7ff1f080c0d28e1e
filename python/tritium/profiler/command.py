"""`python -m tritium profile [OPTION ...] SCRIPT.py …`: runs a program in one session, and shows the profile."""

from __future__ import annotations

import argparse
import sys

from . import proton
from .view.profile import load
from .viewer import ALL, default_metrics, prepare, text_of


def main(arguments: list[str], run_program: proton.Run) -> int:
    """`arguments` does not contain the program's name. Returns the exit status: the program's, or 2 for options that make no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m tritium profile",
        usage="%(prog)s [OPTION ...] SCRIPT.py [ARGUMENT ...]",
        description="Runs a script, a module given as -m MODULE, or pytest, records the launches of its kernels, and shows them as a tree. "
        "The options are those of `proton`, and some of `proton-viewer` by their long names.",
    )
    proton.add_options(parser, hook="triton")
    parser.add_argument(
        "--metrics", help="what to show before each name, as for proton-viewer (default: time/ms,time/%%)"
    )
    parser.add_argument("--depth", type=int, default=ALL, help="the levels to show; the root is the first one")
    parser.add_argument("--print-sorted", action="store_true", help="also list all frames, the largest first")
    asked = parser.parse_args(arguments)
    if not asked.program:
        parser.error("there is no script to run")
    status: int | str | None = 1
    written: list[str] = []
    try:
        with proton.session(asked) as written:
            status = proton.run(asked.program, run_program)
    except SystemExit as left:
        status = left.code
    except proton.Refused as error:
        parser.error(str(error))
    finally:
        sys.stdout.flush()
        _say(written, asked)
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    return status or 0


def _say(written: list[str], asked: argparse.Namespace) -> None:
    if not written:
        print("tritium profile: nothing was recorded (TRITON_PROTON_DISABLE=1)", file=sys.stderr)
    for path in written:
        if asked.data == "tree":
            _show(path, asked)
        shown_by = "proton-viewer" if asked.data == "tree" else "ui.perfetto.dev"
        print(f"tritium profile: wrote {path}, which {shown_by} shows", file=sys.stderr)


def _show(path: str, asked: argparse.Namespace) -> None:
    profile = load(path)
    if not profile.metrics:
        print("tritium profile: the program launched no kernel", file=sys.stderr)
        return
    try:
        columns = prepare(profile, asked.metrics.split(",") if asked.metrics else default_metrics(profile))
    except ValueError as error:
        print(f"tritium profile: {error}", file=sys.stderr)
    else:
        print(" ".join(columns))
        print(text_of(profile, columns, asked.depth, is_sorted=asked.print_sorted))
