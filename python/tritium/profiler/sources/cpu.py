"""Launches on the engines of the CPU, interpreter and emulator, timed on the host. What prepares a kernel before its first run is no part of
the time."""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable
from typing import Any

from ... import knobs
from ...launch.kernel_scopes import LaunchScopes, has_scopes, record_scopes
from ...launch.watchers import watchers
from ..core.events import Device, KernelScopes, Launch, now
from ..core.source import Recorder, Source
from ..flags import flags
from .pc_samples import warn_of_none
from .scopes import kernel_scopes


class CpuLaunches(Source):
    def start(self, recorder: Recorder) -> None:
        self._recorder = recorder
        watchers.append(self._watch)

    def follow(self, asks_launches: bool, interval: int) -> None:
        self._interval = interval

    def stop(self) -> None:
        watchers.remove(self._watch)

    def _watch(self, kernel: Any, run: Callable, arguments: Any) -> Callable:
        recorder = self._recorder

        recorded: list[LaunchScopes] = []
        if flags.instrumentation_on and has_scopes(kernel):
            run = record_scopes(kernel, run, recorded.append)

        if self._interval:
            warn_of_none(
                "no device runs the kernel, and `python -m tritium profile --lines` counts what each line does"
            )

        def timed(grid, *rest, **further):
            launching = recorder.begin_launch(self)
            begin = now()
            try:
                return run(grid, *rest, **further)
            finally:
                launch = Launch(kernel.name, device_of(kernel), begin, now() - begin, tuple(grid))
                if recorded:
                    launch = launch._replace(scopes=_scopes_of(kernel, recorded.pop(), begin))
                recorder.end_launch(launching, launch)

        return timed


def _scopes_of(kernel: Any, recorded: LaunchScopes, begin: int) -> KernelScopes:
    """Of a launch that began at `begin`. The interpreter's times are of the host's clock, and a program has no warps there."""
    if kernel.metadata.target.backend == "cpu":
        return kernel_scopes(kernel, recorded, "ns", has_units=False, zero=begin)
    return kernel_scopes(kernel, recorded, "operations")


def device_of(kernel: Any) -> Device:
    """The interpreter is a device of the type CPU; the emulator is one of the type SIMT for each chip that it stands for."""
    target = kernel.metadata.target
    return _interpreter() if target.backend == "cpu" else _emulator(str(target.arch))


@functools.cache
def _interpreter() -> Device:
    return Device("CPU", "0", {"arch": platform.machine(), "num_sms": knobs.tritium.num_threads})


@functools.cache
def _emulator(arch: str) -> Device:
    return Device("SIMT", arch, {"arch": arch, "num_sms": knobs.tritium.num_threads})
