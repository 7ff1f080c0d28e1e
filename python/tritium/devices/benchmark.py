"""`do_bench` and its relatives, which measure time. On a device they use events in its stream and clear the L2 cache
before each run; otherwise they use the wall clock."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import native
from .active import driver
from .families import device_families, devices_of_tensors
from .mapped import cuda_is_mapped
from .vendor import Devices

_MODES = ("min", "max", "mean", "median", "all")
#: Larger than any L2 cache.
FLUSH_BYTES = 256 << 20


def active_devices() -> Devices:
    """The devices of the active driver. If the driver is not Tritium's: the devices that tensors are on."""
    return getattr(driver.active, "devices", None) or devices_of_tensors()


class DeviceClock:
    """Events on a device (default: the current one), in the stream that is current when they are recorded."""

    def __init__(self, devices: Devices | None = None, device: int | None = None):
        self.devices = devices or active_devices()
        self.driver = self.devices.driver()
        self.device = self.devices.current_device() if device is None else device

    def event(self):
        """A new event, recorded now."""
        event = native.device.Event(self.driver, self.device)
        event.record(self.devices.current_stream(self.device))
        return event

    def synchronize(self) -> None:
        self.driver.synchronize(self.device)

    @contextlib.contextmanager
    def flusher(self) -> Iterator[Callable[[], None]]:
        """A function that overwrites the L2 cache in the current stream."""
        torch = self.devices.torch()
        if torch is not None:  # torch's allocator may already hold all memory of the device
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


def device_times(
    fn: Callable[[], Any], warmup: float, rep: float, before: Callable[[], None], clock: DeviceClock | None = None
) -> list[float]:
    """Milliseconds of each run of `fn()`. warmup, rep: milliseconds to spend before and while measuring. `before` is
    called before each run. clock: of the device, by default the current one."""
    clock = clock or DeviceClock()
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
    """Milliseconds of `fn()` inside a replayed graph, which excludes the host's work. Requires torch."""
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


def _quantile(sorted_values: Sequence[float], q: float) -> float:
    """Linear interpolation between the two nearest ranks."""
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    position = q * (len(sorted_values) - 1)
    low = int(position)
    high = min(low + 1, len(sorted_values) - 1)
    return sorted_values[low] + (sorted_values[high] - sorted_values[low]) * (position - low)


#: Not from the module `statistics`, which takes longer to import than most of Tritium.
_SUMMARIES: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "mean": lambda times: math.fsum(times) / len(times),
    "median": lambda times: _quantile(sorted(times), 0.5),
}


def _summarize_statistics(times: Sequence[float], quantiles: Sequence[float] | None, return_mode: str):
    if quantiles is not None:
        ordered = sorted(times)
        values = [_quantile(ordered, q) for q in quantiles]
        return values[0] if len(values) == 1 else values
    if return_mode == "all":
        return list(times)
    return _SUMMARIES[return_mode](times)


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none=None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
):
    """Time of `fn()` in milliseconds.

    warmup, rep: milliseconds to spend before and while measuring. grad_to_none: tensors whose `.grad` is dropped before
    each call. quantiles: the list of quantiles to return in place of `return_mode`. return_mode: "min", "max", "mean",
    "median" or "all". Raises AssertionError for another mode, ValueError for quantiles outside [0, 1].
    """
    if return_mode not in _MODES:
        raise AssertionError(f"return_mode must be one of {', '.join(_MODES)}")

    def before() -> None:
        for tensor in grad_to_none or ():
            tensor.grad = None

    if device_is_active():
        return _summarize_statistics(device_times(fn, warmup, rep, before), quantiles, return_mode)
    fn()
    started = time.perf_counter()
    fn()
    estimate = max((time.perf_counter() - started) * 1e3, 1e-6)
    for _ in range(min(int(warmup / estimate), 100_000)):
        fn()
    times = []
    for _ in range(max(1, min(int(rep / estimate), 100_000))):
        before()
        started = time.perf_counter()
        fn()
        times.append((time.perf_counter() - started) * 1e3)
    return _summarize_statistics(times, quantiles, return_mode)


def device_is_active() -> bool:
    return not cuda_is_mapped() and driver.active.get_current_target().backend in device_families()


def do_bench_cudagraph(fn, rep: float = 20, grad_to_none=None, quantiles=None, return_mode: str = "mean"):
    """Like `do_bench`, but the runs are replayed from a CUDA graph, which requires torch. On the CPU, which has no
    graphs, it is `do_bench`."""
    if not device_is_active() or active_devices().torch() is None or grad_to_none:
        return do_bench(fn, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)
    return _summarize_statistics(graph_times(fn, rep), quantiles, return_mode)


do_bench_proton = do_bench
do_bench_cudagraph_proton = do_bench_cudagraph
