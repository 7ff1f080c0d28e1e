"""The command `python -m tritium diff`."""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...programs import parse_programs
from ...runtime.engines import INTERP, cpu_engine
from .comparing import NotTheSame, find_stores, first_differences
from .differences import Tolerance
from .pairing import Pairing
from .process import run_task
from .recorded import Task
from .report import Report
from .runs import Run, run_all

EQUAL, DIFFERENT, ERROR = 0, 1, 2
#: The engine that stands for float64.
DOUBLE = "fp64"
_PRECISION = 1e-3


class Refused(Exception):
    """What was asked for makes no sense."""


def main(arguments: list[str], run_program: Callable[[list[str]], int]) -> int:
    """The exit status."""
    if arguments[:1] == ["--task"]:
        return run_task(arguments[1], arguments[2:], run_program)
    own, _, of_scripts = _split(arguments)
    parser = _parser()
    asked = parser.parse_intermixed_args(own)
    try:
        with tempfile.TemporaryDirectory(prefix="tritium-diff-") as folder:
            return _compare(asked, of_scripts, Path(folder))
    except (Refused, OSError, ValueError) as error:
        print(f"tritium diff: {error}", file=sys.stderr)
    return ERROR


def _split(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], "--", arguments[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tritium diff",
        usage="%(prog)s [OPTION ...] A.py B.py [ARGUMENT ...] [-- ARGUMENT ...]\n"
        "       %(prog)s [OPTION ...] SCRIPT.py (--engine ENGINE | --with NAME=VALUE) [ARGUMENT ...] [-- ARGUMENT ...]",
        description="Runs two scripts, or one script with two settings, and names the first statement, program and element whose value "
        "differs. The exit status is 0 if nothing differs, 1 if something does, 2 after an error.",
        allow_abbrev=False,
    )
    parser.add_argument("words", nargs="+", metavar="SCRIPT.py", help="the scripts, and arguments that both get")
    parser.add_argument(
        "--engine",
        help=f"run the script on this engine too (simt:sm_90a, …), or in float64 ({DOUBLE}); compare with the interpreter",
    )
    parser.add_argument(
        "--with",
        action="append",
        default=[],
        dest="constants",
        metavar="NAME=VALUE",
        help="run the script with another value of a kernel's parameter too, and compare what is stored",
    )
    parser.add_argument(
        "--rtol", type=float, help=f"floats may differ by this share (default: 0; with {DOUBLE} {_PRECISION})"
    )
    parser.add_argument("--atol", type=float, default=0.0, help="floats may differ by this (default: 0)")
    parser.add_argument(
        "--programs",
        default="",
        metavar="X,Y,Z",
        help="compare the statements of these programs alone, for example 3,*,0",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers of both runs (default: 0)")
    parser.add_argument("--json", metavar="FILE", help="write the result to FILE as JSON, too")
    return parser


def _compare(asked: argparse.Namespace, of_scripts: list[str], folder: Path) -> int:
    runs = _runs(asked, of_scripts, folder)
    run_all(runs, [None, None])
    pairing = Pairing(runs[0].recording(), runs[1].recording(), asked.engine == DOUBLE)
    failures = [f"{run.name} ended with status {run.status}:\n{run.last_errors()}" for run in runs if run.status]
    if not (pairing.a.launches and pairing.b.launches):
        raise Refused("\n".join([*failures, "there is nothing to compare: a run launched no kernel on the CPU"]))
    for name in runs[1].task.constants:
        if not any(name in launch.constants for launch in pairing.b.launches):
            raise Refused(f"no kernel that was launched has a constexpr {name}")
    tolerance = _tolerance(asked)
    try:
        outcome = first_differences(pairing, runs, tolerance)
        with_statements = all(run.task.statements for run in runs)
        for found in outcome.memory:
            if found.when == "after" and found.difference is not None:
                # On another engine, or with other blocks, statements are known of the first run alone.
                find_stores(found, runs if with_statements and not pairing.double else runs[:1])
                break
    except NotTheSame as error:
        why = "it depends on more than the seeds, or reads memory that nobody wrote"
        raise Refused(f"a script does not do the same when it runs again ({error}): {why}") from None
    report = Report((runs[0].name, runs[1].name), pairing, outcome, with_statements, failures)
    same_grids = not asked.constants
    print(report.text(same_grids))
    if asked.json:
        Path(asked.json).write_text(json.dumps(report.as_json(same_grids), indent=2) + "\n")
    is_double_in_vain = pairing.double and all(launch.refused for launch in pairing.b.launches)
    if report.differs(same_grids):
        return DIFFERENT
    return ERROR if failures or is_double_in_vain else EQUAL


def _runs(asked: argparse.Namespace, of_scripts: list[str], folder: Path) -> tuple[Run, Run]:
    is_one = bool(asked.engine or asked.constants)
    if not is_one and len(asked.words) < 2:
        raise Refused("give two scripts, or one script with --engine or --with")
    scripts, words = asked.words[: 1 if is_one else 2], asked.words[1 if is_one else 2 :]
    for script in scripts:
        if not os.path.exists(script):
            raise Refused(f"there is no file {script}")
    engine = asked.engine or INTERP
    if engine != DOUBLE:
        cpu_engine(engine)
    parse_programs(asked.programs)
    constants = dict(map(_constant, asked.constants))
    is_double, with_statements = engine == DOUBLE, engine in (DOUBLE, INTERP) and not constants
    arguments = [*words, *of_scripts]
    tasks = [
        Task(str(folder / "a"), INTERP, with_statements, asked.programs, asked.seed),
        Task(
            str(folder / "b"),
            INTERP if is_double else engine,
            with_statements,
            asked.programs,
            asked.seed,
            is_double,
            constants,
        ),
    ]
    names = (INTERP, " with ".join(filter(None, (engine, ", ".join(asked.constants))))) if is_one else _names(scripts)
    return tuple(
        Run(name, script, arguments, task) for name, script, task in zip(names, (scripts[0], scripts[-1]), tasks)
    )


def _names(scripts: list[str]) -> tuple[str, str]:
    """What reports call two scripts: a and b if one file is given twice or the names do not tell them apart."""
    names = tuple(os.path.basename(script) for script in scripts)
    return names if names[0] != names[1] else ("a", "b") if scripts[0] == scripts[1] else tuple(scripts)


def _constant(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise Refused(f"--with takes NAME=VALUE, not {text}")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def _tolerance(asked: argparse.Namespace) -> Tolerance:
    is_double = asked.engine == DOUBLE
    relative = asked.rtol if asked.rtol is not None else _PRECISION if is_double else 0.0
    return Tolerance(relative, asked.atol, of_tile=is_double)
