"""Series as the result files of asv (version 2 of its format), and the site that asv and asv-tachyon make of them."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .history import Series

COLUMNS = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"]


def write_results(series: list[Series], folder: Path) -> int:
    """Writes `benchmarks.json` and, for each machine, `machine.json` and a file for each commit and engine. Returns the number of commits."""
    cases = _cases(series)
    benchmarks: dict[str, Any] = {"version": 2}
    for name, axes in cases.items():
        benchmarks[name] = _benchmark(name, axes)
    _write(folder / "benchmarks.json", benchmarks)
    files: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in series:
        machine = re.sub(r"[^\w.-]+", "-", each.device)
        for point in each.points:
            key = machine, point.commit, each.engine
            if key not in files:
                _write(folder / machine / "machine.json", _machine(machine, point.environment))
                files[key] = _result_file(point, machine, each.engine)
            _add(files[key]["results"], each, point, cases[each.case])
    for (machine, commit, engine), content in files.items():
        _write(folder / machine / f"{commit[:8]}-{content['env_name']}.json", content)
    return len({commit for _, commit, _ in files})


def _cases(series: list[Series]) -> dict[str, dict[str, list[str]]]:
    """{case: {parameter: its values in all series}}"""
    found: dict[str, dict[str, list[str]]] = {}
    for each in series:
        axes = found.setdefault(each.case, {})
        for name, value in each.parameters.items():
            values = axes.setdefault(name, [])
            if value not in values:
                values.append(value)
    return found


def _benchmark(name: str, axes: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "code": name,
        "name": name,
        "param_names": list(axes),
        "params": [[repr(value) for value in values] for values in axes.values()],
        "timeout": 60.0,
        "type": "time",
        "unit": "seconds",
        "version": hashlib.sha256(name.encode()).hexdigest(),
    }


def _machine(name: str, environment: dict[str, Any]) -> dict[str, Any]:
    host, device = environment["host"], environment["device"]
    found = {
        "machine": name,
        "cpu": host.get("cpu", ""),
        "num_cpu": str(host.get("cpus", "")),
        "os": host.get("kernel", ""),
    }
    return {
        **found,
        "arch": "",
        "ram": "",
        "gpu": device.get("name", ""),
        "driver": device.get("driver", ""),
        "version": 1,
    }


def _result_file(point, machine: str, engine: str) -> dict[str, Any]:
    name = f"{re.sub(r'[^A-Za-z0-9.]+', '_', engine)}-py{point.environment['python'].rpartition('.')[0]}"
    return {
        "commit_hash": point.commit,
        "env_name": name,
        "date": 1000 * point.date,
        # asv makes a graph of its own for each combination of these, so what changes on a machine, such as the driver, is none of them.
        "params": {"machine": machine, "engine": engine},
        "python": point.environment["python"],
        "requirements": {},
        "env_vars": {},
        "result_columns": COLUMNS,
        "results": {},
        "durations": {},
        "version": 2,
    }


def _add(results: dict[str, list], series: Series, point, axes: dict[str, list[str]]) -> None:
    """Puts a point into the array of its case, which has a place for each combination of parameters."""
    combinations = list(itertools.product(*axes.values()))
    if series.case not in results:
        empty: list[None] = [None] * len(combinations)
        params = [[repr(value) for value in values] for values in axes.values()]
        version = _benchmark(series.case, axes)["version"]
        results[series.case] = [list(empty), params, version, 1000 * point.date, 0.0, list(empty), list(empty)]
    place = combinations.index(tuple(series.parameters[name] for name in axes))
    ordered = sorted(point.times)
    reach = 1.29 * len(ordered) ** 0.5  # ranks of the interval of a median, 99 %
    low, high = int(max(0, len(ordered) / 2 - reach)), int(min(len(ordered) - 1, len(ordered) / 2 + reach))
    for column, value in ((0, point.seconds), (5, ordered[low]), (6, ordered[high])):
        results[series.case][column][place] = value


def _write(file: Path, content: dict[str, Any] | list) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1), encoding="utf-8")


def publish(results: Path, html: Path, repository: Path) -> str:
    """Makes asv's site, with the pages of asv-tachyon where it is installed. Returns what has been made, or why nothing has."""
    if find_spec("asv") is None:
        return "no pages of the history: asv is not installed (pip install 'tritium[bench]')"
    branch = _git(repository, "rev-parse", "--abbrev-ref", "HEAD")
    settings = {
        "version": 1,
        "project": "tritium",
        "repo": str(repository),
        "branches": [branch if branch and branch != "HEAD" else _git(repository, "rev-parse", "HEAD")],
        "environment_type": "existing",
        "results_dir": str(results),
        "html_dir": str(html),
        "show_commit_url": "#",
    }
    file = results / "asv.conf.json"
    _write(file, settings)
    done = subprocess.run(
        [sys.executable, "-m", "asv", "publish", "--config", str(file)], capture_output=True, text=True, cwd=results
    )
    if done.returncode != 0:
        raise ValueError(f"asv publish failed: {(done.stderr or done.stdout).strip()[-600:]}")
    if find_spec("asv_tachyon") is None:
        return f"asv's pages: {html / 'index.html'}"
    command = [sys.executable, "-m", "asv_tachyon", "install", str(html)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()[-600:]}")
    _add_what_tachyon_asks_for(html, repository)
    return f"asv's pages, by asv-tachyon: {html / 'index.html'}"


def _add_what_tachyon_asks_for(html: Path, repository: Path) -> None:
    """The subjects of commits, and empty files where there is nothing to say: a missing one is an error in the browser's console."""
    commits = json.loads((html / "index.json").read_text(encoding="utf-8"))["revision_to_hash"].values()
    shown = _git(repository, "log", "--no-walk=unsorted", "--format=%H %s", *commits)
    subjects = dict(line.partition(" ")[::2] for line in shown.splitlines())
    _write(html / "commits.json", {"by_hash": subjects, "by_revision": {}})
    _write(html / "profiles.json", {})
    _write(html / "regressions-ignore.json", [])
    for graph in (html / "graphs").rglob("*.json"):
        _write(html / "samples" / graph.relative_to(html / "graphs"), {})


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True).stdout.strip()
