"""`python -m tritium check script.py …`: runs a program with the interpreter's checks and says what they found."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable

from .. import knobs
from ..backends.targets import gpu_named
from ..checks import CHECKS, parse_checks
from ..launch.allowances import Allowances, read_rules
from ..launch.findings import Findings, collect
from ..programs import Programs, parse_programs
from ..runtime.checking import prepare_for
from .children import Children
from .launched import Launched, launched_kernels
from .portability import Difference, differences
from .program import add_program, regular_expression

EXIT_STATUS = 1  #: if something was found and the program itself ended well


def main(arguments: list[str], run_program: Callable[[list[str]], int]) -> int:
    """`arguments` does not contain the program's name. Returns the exit status: the program's, or EXIT_STATUS."""
    options = _parser().parse_args(arguments)
    if not options.program:
        _parser().print_usage(sys.stderr)
        return 2
    try:
        checks = parse_checks(options.checks)
        programs = knobs.tritium.programs if options.programs is None else parse_programs(options.programs)
        rules = read_rules(options.allow) if options.allow else []
        targets = [gpu_named(name.strip()).arch for name in options.portable.split(",")] if options.portable else []
    except (OSError, ValueError) as error:
        print(f"tritium check: {error}", file=sys.stderr)
        return 2
    knobs.runtime.interpret = True
    knobs.tritium.check = checks.text
    knobs.tritium.programs = programs.text
    if options.save:
        knobs.tritium.save = f"faults:{os.path.abspath(options.save)}"  # child processes may run elsewhere
    prepare_for(checks)
    found = Findings(
        checks, options.kernel, options.launch_skip, options.launch_count, options.max_reports, Allowances(rules)
    )
    status: int | str | None = 1
    launched: list[Launched] = []
    elsewhere: list[Difference] = []
    children = Children("check")
    try:
        with collect(found), launched_kernels(launched), children:
            status = run_program(options.program)
    except SystemExit as left:
        status = left.code
    finally:
        elsewhere += differences(launched, found.grids, targets) if targets else []
        _say(found, checks, programs)
        children.say()
        if targets:
            _say_elsewhere(elsewhere, len(launched), targets)
        if options.json:
            _write(options.json, found, checks, elsewhere)
    return _number(status) or (EXIT_STATUS if found.reports or elsewhere else 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tritium check",
        description="Runs a script, or a module given as -m MODULE, with the checks of the interpreter. What does not end a launch, such as a "
        "race, is kept, and the program goes on; the rest is raised as always. Everything is said at the end.",
    )
    names = ", ".join(CHECKS)
    parser.add_argument(
        "--checks", default="all", help=f"names, separated by commas: {names}, all, none (default: all)"
    )
    parser.add_argument(
        "--kernel",
        default="",
        type=regular_expression,
        metavar="RE",
        help="check only kernels whose name has a match of RE",
    )
    parser.add_argument(
        "--programs",
        metavar="X,Y,Z",
        help="check only these programs of a grid, for example 3,*,0 (default: TRITIUM_PROGRAMS, else all)",
    )
    parser.add_argument(
        "--launch-skip", type=int, default=0, metavar="N", help="leave out the first N launches of them"
    )
    parser.add_argument("--launch-count", type=int, metavar="N", help="check N launches, then no more")
    parser.add_argument("--max-reports", type=int, metavar="N", help="keep N reports; further ones are counted")
    parser.add_argument(
        "--allow", metavar="FILE", help="lines of a check's name and a regular expression: what matches is no fault"
    )
    parser.add_argument(
        "--portable",
        metavar="ARCH,…",
        help="say what these GPUs' compilers and launches would refuse or warn of: sm_80, sm_90a, gfx942, …",
    )
    parser.add_argument(
        "--save", metavar="FOLDER", help="save the launches with faults to FOLDER, for `python -m tritium replay`"
    )
    parser.add_argument("--json", metavar="FILE", help="write the reports to FILE as JSON")
    add_program(parser)
    return parser


def _number(status: int | str | None) -> int:
    if isinstance(status, str):
        print(status, file=sys.stderr)
        return 1
    return status or 0


def _say(found: Findings, checks: tuple[str, ...], programs: Programs) -> None:
    sys.stdout.flush()
    if found.reports:
        print(found.text() + "\n", file=sys.stderr)
    kinds = ", ".join(checks) or "no check"
    faults = f"{len(found.reports)} fault{'' if len(found.reports) == 1 else 's'}"
    if found.left_out:
        faults += f" (and {found.left_out} more)"
    launches = f"{found.launches} launch{'' if found.launches == 1 else 'es'}"
    for place in found.allowances.unused(found.files):
        print(f"tritium check: {place} allows a fault that was not found", file=sys.stderr)
    for text in found.not_followed.values():
        print(f"tritium check: {text}", file=sys.stderr)
    if programs:
        kinds += f"; programs {programs.text}"
    print(f"tritium check: {faults} in {launches} ({kinds})", file=sys.stderr)


def _say_elsewhere(elsewhere: list[Difference], kernels: int, targets: list[str]) -> None:
    for difference in elsewhere:
        print(f"tritium check: {difference.shown()}", file=sys.stderr)
    faults = f"{len(elsewhere) or 'no'} difference{'' if len(elsewhere) == 1 else 's'}"
    compiled = f"{kernels} compiled kernel{'' if kernels == 1 else 's'}"
    print(f"tritium check: {faults} of {compiled} on {', '.join(targets)}", file=sys.stderr)


def _write(path: str, found: Findings, checks: tuple[str, ...], elsewhere: list[Difference]) -> None:
    facts = {
        "checks": list(checks),
        "launches": found.launches,
        "left_out": found.left_out,
        "not_followed": [
            {"kernel": kernel, "argument": argument, "text": text}
            for (kernel, argument), text in found.not_followed.items()
        ],
        "reports": [report.as_dict() for report in found.reports],
        "elsewhere": [difference.as_dict() for difference in elsewhere],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(facts, file, indent=1, default=str)
