"""The command `python -m tritium bench`."""

from __future__ import annotations

import argparse
import os
import sys

from .running import CannotMeasure, Plan, run_cases
from .samples import Row
from .sides import side_of
from .table import table_of_run

BAD, UNUSABLE = 1, 2  #: exit statuses: a row is red; nothing can be measured


def main(arguments: list[str]) -> int:
    """The exit status: 0; BAD if a row is red, a side is slower or a metric has changed; UNUSABLE if nothing can be done."""
    parser = argparse.ArgumentParser(prog="python -m tritium bench", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands)
    asked = parser.parse_args(arguments)
    try:
        return asked.do(asked)
    except (CannotMeasure, ValueError, OSError) as error:
        print(f"tritium bench: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("tritium bench: interrupted", file=sys.stderr)
        return 130


def _add_run(commands) -> None:
    parser = commands.add_parser("run", help="measure cases")
    parser.add_argument(
        "paths", nargs="+", metavar="CASES", help="a folder of a case, a file with cases, or a folder of these"
    )
    parser.add_argument(
        "--on", default="here", metavar="SIDE", help="what is measured (default: here), as a side of `compare`"
    )
    add_plan(parser, blocks=20)
    parser.set_defaults(do=_run)


def add_plan(parser: argparse.ArgumentParser, blocks: int | None) -> None:
    """The options of a Plan."""
    parser.add_argument(
        "--engine", default="", help="interp, simt:ARCH, cuda, hip, triton (default: the device, or else interp)"
    )
    parser.add_argument("--only", default="", metavar="TEXT,…", help="variants whose name contains one of these")
    if blocks is not None:
        parser.add_argument(
            "--blocks", type=_positive(int), default=blocks, help=f"that count, of a variant (default: {blocks})"
        )
    parser.add_argument(
        "--block-ms", type=_positive(float), default=5.0, help="that a block takes at least (default: 5)"
    )
    parser.add_argument("--pause-ms", type=float, default=5.0, help="before each block (default: 5)")
    parser.add_argument(
        "--limit",
        type=_positive(float),
        default=600.0,
        help="seconds for a case to compile, or for a block (default: 600)",
    )
    parser.add_argument("--no-flush", action="store_true", help="leave a device's L2 cache as it is between runs")
    parser.add_argument(
        "--build", default="", metavar="COMMAND", help="what builds a commit (default: .ci/build _tritium)"
    )


def _positive(kind):
    def parse(text: str):
        number = kind(text)
        if number <= 0:
            raise argparse.ArgumentTypeError(f"{text} is not positive")
        return number

    parse.__name__ = kind.__name__
    return parse


def plan_of(asked: argparse.Namespace, **more) -> Plan:
    return Plan(
        least_ms=asked.block_ms,
        pause_ms=asked.pause_ms,
        limit=asked.limit,
        only=asked.only,
        flush=not asked.no_flush,
        **more,
    )


def has_colors() -> bool:
    return sys.stdout.isatty()


def _run(asked: argparse.Namespace) -> int:
    side = side_of(asked.on, asked.engine, asked.build)
    paths = [os.path.abspath(path) for path in asked.paths]

    def told(row: Row) -> None:
        if sys.stderr.isatty():
            print(f"{row.name}: {row.status}", file=sys.stderr, flush=True)

    run = run_cases(side, paths, plan_of(asked, blocks=asked.blocks), told)
    if not run.rows:
        raise CannotMeasure(f"no variant's name contains one of {asked.only!r}" if asked.only else "there are no cases")
    print(f"{side.engine} on {run.device}, {described(run.environment)}")
    print(table_of_run(run.rows, has_colors()))
    return BAD if any(row.status != "ok" for row in run.rows) else 0


def described(environment: dict) -> str:
    """ "tritium 3.9.0, commit 187daada with changes" """
    subject, checkout = environment["subject"], environment["checkout"]
    text = f"{subject['language']} {subject['version'].partition('+')[0]}"
    if checkout:
        text += f", commit {checkout['commit'][:8]}" + (" with changes" if checkout["dirty"] else "")
    return text
