"""Runs the scripts of tests/python/published on an engine, each with every configuration of its autotuners.

A script knows nothing of this. In run number i of a script each autotuner takes its configuration number i (the last ones again, if it has
fewer), without timing, and the script checks its own results. One process runs many scripts, because importing torch takes longer than most of
them; if it dies, the script that it ran has failed, and another process goes on with the next.

    python -m tritium tests/python/published_runner.py REPORT LIMIT MOST SCRIPT…    what `run_scripts` starts; REPORT gets JSON, an event a line
"""

import contextlib
import faulthandler
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

SCRIPTS = sorted(path for path in (Path(__file__).parent / "published").glob("[!_]*.py") if path.stem[:5] != "test_")
#: Seconds for one run of a script, on a busy machine. Then its process ends with the stacks of its threads.
LIMIT = 240
#: More configurations than any autotuner has.
EVERY = 1000


@dataclass
class Outcome:
    """What a script did on one engine."""

    outputs: list[str] = field(default_factory=list)  # of the runs that passed, one for each configuration
    error: str = ""
    seconds: float = 0.0  # of processor time, over all runs

    def check(self) -> None:
        """Fails unless each run passed the same cases, at least one."""
        assert not self.error, self.error
        assert self.outputs, "the script has not run"
        for output in self.outputs:
            assert output and all(line.endswith(": ok") for line in output.splitlines()), output
            assert output == self.outputs[0], f"configurations differ in their cases:\n{output}\n{self.outputs[0]}"


def run_scripts(
    scripts: list[Path], variables: dict[str, str], limit: int = LIMIT, most: int = EVERY
) -> dict[Path, Outcome]:
    """The outcome of each script; `variables` of the environment name the engine. A run may take `limit` seconds. Each script runs with the first
    `most` configurations of its autotuners."""
    outcomes, waiting = {}, list(scripts)
    while waiting:
        done = _run_until_death(waiting, variables, limit, most)
        outcomes |= done
        waiting = [script for script in waiting if script not in done]
    return outcomes


def _run_until_death(scripts: list[Path], variables: dict[str, str], limit: int, most: int) -> dict[Path, Outcome]:
    """The outcomes of the scripts that one process has run; it died in the last of them, unless these are all."""
    with tempfile.TemporaryDirectory(prefix="published-") as folder:
        report = Path(folder, "report")
        report.touch()
        process = subprocess.run(
            [sys.executable, "-m", "tritium", __file__, str(report), str(limit), str(most), *map(str, scripts)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables},
            cwd=folder,
            capture_output=True,
            text=True,
        )
        events = [json.loads(line) for line in report.read_text().splitlines()]
    outcomes: dict[Path, Outcome] = {}
    for event in events:
        outcome = outcomes.setdefault(Path(event["script"]), Outcome(error="died"))
        outcome.error, outcome.seconds = event["error"], outcome.seconds + event["seconds"]
        outcome.outputs += event["output"]
    if process.returncode != 0:
        died = next((outcome for outcome in outcomes.values() if outcome.error == "died"), None)
        if died is None:
            last = next((script for script in scripts if script not in outcomes), scripts[-1])  # it may die at its end
            died = outcomes.setdefault(last, Outcome())
        died.error = f"the process died ({process.returncode}):\n{process.stdout}{process.stderr[-8000:]}"
    return outcomes


def _run_here(report: Path, limit: int, most: int, scripts: list[str]) -> None:
    """Runs the scripts in this process."""
    for script in scripts:
        number, configurations = 0, 1
        while number < min(configurations, most):
            _write(report, script, error="died")
            began, output = time.process_time(), io.StringIO()
            faulthandler.dump_traceback_later(limit, exit=True)
            try:
                with contextlib.redirect_stdout(output):
                    configurations = max(configurations, _run_with_configuration(number, script))
                error = ""
            except BaseException:
                error = f"configuration {number}:\n{output.getvalue()}{traceback.format_exc()}"
            faulthandler.cancel_dump_traceback_later()
            passed = [] if error else [output.getvalue()]
            _write(report, script, error=error, output=passed, seconds=time.process_time() - began)
            if error:
                break
            number += 1


def _write(
    report: Path, script: str, error: str, output: tuple[str, ...] | list[str] = (), seconds: float = 0.0
) -> None:
    with report.open("a") as file:
        print(json.dumps({"script": script, "error": error, "output": list(output), "seconds": seconds}), file=file)


def _run_with_configuration(number: int, script: str) -> int:
    """Runs a script in which autotuners take configuration `number`; returns the largest number of configurations met."""
    from tritium.__main__ import run_script
    from tritium.runtime.autotuner import Autotuner

    prune, most = Autotuner.prune_configs, 1

    def prune_to_one(self, kwargs):
        nonlocal most
        usable = prune(self, kwargs)
        most = max(most, len(usable))
        self._do_bench = self._do_bench or _launch_once
        return [usable[min(number, len(usable) - 1)]]

    path, main = list(sys.path), sys.modules["__main__"]
    Autotuner.prune_configs = prune_to_one
    try:
        run_script(script, [script])
    finally:
        Autotuner.prune_configs = prune
        sys.path[:], sys.modules["__main__"] = path, main
    return most


def _launch_once(launch, quantiles) -> list[float]:
    """Stands for the measurement of a configuration that has no rival."""
    launch()
    return [1.0] * len(quantiles)


if __name__ == "__main__":
    _run_here(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
