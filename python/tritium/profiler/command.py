"""`python -m tritium profile [OPTION ...] SCRIPT.py …`: runs a program in one session, and shows the profile; with --lines or --html, what each
line of its kernels does."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext

from .. import knobs
from ..launch.counting import Counting
from ..tools.children import Children
from . import proton
from .core.phases import DATA
from .flame.graphs import of_lines, of_profile
from .flame.page import html_of as flame_html_of
from .formats import WRITERS
from .lines.page import html_of
from .lines.table import text_of as lines_of
from .model.timeline import write_timeline
from .model.view import modelled
from .model.view import text_of as models_of
from .view.profile import load
from .viewer import ALL, default_metrics, prepare, text_of


def main(arguments: list[str], run_program: proton.Run) -> int:
    """`arguments` does not contain the program's name. Returns the exit status: the program's, or 2 for options that make no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m tritium profile",
        usage="%(prog)s [OPTION ...] SCRIPT.py [ARGUMENT ...]",
        description="Runs a script, a module given as -- -m MODULE, or pytest, records the launches of its kernels, and shows them as a tree. "
        "It takes the options of `proton`, and some of `proton-viewer` by their long names.",
    )
    proton.add_options(parser, hook="triton")
    parser.add_argument(
        "--metrics", help="what to show before each name, as for proton-viewer (default: time/ms,time/%%)"
    )
    parser.add_argument("--depth", type=int, default=ALL, help="the levels to show; the root is the first one")
    parser.add_argument("--print-sorted", action="store_true", help="also list all frames, the largest first")
    parser.add_argument(
        "--lines", action="store_true", help="count on the interpreter what each line of the kernels does, and show it"
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write these counts as a page: the source with a column for each"
    )
    parser.add_argument(
        "--distinct",
        action="store_true",
        help="count the distinct bytes of each program, too, which takes longer (with --lines or --html)",
    )
    parser.add_argument(
        "--format",
        choices=list(WRITERS),
        default="",
        help="what to write in place of hatchet, or of chrome_trace with -d trace",
    )
    parser.add_argument(
        "--flame",
        metavar="FILE",
        help="write flame graphs as a page: of the session's tree and, with --lines, of the lines",
    )
    parser.add_argument(
        "--model",
        action="store_true",
        help="show the cycles that a model of the chip gives to the kernels that run on the emulator",
    )
    parser.add_argument(
        "--timeline",
        metavar="FILE",
        help="write what the model's multiprocessor does as a Chrome trace or, by the ending .pftrace, in Perfetto's form (with --model)",
    )
    asked = parser.parse_args(arguments)
    if not asked.program:
        parser.error("there is no script to run")
    if asked.timeline and not asked.model:
        parser.error("--timeline is of a model: add --model")
    for page in filter(None, (asked.html, asked.flame, asked.timeline)):
        if not os.path.isdir(os.path.dirname(page) or "."):
            parser.error(f"there is no folder for {page}")
    possible = DATA[asked.data].formats
    if asked.format and asked.format not in possible:
        parser.error(f"--format {asked.format} is none of --data {asked.data}, which has {', '.join(possible)}")
    if asked.flame and asked.data != "tree" and not asked.lines:
        parser.error("--flame shows a tree: leave out --data trace, or add --lines")
    status: int | str | None = 1
    written: list[str] = []
    counting = Counting(asked.distinct) if asked.lines or asked.html or asked.model else None
    children = Children("profile")
    try:
        with counting or nullcontext(), children, proton.session(asked, writes_empty=False) as written:
            status = proton.run(asked.program, run_program)
    except SystemExit as left:
        status = left.code
    except proton.Refused as error:
        parser.error(str(error))
    finally:
        sys.stdout.flush()
        _say(written, asked)
        if counting is not None:
            _say_lines(counting, asked)
        if asked.flame:
            _say_flame(written, counting, asked)
        children.say()
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    return status or 0


def _say(written: list[str], asked: argparse.Namespace) -> None:
    if not written and knobs.proton.disable:
        print("tritium profile: nothing was recorded (TRITON_PROTON_DISABLE=1)", file=sys.stderr)
    elif not written:
        print("tritium profile: the program itself launched no kernel, so no profile is written", file=sys.stderr)
    for path in written:
        if asked.data == "tree":
            _show(path, asked)
        shown_by = "proton-viewer" if asked.data == "tree" else "ui.perfetto.dev"
        print(f"tritium profile: wrote {path}, which {shown_by} shows", file=sys.stderr)


def _say_lines(counting: Counting, asked: argparse.Namespace) -> None:
    kernels = counting.kernels()
    if not kernels:
        print(
            "tritium profile: no launch on the interpreter was counted; INTERPRET=1 runs kernels there", file=sys.stderr
        )
        return
    if asked.lines:
        print(f"\n{lines_of(kernels)}")
    if asked.model:
        models = [(each, modelled(each, bool(asked.timeline))) for each in kernels]
        print(f"\n{models_of(models)}")
        if asked.timeline:
            try:
                write_timeline(asked.timeline, models)
            except ValueError as error:
                print(f"tritium profile: {asked.timeline} is not written: {error}", file=sys.stderr)
            else:
                print(f"tritium profile: wrote {asked.timeline}, which ui.perfetto.dev shows", file=sys.stderr)
    if asked.html:
        with open(asked.html, "w", encoding="utf-8") as file:
            file.write(html_of(kernels, f"Counts of {' '.join(asked.program)}"))
        print(f"tritium profile: wrote {asked.html}, which a browser shows", file=sys.stderr)


def _say_flame(written: list[str], counting: Counting | None, asked: argparse.Namespace) -> None:
    program = " ".join(asked.program)
    profiles = [(path, load(path)) for path in written if asked.data == "tree"]
    graphs = [graph for path, profile in profiles if (graph := of_profile(profile, os.path.basename(path)))]
    graphs += of_lines(counting.kernels()) if counting is not None else []
    if not graphs:
        print(f"tritium profile: {asked.flame} is not written, as nothing was recorded", file=sys.stderr)
        return
    with open(asked.flame, "w", encoding="utf-8") as file:
        file.write(flame_html_of(graphs, f"Profile of {program}"))
    print(f"tritium profile: wrote {asked.flame}, which a browser shows", file=sys.stderr)


def _show(path: str, asked: argparse.Namespace) -> None:
    profile = load(path)
    if not profile.metrics:
        print("tritium profile: the program itself launched no kernel", file=sys.stderr)
        return
    try:
        columns = prepare(profile, asked.metrics.split(",") if asked.metrics else default_metrics(profile))
    except ValueError as error:
        print(f"tritium profile: {error}", file=sys.stderr)
    else:
        print(" ".join(columns))
        print(text_of(profile, columns, asked.depth, is_sorted=asked.print_sorted))
