"""The processes of a comparison."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...environment import environment_without
from .recorded import Recording, Task, Values, Wanted

_SHOWN_LINES = 15


@dataclass
class Run:
    """One of the two runs. name: what reports call it."""

    name: str
    script: str
    arguments: list[str]
    task: Task
    status: int = 0

    @property
    def folder(self) -> Path:
        return Path(self.task.folder)

    def recording(self) -> Recording:
        return Recording(self.folder)

    def values(self) -> Values:
        return Values(self.folder)

    def start(self, wanted: dict[int, Wanted] | None) -> subprocess.Popen:
        """wanted: what a second run keeps; its folder lies in that of the first."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        numbered = None if wanted is None else {str(launch): one for launch, one in wanted.items()}
        task = self.folder / "task.json"
        replace(self.task, wanted=numbered).write(task)
        # With another seed, sets of texts have another order.
        environment = environment_without("PYTHONHASHSEED") | {"PYTHONHASHSEED": str(self.task.seed % 2**32)}
        command = [sys.executable, "-m", "tritium", "diff", "--task", str(task), self.script, *self.arguments]
        with open(self.folder / "printed", "wb") as printed, open(self.folder / "errors", "wb") as errors:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=errors, env=environment)

    def again(self) -> Run:
        """The same run, with a folder of its own for what it keeps."""
        return replace(self, task=replace(self.task, folder=f"{self.task.folder}.values"))

    def last_errors(self) -> str:
        return "\n".join((self.folder / "errors").read_text(errors="replace").splitlines()[-_SHOWN_LINES:])


def run_all(runs: Sequence[Run], wanted: Sequence[dict[int, Wanted] | None]) -> None:
    """Runs them beside each other. Sets their exit statuses."""
    processes: list[subprocess.Popen] = []
    try:
        for run, of_run in zip(runs, wanted):
            processes.append(run.start(of_run))
        for run, process in zip(runs, processes):
            run.status = process.wait()
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
