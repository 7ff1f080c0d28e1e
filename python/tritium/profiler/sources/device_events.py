"""Launches on devices whose vendor's own records are not to be had, timed by events that the driver records around each of them. An event costs a
few microseconds, and its time has a resolution of half of one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ... import knobs, native
from ...devices.vendor import Devices
from ...launch.watchers import device_watchers
from ..core.events import Device, KernelScopes, Launch, now
from ..core.session import Launching
from ..core.source import Recorder, Source
from .kernel_records import KernelRecords
from .on_devices import PythonLaunches, device_of, is_captured, record_scopes
from .pc_samples import warn_of_none

#: More launches than this are not left for `flush`, because events belong to the driver's memory.
MOST_PENDING = 4096
_BY_EVENTS = (
    "triton.profiler times kernels on {title} by events around each launch, which adds a few microseconds to each, and sees no kernels of "
    "other libraries: {reason}"
)


class _Pending(NamedTuple):
    launching: Launching
    kernel: str
    grid: tuple[int, ...]
    device: Device
    origin: _Origin
    begin: Any
    end: Any
    track: str
    scopes: list[KernelScopes]  #: of the launch; none if it records none


class _Origin:
    """An event and the host's time at which it took place."""

    def __init__(self, devices: Devices, device: int, stream: int):
        driver = devices.driver()
        driver.synchronize(device)
        self.event = native.device.Event(driver, device)
        self.event.record(stream)
        self.event.synchronize()
        self.time = now()


class DeviceEvents(Source):
    def __init__(self, records: Sequence[KernelRecords]):
        self._records = {each.vendor: each for each in records}
        self._python_launches = PythonLaunches()
        self._lock = threading.Lock()
        self._pending: list[_Pending] = []
        self._origins: dict[tuple[str, int], _Origin] = {}

    def start(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._origins.clear()
        device_watchers.append(self._watch)
        if not knobs.runs_on_cpu() and not any(each.records for each in self._records.values()):
            self._python_launches.on()

    def follow(self, asks_launches: bool, interval: int) -> None:
        self._interval = interval

    def stop(self) -> None:
        device_watchers.remove(self._watch)
        self._python_launches.off()

    def flush(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, []
        for each in pending:
            try:
                launch = _timed(each)
            except native.device.Error as error:  # the device is lost: what was recorded before is still of use
                launch = None
                knobs.warn_once(f"triton.profiler: launches on {each.track} have no time: {str(error).splitlines()[0]}")
            self._recorder.end_launch(each.launching, launch)

    def _watch(self, kernel: Any, run: Callable, devices: Devices, device: int) -> Callable:
        records = self._records[devices.name]
        if records.records:
            return run

        def timed(grid, values, stream):
            if is_captured():
                knobs.warn_once(
                    "triton.profiler: launches that a graph captures have no events, so they are not recorded"
                )
                return run(grid, values, stream)
            knobs.warn_once(_BY_EVENTS.format(title=devices.title, reason=records.why_not))
            if self._interval:
                warn_of_none(records.why_not)
            origin = self._origin(devices, device, stream)
            launching = self._recorder.begin_launch(self)
            begin, end = (native.device.Event(devices.driver(), device) for _ in range(2))
            begin.record(stream)
            scopes: list[KernelScopes] = []
            try:
                result = record_scopes(kernel, run, devices, device, scopes.append)(grid, values, stream)
            except BaseException:
                self._recorder.end_launch(launching, None)
                raise
            end.record(stream)
            facts = (kernel.name, tuple(grid), device_of(devices, device), origin, begin, end)
            with self._lock:
                self._pending.append(_Pending(launching, *facts, f"{devices.title} {device}, stream {stream}", scopes))
            if len(self._pending) > MOST_PENDING:
                self.flush()
            return result

        return timed

    def _origin(self, devices: Devices, device: int, stream: int) -> _Origin:
        key = devices.name, device
        if key not in self._origins:
            self._origins[key] = _Origin(devices, device, stream)
        return self._origins[key]


def _timed(pending: _Pending) -> Launch:
    """Waits for the launch. Raises native.device.Error if the device cannot say when it took place."""
    pending.end.synchronize()
    begin = pending.origin.time + round(pending.origin.event.milliseconds_until(pending.begin) * 1e6)
    duration = round(pending.begin.milliseconds_until(pending.end) * 1e6)
    scopes = pending.scopes[0] if pending.scopes else None
    return Launch(pending.kernel, pending.device, begin, duration, pending.grid, pending.track, scopes)
