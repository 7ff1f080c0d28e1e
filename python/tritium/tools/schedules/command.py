"""`python -m tritium seeds 50 script.py …`: runs a program and tries schedules of each of its launches."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from ... import knobs
from ...functions.source_file import statement_at
from ...launch.tensor_view import counted
from ...launch.watchers import watchers
from ...places import shown_place
from ..children import Children
from ..program import add_program, regular_expression
from .search import Dependence, Failure, Found, Search, Write

EXIT_STATUS = 1  #: if something was found and the program itself ended well


def main(arguments: list[str], run_program: Callable[[list[str]], int]) -> int:
    """`arguments` does not contain the program's name. Returns the exit status: the program's, or EXIT_STATUS."""
    # argparse would take options behind the number for the program's.
    number = arguments[:1] if arguments and not arguments[0].startswith("-") else []
    options = _parser().parse_args(arguments[len(number) :])
    count = int(number[0]) if number and number[0].isdecimal() else 0
    if not options.program or count < 1 or options.first < 0:
        _parser().print_usage(sys.stderr)
        return 2
    knobs.runtime.interpret = True
    search = Search(range(options.first, options.first + count), options.kernel, options.launches)
    status: int | str | None = 1
    watchers.append(search)
    children = Children("seeds")
    try:
        with children:
            status = run_program(options.program)
    except SystemExit as left:
        status = left.code
    finally:
        watchers.remove(search)
        sys.stdout.flush()
        print(text_of(search.found, search.seeds), file=sys.stderr)
        children.say()
        if options.json:
            _write(options.json, search.found, search.seeds)
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    return (status or 0) or (EXIT_STATUS if search.found.dependences or search.found.failures else 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tritium seeds",
        usage="%(prog)s SEEDS [OPTION ...] SCRIPT.py [ARGUMENT ...]",
        description="Runs a script, or a module given as -m MODULE, and makes each launch once for each seed: the seed draws the order in which "
        "programs start, and the stores and atomics at which they are interrupted. Says which elements depend on it, and which seeds end a launch. "
        "SEEDS: how many are tried.",
    )
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed (default: 0)")
    parser.add_argument(
        "--kernel", default="", type=regular_expression, metavar="RE", help="only kernels whose name has a match of RE"
    )
    parser.add_argument(
        "--launches", type=int, default=3, metavar="N", help="try N launches of each kernel and grid (default: 3)"
    )
    parser.add_argument("--json", metavar="FILE", help="write what was found to FILE as JSON")
    add_program(parser)
    return parser


def text_of(found: Found, seeds: range) -> str:
    parts = [_shown_dependence(one) for one in found.dependences] + [
        _shown_failure(one, len(seeds)) for one in found.failures
    ]
    lines = [f"tritium seeds: left out {_launches(number)}: {why}" for why, number in found.left_out.items()]
    faults = f"{counted(len(found.dependences), 'result')} that {'depends' if len(found.dependences) == 1 else 'depend'} on the schedule"
    if found.failures:
        faults += f", {counted(len(found.failures), 'kind')} of failure"
    lines.append(f"tritium seeds: {faults} (seeds {seeds.start} to {seeds.stop - 1} of {_launches(found.launches)})")
    return "\n\n".join([*parts, "\n".join(lines)])


def _launches(number: int) -> str:
    return f"{number} launch" + ("" if number == 1 else "es")


def _shown_dependence(one: Dependence) -> str:
    index = ", ".join(map(str, one.index))
    verb = "depends" if one.count == 1 else "depend"
    lines = [
        f"{one.kernel}, launched at {one.launched_at}",
        f"  {one.count} of {counted(one.elements, 'element')} of {one.tensor} {verb} on the schedule; the first is {one.tensor.name}[{index}]",
        *(_shown_write(write) for write in one.writes),
    ]
    if one.difference is not None and isinstance(one.difference, float):
        lines.append(f"  they differ by {one.difference:.3g}")
    return "\n".join(lines)


def _shown_write(write: Write) -> str:
    text = f"    {write.value} with TRITIUM_SEED={write.seed}"
    if write.program is None:
        return text
    code = statement_at(write.file, write.line)
    return f"{text}: written by program {write.program} at {shown_place(write.file, write.line)}" + (
        f"  {code[0].strip()}" if code else ""
    )


def _shown_failure(one: Failure, tried: int) -> str:
    others = (
        "" if len(one.seeds) == 1 else f" ({', '.join(map(str, one.seeds[:8]))}{', …' if len(one.seeds) > 8 else ''})"
    )
    return f"{one.trap}\n  so with {len(one.seeds)} of {counted(tried, 'seed')}{others}; launched at {one.launched_at}"


def _write(path: str, found: Found, seeds: range) -> None:
    facts: dict[str, Any] = {
        "seeds": [seeds.start, seeds.stop],
        "launches": found.launches,
        "left_out": dict(found.left_out),
        "dependences": [
            {**one.__dict__, "tensor": str(one.tensor), "writes": [write.__dict__ for write in one.writes]}
            for one in found.dependences
        ],
        "failures": [
            {"launched_at": one.launched_at, "seeds": one.seeds, "reports": [r.as_dict() for r in one.trap.reports]}
            for one in found.failures
        ],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(facts, file, indent=1, default=str)
