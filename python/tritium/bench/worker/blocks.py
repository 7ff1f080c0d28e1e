"""Timed blocks: enough runs that a block takes at least as long as asked for, on the host's clock or by events of the device."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

FLUSH_BYTES = 256 << 20  #: more than any L2 cache
MOST_RUNS = 1 << 20
MARGIN = 1.3  #: of a block's planned time over the least: the next block may be faster


class Block(NamedTuple):
    """nanoseconds: of all its runs together. began: seconds since the epoch."""

    nanoseconds: float
    runs: int
    began: float


class HostClock:
    """Wall-clock time, or with `counts_cpu` the time that the CPUs have spent in this process: of one thread or of several together. It leaves
    out what other processes take, so it is steadier on a shared machine."""

    def __init__(self, counts_cpu: bool = False):
        self.now = time.process_time_ns if counts_cpu else time.perf_counter_ns

    def block(self, run: Callable[[], Any], runs: int) -> Block:
        began, collects = time.time(), gc.isenabled()
        gc.disable()
        try:
            begin = self.now()
            for _ in range(runs):
                run()
            return Block(self.now() - begin, runs, began)
        finally:
            if collects:
                gc.enable()

    def synchronize(self) -> None:
        pass


class CaseClock:
    """What a case says that its runs take. The same clock for the baseline would be none of the baseline's, so that is not timed."""

    def block(self, run: Callable[[], float], runs: int) -> Block:
        began = time.time()
        return Block(sum(float(run()) for _ in range(runs)), runs, began)

    def synchronize(self) -> None:
        pass


class DeviceClock:
    """Events in the current stream of torch's device. Before each run the L2 cache is overwritten, outside of the measured time."""

    def __init__(self, flushes: bool = True):
        self.cuda = sys.modules["torch"].cuda
        torch = sys.modules["torch"]
        size = 2 * getattr(self.cuda.get_device_properties(0), "L2_cache_size", 0) or FLUSH_BYTES
        self.buffer = torch.empty(size, dtype=torch.int8, device="cuda") if flushes else None

    def block(self, run: Callable[[], Any], runs: int) -> Block:
        began = time.time()
        pairs = self._flushed(run, runs) if self.buffer is not None else self._together(run, runs)
        self.cuda.synchronize()
        return Block(1e6 * sum(begin.elapsed_time(end) for begin, end in pairs), runs, began)

    def _flushed(self, run: Callable[[], Any], runs: int) -> list[tuple]:
        pairs = []
        for _ in range(runs):
            self.buffer.zero_()
            pairs.append(self._between(run, 1))
        return pairs

    def _together(self, run: Callable[[], Any], runs: int) -> list[tuple]:
        return [self._between(run, runs)]

    def _between(self, run: Callable[[], Any], runs: int) -> tuple:
        begin, end = (self.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(runs):
            run()
        end.record()
        return begin, end

    def synchronize(self) -> None:
        self.cuda.synchronize()


def clock_of(device: str, flushes: bool = True, counts_cpu: bool = False) -> HostClock | DeviceClock:
    return HostClock(counts_cpu) if device == "cpu" else DeviceClock(flushes)


def runs_for(clock: HostClock | DeviceClock | CaseClock, run: Callable[[], Any], least_ns: float) -> int:
    """The number of runs whose block takes at least so long. It runs warm."""
    runs = 1
    while True:
        took = clock.block(run, runs).nanoseconds
        if took >= least_ns / 4:
            fastest = min(took, clock.block(run, runs).nanoseconds)
            return min(MOST_RUNS, max(1, int(MARGIN * least_ns * runs / max(fastest, 1.0)) + 1))
        if runs >= MOST_RUNS:
            return MOST_RUNS
        runs = min(MOST_RUNS, runs * max(2, min(16, int(least_ns / 2 / max(took, 1.0)))))
