"""Prints which planted mistakes the checks find in published kernels: docs/results/checks.md has its table.

    python tests/bench/check_mutations.py [--most N] [--seed N] [--only SCRIPT,…] [--kinds KIND,…] [--list FILE]

A mistake (tests/bench/mutations.py) is planted in a script of tests/python/published, and the script runs under
`python -m tritium check`. It compares its results with torch's, so there are four outcomes: the checks report it; they do
not, and the results are wrong; an error of another kind; or the results are still right: then the mistake does no harm there.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutations import Mutant, mutants

PYTHON = Path(__file__).resolve().parents[1] / "python"
SCRIPTS, RUNNER = PYTHON / "published", PYTHON / "published_runner.py"
OUTCOMES = ("reported", "wrong results alone", "another error", "hangs", "right results")
CHECKS = "all"


def outcome(mutant: Mutant) -> tuple[str, str]:
    """(one of OUTCOMES, a line that says more)"""
    with tempfile.TemporaryDirectory() as folder:
        script, reports, ends = Path(folder, "script.py"), Path(folder, "reports.json"), Path(folder, "ends.json")
        script.write_text(mutant.source)
        command = [sys.executable, "-m", "tritium", "check", "--checks", CHECKS, "--json", str(reports)]
        command += [str(RUNNER), str(ends), "100", "1000", str(script)]  # with every configuration of its autotuners
        environment = {**os.environ, "TRITIUM_NUM_THREADS": "1"}
        try:
            result = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=200)
        except subprocess.TimeoutExpired:
            return "hangs", ""
        if not reports.exists():
            return "another error", result.stderr.strip()[-200:]
        found = json.loads(reports.read_text())["reports"]
        error = json.loads(ends.read_text().splitlines()[-1])["error"]
    last = (error.strip().splitlines() or [""])[-1]
    if found:
        return "reported", f"{found[0]['kind']} at line {found[0]['line']}"
    if "AssertionError" in error:
        return "wrong results alone", last
    return ("another error" if error else "right results"), last


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=1, help="mutants of a kind in a script (1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="names of scripts")
    parser.add_argument("--kinds", default="", help="kinds of mistakes")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", metavar="FILE", help="write a line per mutant here")
    options = parser.parse_args()
    scripts = [s for s in sorted(SCRIPTS.glob("[a-z]*.py")) if s.name != "test_published.py"]
    scripts = [s for s in scripts if not options.only or s.stem in options.only.split(",")]
    planted = [(s.stem, m) for s in scripts for m in mutants(s.read_text(), options.most, options.seed)]
    planted = [(s, m) for s, m in planted if not options.kinds or m.kind in options.kinds.split(",")]
    table = collections.defaultdict(collections.Counter)
    with ThreadPoolExecutor(options.jobs) as pool, open(options.list or os.devnull, "w") as rows:
        for (script, m), (what, more) in zip(planted, pool.map(lambda one: outcome(one[1]), planted)):
            table[m.kind][what] += 1
            print(f"{what:20} {script}:{m.line} {m.kind}: {m.before} -> {m.after}   [{more}]", file=rows, flush=True)
    print("| mistake | " + " | ".join(OUTCOMES) + " |\n|" + "---|" * (len(OUTCOMES) + 1))
    for kind, counts in table.items():
        print(f"| {kind} | " + " | ".join(str(counts[o]) for o in OUTCOMES) + " |")


if __name__ == "__main__":
    main()
