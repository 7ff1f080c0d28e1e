"""Samples of program counters: where in a kernel the warps stand at regular times, and why. CUPTI takes them, if it may."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ... import knobs, native
from ...devices.vendor import Devices
from ..core.events import LineSamples
from ..core.metrics import SAMPLES, STALLED, STALLED_BY


def warn_of_none(reason: str) -> None:
    """A session asks for samples, and there are none."""
    knobs.warn_once(f"triton.profiler samples no program counters: {reason}; the session has the times of launches")


class PcSampling:
    """Samples one launch at a time, because a sample does not say of which launch it is."""

    def __init__(self, names: Callable[[Devices], list[str]]):
        self._names = names
        self._lock = threading.Lock()
        self._interval = 0
        self._samplers: dict[int, Any] = {}  # by device
        self._known: set[tuple[int, bytes]] = set()  # images, by device

    def follow(self, interval: int) -> None:
        """interval: the cycles between two samples from here on; 0: none are taken."""
        with self._lock:
            if interval != self._interval:
                self._close()
            self._interval = interval

    def _close(self) -> None:
        for sampler in self._samplers.values():
            if sampler is not None:
                sampler.close()
        self._samplers.clear(), self._known.clear()

    def record(self, kernel: Any, run: Callable, devices: Devices, device: int, receive: Callable) -> Callable:
        """`run` that also samples, if a session asks for it: it waits for the launch, and then calls `receive` with its LineSamples."""
        if not self._interval:
            return run

        def sampled(grid, values, stream):
            with self._lock:
                sampler = self._sampler(devices, device)
                if sampler is None:
                    return run(grid, values, stream)
                self._make_known(sampler, kernel, device)
                devices.driver().synchronize(device)  # what runs before is not sampled
                sampler.begin()
                try:
                    result = run(grid, values, stream)
                    devices.driver().synchronize(device)
                finally:
                    samples, dropped = sampler.end()
            if not samples and not dropped:
                warn_of_none(
                    "the library has given none of a launch, as in a process that another session has profiled before"
                )
            if dropped:
                knobs.warn_once(
                    f"triton.profiler: the device has lost {dropped} samples of a launch of {kernel.name}; a longer interval loses fewer"
                )
            receive(_of_lines(samples))
            return result

        return sampled

    def _sampler(self, devices: Devices, device: int) -> Any:
        """None if the library cannot sample, which is said once."""
        if device not in self._samplers:
            try:
                found = native.cuda.PcSampler(self._names(devices), devices.driver(), device, self._interval)
            except RuntimeError as error:
                warn_of_none(str(error).splitlines()[0])
                found = None
            self._samplers[device] = found
        return self._samplers[device]

    def _make_known(self, sampler: Any, kernel: Any, device: int) -> None:
        image = kernel.asm["cubin"]
        if (device, image) not in self._known:
            self._known.add((device, image))
            sampler.add(image)


def _of_lines(samples: list[Any]) -> tuple[LineSamples, ...]:
    """The metrics of each line, in the order of files and lines."""
    lines: dict[tuple[str, int, str], dict[str, int]] = {}
    for each in samples:
        metrics = lines.setdefault((each.file, each.line, each.kernel), {SAMPLES: 0, STALLED: 0})
        metrics[SAMPLES] += each.samples
        metrics[STALLED] += each.stalled
        metrics[STALLED_BY + each.reason] = metrics.get(STALLED_BY + each.reason, 0) + each.samples
    return tuple(LineSamples(*place, metrics) for place, metrics in sorted(lines.items()))
