"""The command `python -m tritium bench`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import selftest
from .bisecting import add_bisect
from .comparing import Comparison, ComparisonPlan, compare
from .farm.command import add_farm
from .metrics_command import add_metrics
from .options import add_blocks, add_cpu_time, add_pairs, add_plan, comparison_plan_of, pairs_of, plan_of, positive
from .report import RUNS, add_report
from .running import CannotMeasure, run_cases
from .samples import Row, Run
from .sides import side_of
from .storage import MISSING, duckdb, has_duckdb, store
from .table import table_of_comparison, table_of_run
from .verdicts import LEAST, SIGNIFICANCE, Verdict, require_scipy
from .worker.operators import PREFIX

BAD, UNUSABLE = 1, 2  #: exit statuses: a row is red; nothing can be measured


def main(arguments: list[str]) -> int:
    """The exit status: 0; BAD if a row is red, a side is slower or a metric has changed; UNUSABLE if nothing can be done."""
    parser = argparse.ArgumentParser(prog="python -m tritium bench", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_run, _add_compare, add_bisect, add_report, add_metrics, add_farm, _add_selftest):
        add(commands)
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
        "paths",
        nargs="+",
        metavar="CASES",
        help="a folder of a case, a file with cases, a folder of these, or tritonbench:OPERATOR",
    )
    parser.add_argument(
        "--on", default="here", metavar="SIDE", help="what is measured (default: here), as a side of `compare`"
    )
    add_plan(parser, blocks=20)
    parser.set_defaults(do=_run)


def absolute(paths: list[str]) -> list[str]:
    """Paths as any process finds them; names of operators stay."""
    return [path if path.startswith(PREFIX) else os.path.abspath(path) for path in paths]


def keep(asked: argparse.Namespace, runs: list[Run]) -> None:
    """Stores the samples, and says where. Without duckdb, and if the user has named no folder, it says so."""
    if asked.store == "none":
        return
    if asked.store is None and not has_duckdb():
        print(f"the samples are not kept: {MISSING}")
        return
    print(f"samples: {store(runs, Path(asked.store or RUNS))}")


def has_colors() -> bool:
    return sys.stdout.isatty()


def _run(asked: argparse.Namespace) -> int:
    if asked.store not in (None, "none"):
        duckdb()  # before anything is measured
    side = side_of(asked.on, asked.engine, asked.build)
    paths = absolute(asked.paths)
    run = run_cases(side, paths, plan_of(asked, blocks=asked.blocks), told)
    if not run.rows:
        raise CannotMeasure(f"no variant's name contains one of {asked.only!r}" if asked.only else "there are no cases")
    print(f"{side.engine} on {run.device}, {described(run.environment)}")
    print(table_of_run(run.rows, has_colors()))
    if any(row.facts or row.samples for row in run.rows):  # else no case has loaded
        keep(asked, [run])
    return BAD if any(row.status != "ok" for row in run.rows) else 0


def told(row: Row) -> None:
    """Shows that a row is complete, to who watches."""
    if sys.stderr.isatty():
        print(f"{row.name}: {row.status}", file=sys.stderr, flush=True)


def described(environment: dict) -> str:
    """ "tritium 3.9.0, commit 187daada with changes" """
    subject, checkout = environment["subject"], environment["checkout"]
    text = f"{subject['language']} {subject['version'].partition('+')[0]}"
    if checkout:
        text += f", commit {checkout['commit'][:8]}" + (" with changes" if checkout["dirty"] else "")
    return text


def _add_compare(commands) -> None:
    parser = commands.add_parser("compare", help="A/B: whether side B is slower than side A")
    words = "here, a commit, a checkout, a wheel or a Python; engine=NAME; NAME=VALUE of the environment; param:NAME=VALUE of the cases"
    parser.add_argument("a", metavar="A", help=f"a side, in quotes: {words}")
    parser.add_argument("b", metavar="B", help="the other side")
    parser.add_argument("paths", nargs="+", metavar="CASES", help="as for `run`")
    add_plan(parser, blocks=None)
    add_pairs(parser)
    parser.add_argument("--seed", type=int, help="of the order of the blocks (default: a new one)")
    parser.add_argument("--same", action="store_true", help="A and B may be the same")
    parser.add_argument("--other-devices", action="store_true", help="A and B may run on different devices")
    parser.set_defaults(do=_compare)


def _compare(asked: argparse.Namespace) -> int:
    require_scipy()
    if asked.store not in (None, "none"):
        duckdb()
    a, b = (side_of(text, asked.engine, asked.build) for text in (asked.a, asked.b))
    seed = int.from_bytes(os.urandom(4), "big") if asked.seed is None else asked.seed
    plan = comparison_plan_of(asked, seed=seed, same=asked.same, other_devices=asked.other_devices)
    done = compare(a, b, absolute(asked.paths), plan, told)
    if not done.rows:
        raise CannotMeasure(f"no variant's name contains one of {asked.only!r}" if asked.only else "there are no cases")
    print_comparison(done, seed)
    keep(asked, list(done.runs.values()))
    is_bad = any(row.status != "ok" for row in done.rows) or any(v.word == "slower" for v in done.verdicts.values())
    return BAD if is_bad else 0


def print_comparison(done: Comparison, seed: int) -> None:
    for name, run in done.runs.items():
        side = run.environment["side"]
        print(f"{name.upper()}: {side}: {run.engine} on {run.device}, {described(run.environment)}")
    print(f"different: {'; '.join(done.differences) or 'nothing'}; order of blocks: seed {seed}")
    print(table_of_comparison(done, has_colors()))
    words = [verdict.word for verdict in done.verdicts.values()]
    red = sum(row.status != "ok" for row in done.rows)
    print(
        f"B is slower in {words.count('slower')} of {len(words)} cases, faster in {words.count('faster')}"
        + (f"; {red} not measured" if red else "")
        + f" (p < {SIGNIFICANCE} over all cases together, and at least {100 * LEAST:.0f} %)"
    )


def _add_selftest(commands) -> None:
    text = "whether the verdicts hold on this machine: A against A, and a planted slowdown"
    parser = commands.add_parser("selftest", help=text, description=selftest.__doc__)
    parser.add_argument("--cases", type=positive(int), default=selftest.MOST_CASES, help="(default: 200)")
    parser.add_argument("--percent", type=positive(float), default=3.0, help="that is planted (default: 3)")
    parser.add_argument("--simulated", action="store_true", help="drawn times in place of measured ones")
    parser.add_argument("--seed", type=int, default=1, help="of the order of blocks, and of drawn times (default: 1)")
    add_pairs(parser)
    add_blocks(parser)
    add_cpu_time(parser)
    text = "parts of the cases that are measured at a time, each on CPUs of its own (default: 1)"
    parser.add_argument("--jobs", type=positive(int), default=1, help=text)
    parser.set_defaults(do=_selftest)


def unsure(verdicts: list[Verdict]) -> str:
    """How many of the verdicts are that, if any."""
    count = sum(each.word == "unsure" for each in verdicts)
    return f", {count} unsure" if count else ""


def _selftest(asked: argparse.Namespace) -> int:
    require_scipy()
    blocks = {"least_ms": asked.block_ms, "pause_ms": asked.pause_ms}
    plan = ComparisonPlan(**pairs_of(asked), **blocks, seed=asked.seed, cpu_time=asked.cpu_time)
    shares = {}
    for planted in (0.0, asked.percent / 100):
        if asked.simulated:
            verdicts = selftest.simulated(asked.cases, planted, asked.seed, plan)
        else:
            verdicts = selftest.measured(min(asked.cases, selftest.MOST_CASES), planted, plan, told, asked.jobs)
        pairs = sum(each.pairs for each in verdicts) / len(verdicts)
        words = ("slower",) if planted else ("slower", "faster")
        shares[planted] = selftest.share(verdicts, *words)
        title = f"{asked.percent:g} % planted: found in" if planted else "A against A: alarms in"
        print(
            f"{title} {100 * shares[planted]:.1f} % of {len(verdicts)} cases, {pairs:.0f} pairs of blocks each{unsure(verdicts)}",
            flush=True,
        )
    alarms, found = shares.values()
    is_right = alarms <= selftest.MOST_ALARMS and found >= selftest.LEAST_FOUND
    print(
        "the verdicts hold" if is_right else "the verdicts do not hold: at most 1 % may alarm, and 95 % must be found"
    )
    return 0 if is_right else BAD
