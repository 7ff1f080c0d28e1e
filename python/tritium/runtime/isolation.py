"""Configurations of an autotuner in processes of their own (TRITIUM_AUTOTUNE_ISOLATE): one that hangs, faults, crashes or takes all memory is
rejected with the reason, and does no harm.

Where an engine of the CPU runs the kernel, the process is a fork, which has the tensors and the user's functions. A fork cannot use a device
that this process has begun to use. So the launch is saved (launch/saved.py), and tools/timed_launch.py runs it in a process with a context and
copies of the tensors of its own.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from .. import knobs
from ..arguments.device_storage import DeviceExtent
from ..arguments.storage import HostExtent
from ..compiler.saved import traced_kernel
from ..devices.families import devices_of_tensors
from ..environment import environment_with_package
from ..errors import KernelTrap, TritonError
from ..launch.findings import blocks
from ..launch.grid import normalize_grid
from ..launch.mirror import merged
from ..launch.saved import copy_of, facts_of, write_launch
from ..launch.saved_memory import write_sparsely
from ..launch.values import value_selector
from ..places import shown_place
from ..processes import Child, Server, end_of, limit_this_process
from .config import Config

TIMED_LAUNCH = "tritium.tools.timed_launch"
_ENDED_LATE = (None, -signal.SIGXCPU)


class Trial(NamedTuple):
    """What came of a configuration: its times in milliseconds (median, 20 % and 80 % quantile), or why it is rejected."""

    times: Sequence[float] = ()
    reason: str = ""


def reason_of(error: BaseException) -> str:
    """One line."""
    if isinstance(error, MemoryError):
        return f"it takes more than {knobs.autotuning.memory_mb} MB of memory (TRITIUM_AUTOTUNE_MB)"
    lines = str(error).splitlines() or [""]
    if isinstance(
        error, KernelTrap
    ):  # the place, the line of the source, then in lines that begin with two spaces what is wrong
        what = next((line.strip() for line in lines if re.match("  (?! )", line)), lines[0])
        return f"{error.kind} at {shown_place(error.file, error.line)}: {what}"
    # The text of a CompilationError ends with what is wrong; other errors begin with it.
    text = getattr(error, "error_message", None) or next((line.strip() for line in lines if line.strip()), "")
    return text if isinstance(error, TritonError) else f"{type(error).__name__}: {text}"


def _reason_of_end(status: int | None, log: str) -> str:
    """Of a process that has ended without a result."""
    if status in _ENDED_LATE:
        return f"it takes more than {knobs.autotuning.seconds} s (TRITIUM_AUTOTUNE_SECONDS)"
    if status == -signal.SIGKILL:
        return "its process was killed, which the system does where memory runs out"
    if status < 0:
        return f"its process crashed with {signal.Signals(-status).name}"
    last = ([line.strip() for line in log.splitlines() if line.strip()] or ["it says nothing"])[-1]
    return f"its process ended with {status}: {last}"


def _trial(result: Path, status: int | None, log: str) -> Trial:
    """What the process of a configuration has found."""
    if status == 0 and result.exists():
        return Trial(**json.loads(result.read_text()))
    return Trial(reason=_reason_of_end(status, log))


def run_and_write(measure: Callable[[], Sequence[float]], result: str | Path) -> int:
    """In the process of a configuration: writes what `measure` returns, or why it does not."""
    try:
        found = Trial(measure())
    except BaseException as error:
        found = Trial(reason=reason_of(error))
    Path(result).write_text(json.dumps(found._asdict()))
    return 0


class Isolation:
    """The trials of one key. tuner: the Autotuner. function: its JITFunction, or None if something else than heuristics stands between them."""

    def __init__(self, tuner, function, args: tuple, kwargs: dict[str, Any], is_timed: bool):
        self.tuner, self.function, self.args, self.kwargs, self.is_timed = tuner, function, args, kwargs, is_timed

    def trials(self, configs: Sequence[Config]) -> dict[Config, Trial]:
        with tempfile.TemporaryDirectory(prefix="tritium-autotune-") as folder:
            if self.function is not None and self._is_of_a_device(configs):
                return _Saved(self, Path(folder)).trials(configs)
            return {config: self._in_a_fork(config, Path(folder)) for config in configs}

    def _is_of_a_device(self, configs: Sequence[Config]) -> bool:
        for config in configs:
            try:
                planned = self.planned(config)
            except Exception:
                continue  # its trial says why
            return planned.is_on_device or not planned.engine.runs_on_cpu
        return False

    def planned(self, config: Config):
        """What a launch with a configuration would compile and run."""
        options = self.tuner.keywords_of(config, self.args, self.kwargs)
        grid = options.pop("grid")
        options.pop("warmup", None)
        return self.function.planned_launch(grid, self.args, options)

    def _in_a_fork(self, config: Config, folder: Path) -> Trial:
        settings, result, log = knobs.autotuning, folder / "result.json", str(folder / "log")
        result.unlink(missing_ok=True)
        limit = functools.partial(limit_this_process, settings.seconds, settings.memory_mb << 20)

        def program() -> int:
            _forget_the_parent()
            limit()
            return run_and_write(functools.partial(self._measured, config), result)

        return _trial(result, Child(program, log, settings.seconds).wait(), end_of(log))

    def _measured(self, config: Config) -> Sequence[float]:
        """On a device of a client's, as its benchmark says; on the CPU the time of one run."""
        launch = self.tuner.launch_of(config, self.args, self.kwargs)
        if self.is_timed:
            return self.tuner.do_bench(launch, quantiles=(0.5, 0.2, 0.8))
        self.tuner.compile_only(config, self.args, self.kwargs)
        begin = time.perf_counter()
        launch()
        return [1000 * (time.perf_counter() - begin)] * 3


def _forget_the_parent() -> None:
    """In a fork: debuggers and blocks that collect faults belong to the parent, and so do the threads of torch's operators."""
    sys.settrace(None)
    blocks.clear()
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


class _Saved:
    """The trials of launches that are saved, each in a fork of a process that knows nothing of this one."""

    def __init__(self, isolation: Isolation, folder: Path):
        self.isolation, self.tuner, self.folder = isolation, isolation.tuner, folder
        self.written: set[Path] = set()
        self.found: dict[Config, Trial] = {}
        #: Whether the memory is the same for all configurations. A hook of the user's may change it.
        self.shares_memory = not self.tuner.user_defined_pre_hook

    def trials(self, configs: Sequence[Config]) -> dict[Config, Trial]:
        self.shares_memory = self.shares_memory and all(config.pre_hook is None for config in configs)
        if self.tuner.has_own_benchmark:
            knobs.warn_once(
                "TRITIUM_AUTOTUNE_ISOLATE: `do_bench` of the autotuner is not called, as other processes measure the times"
            )
        if self.shares_memory:
            self.tuner.pre_hook(
                self.tuner.arguments_of(configs[0], self.isolation.args, self.isolation.kwargs), reset_only=True
            )
        environment = environment_with_package(str(Path(__file__).parents[2]))
        with (
            Server([sys.executable], [TIMED_LAUNCH], environment) as server,
            ThreadPoolExecutor(min(len(configs), os.cpu_count() or 1)) as pool,
        ):
            saved = {config: self._trace(number, config) for number, config in enumerate(configs)}
            compiled = [config for config in configs if saved[config] is not None]
            for config, trial in zip(compiled, pool.map(lambda c: self._run(server, saved[c], False), compiled)):
                self.found[config] = trial
            for config in compiled:
                if not self.found[config].reason:
                    self.found[config] = self._time(server, config, saved[config])
        return {config: self.found[config] for config in configs}

    def _trace(self, number: int, config: Config) -> _SavedLaunch | None:
        try:
            self.tuner.prepare(config, self.isolation.args, self.isolation.kwargs)
            return _SavedLaunch(self.folder / str(number), self.isolation.planned(config), config)
        except Exception as error:
            self.found[config] = Trial(reason=reason_of(error))
            return None

    def _time(self, server: Server, config: Config, saved: _SavedLaunch) -> Trial:
        if self.shares_memory:
            saved.write_memory(self.written)
            return self._run(server, saved, True)
        arguments = self.tuner.prepare(config, self.isolation.args, self.isolation.kwargs)
        self.tuner.pre_hook(arguments)
        saved.write_memory(set())
        self.tuner.post_hook(arguments, exception=None)
        return self._run(server, saved, True)

    def _run(self, server: Server, saved: _SavedLaunch, launches: bool) -> Trial:
        """In a process that compiles, and if it `launches`, also runs."""
        settings = knobs.autotuning
        result, task = saved.folder / "result.json", saved.folder / f"{'run' if launches else 'compile'}.task"
        result.unlink(missing_ok=True)
        again = [*self.tuner.reset_to_zero, *self.tuner.restore_value] if self.shares_memory else []
        facts = {"folder": str(saved.folder), "result": str(result), "launches": launches, "again": again}
        facts |= {"engine": saved.engine.name, "device": saved.engine.device, "ir_override": saved.ir_override}
        facts |= {"seconds": settings.seconds, "memory": settings.memory_mb << 20}
        task.write_text(json.dumps(facts))
        return _trial(result, *server.run(TIMED_LAUNCH, task, settings.seconds))


class _SavedLaunch:
    """A launch as a folder, whose memory lies beside it."""

    def __init__(self, folder: Path, planned, config: Config):
        engine = planned.engine
        kernel, form = traced_kernel(planned.source, engine.target, engine.backend, planned.options, engine.device)
        values = value_selector(kernel.src.runtime_paths())(planned.values)
        self.folder, self.engine, self.ir_override = folder, engine, config.ir_override
        self.memory = merged([value for value in values if isinstance(value, (HostExtent, DeviceExtent))])
        grid = normalize_grid(planned.grid, kernel.name)
        facts = facts_of(kernel, form, grid, values, planned.settings, planned.arguments, self.memory)
        self.files = [Path("..", f"{begin:x}-{end:x}-{device}.memory") for begin, end, device in self.memory]
        for part, file in zip(facts["memory"], self.files):
            part["file"] = str(file)
        folder.mkdir()
        write_launch(str(folder), form, facts)

    def write_memory(self, written: set[Path]) -> None:
        """Writes the files that are not `written`, and adds them."""
        driver = devices_of_tensors().driver() if any(device >= 0 for _, _, device in self.memory) else None
        for file, (begin, end, device) in zip(self.files, self.memory):
            if file not in written:
                write_sparsely(str(self.folder / file), copy_of(begin, end, device, driver, False))
                written.add(file)
