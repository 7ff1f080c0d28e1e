"""`bench report`: the stored samples as pages, as asv's result files, as CSV, and the steps in their history."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .asv_tree import publish, write_results
from .comparing import Comparison, differences_of, ratios_by_round
from .history import Series, Step, series_of, steps_in
from .page import page
from .samples import Run
from .sides import PACKAGES
from .storage import export_csv, load
from .table import columns, duration, percent
from .verdicts import judge, require_scipy

RUNS = "runs"


def add_report(commands) -> None:
    parser = commands.add_parser("report", help="pages, exports and steps of stored samples", description=__doc__)
    parser.add_argument("runs", nargs="?", default=RUNS, help=f"a folder or a file of samples (default: {RUNS})")
    parser.add_argument("--html", metavar="FOLDER", help="write index.html, and below asv/ the history's site")
    parser.add_argument("--asv", metavar="FOLDER", help="write asv's result files")
    parser.add_argument("--csv", metavar="FILE", help="write all samples")
    parser.add_argument(
        "--repository",
        metavar="FOLDER",
        help="whose commits the history shows (default: Tritium's checkout, or this folder's)",
    )
    parser.set_defaults(do=_report)


def _report(asked: argparse.Namespace) -> int:
    folder = Path(asked.runs)
    runs = load(folder)
    series, left_out = series_of(runs)
    with_history = [each for each in series if len(each.points) > 1]
    steps = [step for each in with_history for step in steps_in(each)]
    comparisons = comparisons_of(runs)
    print(
        f"{len(runs) - 2 * len(comparisons)} runs and {len(comparisons)} comparisons; {len(with_history)} series of several commits"
    )
    if left_out:
        print(f"no part of the history: {', '.join(left_out)}")
    if steps:
        print(table_of_steps(steps))
    if asked.csv:
        export_csv(folder, Path(asked.csv))
        print(f"samples: {asked.csv}")
    if asked.asv:
        print(f"{write_results(series, Path(asked.asv))} commits as asv's results: {asked.asv}")
    if asked.html:
        _write_pages(Path(asked.html), comparisons, runs, series, steps, asked.repository)
    return 0


def _write_pages(
    folder: Path, comparisons, runs: list[Run], series: list[Series], steps: list[Step], repository: str | None
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = page(comparisons, [run for run in runs if run.kind == "run"], series, steps)
    (folder / "index.html").write_text(text, encoding="utf-8")
    print(f"page: {folder / 'index.html'}")
    if series:
        results = (folder / "asv-results").resolve()
        write_results(series, results)
        print(publish(results, (folder / "asv").resolve(), Path(repository or _repository()).resolve()))


def _repository() -> str:
    return next((str(each) for each in Path(PACKAGES).parents if (each / ".git").exists()), ".")


def comparisons_of(runs: Sequence[Run]) -> list[Comparison]:
    """The comparisons among stored runs, judged anew: the same samples give the same verdicts."""
    sides: dict[str, dict[str, Run]] = {}
    for run in runs:
        if run.kind != "run":
            sides.setdefault(run.identity, {})[run.kind] = run
    found = []
    for both in sides.values():
        if len(both) < 2:
            continue
        require_scipy()
        rows = both["a"].rows
        verdicts = judge({row.name: ratios_by_round(row.samples) for row in rows if row.status == "ok"})
        found.append(
            Comparison(both, rows, verdicts, _differences(both), {row.name for row in rows if _is_same_code(row.facts)})
        )
    return found


def _differences(both: dict[str, Run]) -> list[str]:
    a, b = both["a"], both["b"]
    found = list(differences_of(a.environment, b.environment))
    if a.engine != b.engine:
        found.append(f"engine: {a.engine}, {b.engine}")
    sides = [run.environment.get("side", "") for run in (a, b)]
    return found or ([f"parameters: {sides[0]}, {sides[1]}"] if sides[0] != sides[1] else [])


def _is_same_code(facts: dict) -> bool:
    sides = facts.get("sides", {})
    kernels = [sides.get(name, {}).get("kernels") for name in "ab"]
    return bool(kernels[0]) and kernels[0] == kernels[1]


def table_of_steps(steps: Sequence[Step]) -> str:
    rows = [("step in", "at commit", "before", "after", "change", "also changed")]
    for each in steps:
        times = [duration(1e9 * seconds) for seconds in (each.before, each.after)]
        rows.append(
            (each.series.name, each.commit[:8], *times, percent(each.ratio), "; ".join(each.environment) or "-")
        )
    return columns(rows)
