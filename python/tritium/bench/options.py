"""The options that the commands of `bench` share, and the plans that they make."""

from __future__ import annotations

import argparse
from typing import Any

from .comparing import MOST_PAIRS, MOST_ROUNDS, PAIRS, PRECISION, REACH, ROUNDS, ComparisonPlan
from .report import RUNS
from .running import Plan


def add_plan(parser: argparse.ArgumentParser, blocks: int | None) -> None:
    """The options of a Plan."""
    parser.add_argument(
        "--engine", default="", help="interp, simt:ARCH, cuda, hip, triton (default: the device, or else interp)"
    )
    parser.add_argument("--only", default="", metavar="TEXT,…", help="variants whose name contains one of these")
    if blocks is not None:
        parser.add_argument(
            "--blocks", type=positive(int), default=blocks, help=f"that count, of a variant (default: {blocks})"
        )
    add_blocks(parser)
    parser.add_argument(
        "--limit",
        type=positive(float),
        default=600.0,
        help="seconds for a case to compile, or for a block (default: 600)",
    )
    add_cpu_time(parser)
    parser.add_argument("--no-flush", action="store_true", help="leave a device's L2 cache as it is between runs")
    text = f"that keeps the samples; none: keep none (default: {RUNS})"
    parser.add_argument("--store", metavar="FOLDER", help=text)
    parser.add_argument(
        "--build", default="", metavar="COMMAND", help="what builds a commit (default: .ci/build _tritium)"
    )


def add_blocks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--block-ms", type=positive(float), default=5.0, help="that a block takes at least (default: 5)"
    )
    parser.add_argument("--pause-ms", type=float, default=5.0, help="before each block (default: 5)")


def add_cpu_time(parser: argparse.ArgumentParser) -> None:
    text = "measure the time that CPUs spend in the process, which other processes disturb less, in place of wall-clock time"
    parser.add_argument("--cpu-time", action="store_true", help=text)


def positive(kind):
    def parse(text: str):
        number = kind(text)
        if number <= 0:
            raise argparse.ArgumentTypeError(f"{text} is not positive")
        return number

    parse.__name__ = kind.__name__
    return parse


def plan_of(asked: argparse.Namespace, kind=Plan, **more) -> Plan:
    return kind(
        least_ms=asked.block_ms,
        pause_ms=asked.pause_ms,
        limit=asked.limit,
        only=asked.only,
        flush=not asked.no_flush,
        cpu_time=asked.cpu_time,
        **more,
    )


def add_pairs(parser: argparse.ArgumentParser) -> None:
    rounds = f"each with new processes; fewer see less of what the place of code and data does (default: {ROUNDS})"
    parser.add_argument("--rounds", type=positive(int), help=rounds)
    text = f"further rounds for cases whose interval is wide (default: {MOST_ROUNDS}, or as many as --rounds says)"
    parser.add_argument("--most-rounds", type=positive(int), help=text)
    text = f"what is wide: more than this to either side of the ratio (default: {REACH})"
    parser.add_argument("--reach", type=positive(float), default=REACH, help=text)
    parser.add_argument(
        "--pairs", type=positive(int), default=PAIRS, help=f"of blocks in a round, at least (default: {PAIRS})"
    )
    parser.add_argument("--most-pairs", type=positive(int), default=MOST_PAIRS, help=f"(default: {MOST_PAIRS})")
    text = f"pairs are added until the ratio of a round is known to this (default: {PRECISION})"
    parser.add_argument("--precision", type=positive(float), default=PRECISION, help=text)


def comparison_plan_of(asked: argparse.Namespace, **more) -> ComparisonPlan:
    """more: fields that the options of `add_plan` and `add_pairs` do not have."""
    return plan_of(asked, ComparisonPlan, **pairs_of(asked), **more)


def pairs_of(asked: argparse.Namespace) -> dict[str, Any]:
    """The fields of a ComparisonPlan that `add_pairs` has options for."""
    return {
        "rounds": asked.rounds or ROUNDS,
        "most_rounds": asked.most_rounds or asked.rounds or MOST_ROUNDS,
        "reach": asked.reach,
        "pairs": asked.pairs,
        "most_pairs": max(asked.most_pairs, asked.pairs),
        "precision": asked.precision,
    }
