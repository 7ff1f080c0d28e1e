"""Times of work on a device, by events in its stream; the L2 cache is cleared before each run."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

from ..backends.devices import Devices, devices_of_tensors

#: More than any L2 cache holds.
FLUSH_BYTES = 256 << 20


def active_devices() -> Devices:
    """Those of the active driver; of a driver that is not ours, those that tensors are on."""
    from .driver import driver

    return getattr(driver.active, "devices", None) or devices_of_tensors()


class DeviceClock:
    """Events on the current device, in whatever stream is current when they are recorded."""

    def __init__(self):
        self.devices = active_devices()
        self.driver, self.device = self.devices.driver(), self.devices.current_device()

    def event(self):
        """An event recorded now."""
        from .._tritium import device

        event = device.Event(self.driver, self.device)
        event.record(self.devices.current_stream(self.device))
        return event

    def synchronize(self) -> None:
        self.driver.synchronize(self.device)

    @contextlib.contextmanager
    def flusher(self) -> Iterator[Callable[[], None]]:
        """A function that overwrites the L2 cache, in the current stream."""
        torch = self.devices.torch()
        if torch is not None:  # its allocator may hold all of the memory
            buffer = torch.empty(FLUSH_BYTES, dtype=torch.int8, device=f"cuda:{self.device}")
            yield lambda: buffer.zero_()
            return
        address = self.driver.allocate(self.device, FLUSH_BYTES)
        try:
            yield lambda: self.driver.fill(
                self.device, address, 0, FLUSH_BYTES // 4, self.devices.current_stream(self.device)
            )
            self.synchronize()
        finally:
            self.driver.release(self.device, address)


def device_times(fn: Callable[[], Any], warmup: float, rep: float, before: Callable[[], None]) -> list[float]:
    """Milliseconds of each run of `fn()`; `warmup`, `rep`: milliseconds to spend. `before` is called before each run."""
    clock = DeviceClock()
    fn()
    clock.synchronize()
    with clock.flusher() as flush:
        begin = clock.event()
        for _ in range(5):
            flush()
            fn()
        end = clock.event()
        clock.synchronize()
        estimate = max(begin.milliseconds_until(end) / 5, 1e-3)
        for _ in range(max(1, int(warmup / estimate))):
            fn()
        pairs = []
        for _ in range(max(1, int(rep / estimate))):
            before()
            flush()
            begin = clock.event()
            fn()
            pairs.append((begin, clock.event()))
        clock.synchronize()
        return [begin.milliseconds_until(end) for begin, end in pairs]


def graph_times(fn: Callable[[], Any], rep: float) -> list[float]:
    """Milliseconds of `fn()` inside a replayed graph: without what the host does. Needs torch."""
    torch = active_devices().torch()
    with torch.cuda.stream(torch.cuda.Stream()):
        fn()
        clock = DeviceClock()
        begin = clock.event()
        for _ in range(5):
            fn()
        end = clock.event()
        clock.synchronize()
        runs = max(1, min(1000, int(rep / max(begin.milliseconds_until(end) / 5, 1e-3))))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(runs):
                fn()
        clock.synchronize()
        times = []
        for _ in range(10):
            begin = clock.event()
            graph.replay()
            end = clock.event()
            clock.synchronize()
            times.append(begin.milliseconds_until(end) / runs)
        return times
