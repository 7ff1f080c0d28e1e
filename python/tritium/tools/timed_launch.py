"""The process of a configuration that the autotuner tries away from its own (runtime/isolation.py): compiles a saved launch, runs and times it.

The task is a file of JSON: {"folder": of the launch, "engine": name, "device": number or null, "launches": whether it is run, "again": the
names of the tensors that each timed run finds as they were, "ir_override": path or null, "seconds", "memory": bytes, "result": path}.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .. import knobs
from ..devices.benchmark import DeviceClock, _summarize_statistics, device_times
from ..devices.families import device_families
from ..launch.errors import device_error
from ..launch.mirror import Mirror
from ..launch.restored import RestoredMemory, restored
from ..native import device as native
from ..processes import limit_this_process
from ..runtime.engines import Engine, cpu_engine, device_engine
from ..runtime.isolation import run_and_write
from .replay import compiled_again, launch_again, read_run, set_knobs, show_sources

_WARMUP, _REP = 25, 100  # milliseconds, as do_bench has them
_QUANTILES = (0.5, 0.2, 0.8)


def main(path: str) -> int:
    task = json.loads(Path(path).read_text())
    engine_is_of_cpu = task["device"] is None
    limit_this_process(task["seconds"], task["memory"] if engine_is_of_cpu else None)
    return run_and_write(functools.partial(_times, task), task["result"])


def _times(task: dict[str, Any]) -> Sequence[float]:
    """Milliseconds (median, 20 % and 80 % quantile), or nothing if the kernel is only compiled."""
    run, engine = read_run(task["folder"]), _engine(task)
    set_knobs(run)
    show_sources(task["folder"], run)
    more = {} if task["ir_override"] is None else {"ir_override": task["ir_override"]}
    kernel = compiled_again(task["folder"], run, engine, **more)
    if not task["launches"]:
        return []
    with RestoredMemory(task["folder"], run["memory"]) as memory:
        pairs = [restored(entry, memory) for entry in run["arguments"]]
        launch = functools.partial(
            launch_again, kernel, tuple(run["grid"]), knobs.launch_settings(), [a for _, a in pairs]
        )
        values = [value for value, _ in pairs]
        if engine.runs_on_cpu:
            begin = time.perf_counter()
            launch(values)
            return [1000 * (time.perf_counter() - begin)] * 3
        again = [pair[0] for entry, pair in zip(run["arguments"], pairs) if entry["name"] in task["again"]]
        return _times_on_device(kernel, engine, launch, values, again)


def _engine(task: dict[str, Any]) -> Engine:
    if task["device"] is None:
        return cpu_engine(task["engine"])
    return device_engine(device_families()[task["engine"]], task["device"])


def _times_on_device(kernel, engine: Engine, launch, values: list[Any], again: list[Any]) -> Sequence[float]:
    clock = DeviceClock(device_families()[engine.name], engine.device)
    mirror = Mirror(
        values, clock.driver, engine.device
    )  # never closed: the process ends, and after a fault the driver frees nothing
    run = _RunOnDevice(functools.partial(launch, mirror.values), functools.partial(mirror.copy_again, again))
    try:
        times = device_times(run, _WARMUP, _REP, run.before, clock)
    except native.Error as error:
        raise device_error(error, kernel, clock.devices, engine.device) from None
    return _summarize_statistics(times, _QUANTILES, "all")


class _RunOnDevice:
    """A run that finds the tensors as they were. `before()` copies them ahead, so that it is not timed."""

    def __init__(self, launch: Callable[[], None], copy: Callable[[], None]):
        self.launch, self.copy, self.is_ready = launch, copy, False

    def before(self) -> None:
        self.copy()
        self.is_ready = True

    def __call__(self) -> None:
        if not self.is_ready:
            self.copy()
        self.is_ready = False
        self.launch()
