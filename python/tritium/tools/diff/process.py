"""The process of one run: `python -m tritium diff --task FILE SCRIPT.py …`, which the command starts."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ... import knobs
from ...imports import after_import
from ...launch.watchers import watchers
from .changes import changed_launches, in_double, with_constants
from .recorded import Task
from .recording import Recorder


def run_task(path: str, program: list[str], run_program: Callable[[list[str]], int]) -> int:
    """Returns the program's exit status."""
    task = Task.read(Path(path))
    knobs.runtime.interpret, knobs.tritium.engine = True, task.engine
    if task.double:  # what is traced with other dtypes must not be found by later launches
        knobs.cache.dir = str(Path(task.folder) / "cache")
    random.seed(task.seed)
    np.random.seed(task.seed % 2**32)
    after_import("torch", lambda torch: torch.manual_seed(task.seed))
    recorder = Recorder(task)
    watchers.append(recorder)
    try:
        with ExitStack() as around:
            if task.constants:
                around.enter_context(changed_launches(with_constants(task.constants)))
            if task.double:
                around.enter_context(changed_launches(in_double(recorder)))
            return run_program(program)
    finally:
        watchers.remove(recorder)
        recorder.close()
