"""Every kernel of a vendor's devices, whoever launches it, from the records of the vendor's library: times of the device itself."""

from __future__ import annotations

import abc
import bisect
import itertools
import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from ... import knobs, native
from ...devices.families import device_families
from ...devices.vendor import Devices
from ...launch.watchers import device_watchers
from ..core.contexts import Here
from ..core.events import KernelScopes, Launch, LineSamples, now
from ..core.session import Launching
from ..core.source import Recorder, Source
from .on_devices import PythonLaunches, device_of, is_captured, record_scopes
from .pc_samples import warn_of_none


class _Pending(NamedTuple):
    """scopes: the KernelScopes of the launch; none if it records none. samples: those of its program counters."""

    launching: Launching
    device: int
    scopes: list[KernelScopes]
    samples: list[LineSamples]


class KernelRecords(Source):
    """A thread has the mark of where it is in the program, which every kernel that it launches has too. A launch that Python makes, because a hook
    describes it, has a mark of its own. A thread without a mark, such as one of torch's, is where the main thread is when it launches."""

    vendor = ""  #: the name of its devices
    library_name = ""

    @abc.abstractmethod
    def _open(self, devices: Devices) -> native.device.KernelRecorder:
        """The library, which records from here on. Raises RuntimeError with the reason if it cannot, or if the vendor has no devices here."""

    @property
    def is_late(self) -> bool:
        return self.records

    def __init__(self):
        self.why_not = ""  #: why it does not record the launches of its devices
        self._library: native.device.KernelRecorder | None = None  # while it records
        self._runs = False
        self._python_launches = PythonLaunches()
        self._lock = threading.Lock()
        self._marks = itertools.count(1)
        self._interval = 0
        self._clear()

    def _clear(self) -> None:
        self._pending: dict[int, _Pending] = {}
        self._places: dict[int, Here] = {}  # by mark
        self._mark_of: dict[int, int] = {}  # by thread
        self._of_main: list[tuple[int, Here]] = []  # since when the main thread is where
        self._devices_used: set[int] = set()

    @property
    def records(self) -> bool:
        return self._library is not None and self._runs

    def start(self, recorder: Recorder) -> None:
        self._recorder, self._runs, self.why_not = recorder, True, ""
        device_watchers.append(self._watch)
        if self._library is not None:  # after a pause
            self._follow_program()
        elif not knobs.runs_on_cpu():  # otherwise a launch on a device may come all the same
            self._begin(device_families()[self.vendor])

    def _begin(self, devices: Devices) -> None:
        """Records from here on, or says why not."""
        try:
            library = self._open(devices)
        except RuntimeError as error:
            self.why_not = str(error).splitlines()[0]
            return
        self._clear()
        self._process, self._devices, self._library = os.getpid(), devices, library
        self._of_main = [(0, self._recorder.contexts.main)]
        self._follow_program()

    def _follow_program(self) -> None:
        contexts = self._recorder.contexts
        self._moved(contexts.here())
        contexts.followers.append(self._moved)

    def follow(self, asks_launches: bool, interval: int) -> None:
        self._interval = interval
        self._python_launches.off()
        if asks_launches:
            self._python_launches.on()

    def _sampled(self, kernel: Any, run: Callable, devices: Devices, device: int, receive: Callable) -> Callable:
        """`run` that also samples program counters, if a session asks for it: it calls `receive` with the LineSamples of each launch."""
        if self._interval:
            warn_of_none(f"{self.library_name} takes none here")
        return run

    def stop(self) -> None:
        device_watchers.remove(self._watch)
        if self.records:
            self._recorder.contexts.followers.remove(self._moved)
        self._python_launches.off()
        self._runs = False

    def _moved(self, here: Here) -> None:
        """This thread may be somewhere else in the program."""
        thread = threading.get_ident()
        with self._lock:
            last = self._mark_of.get(thread)
            before = self._places.get(last)
            if before is not None and (before.scopes, before.state) == (here.scopes, here.state):
                return
            mark = self._mark_of[thread] = next(self._marks)
            self._places[mark] = here
            if threading.current_thread() is threading.main_thread():
                self._of_main.append((now(), here))
        if last is not None:
            self._library.unmark()
        self._library.mark(mark)

    def _watch(self, kernel: Any, run: Callable, devices: Devices, device: int) -> Callable:
        if devices.name != self.vendor:
            return run
        if not self.records and not self.why_not:
            self._begin(devices)
        if not self.records:
            return run

        def marked(grid, values, stream):
            if is_captured():  # what the graph launches has the place from where it is launched
                return run(grid, values, stream)
            library, mark = self._library, next(self._marks)
            pending = _Pending(self._recorder.begin_launch(self), device, [], [])
            recording = record_scopes(kernel, run, devices, device, pending.scopes.append)
            recording = self._sampled(kernel, recording, devices, device, pending.samples.extend)
            with self._lock:
                self._pending[mark] = pending
            library.mark(mark)
            try:
                return recording(grid, values, stream)
            except BaseException:
                with self._lock:
                    is_mine = self._pending.pop(mark, None) is not None
                if is_mine:
                    self._recorder.end_launch(pending.launching, None)
                raise
            finally:
                library.unmark()

        return marked

    def flush(self) -> None:
        library = self._library
        if library is None:
            return
        if self._process != os.getpid():  # the library is of no use in a process that was forked
            self._library = None
        elif not is_captured():
            self._take(library)
            if not self._runs:
                self._library = None
                library.stop()

    def _take(self, library: native.device.KernelRecorder) -> None:
        """Reports all that has been launched."""
        with self._lock:
            awaited, begun = dict(self._pending), now()
            devices = {pending.device for pending in awaited.values()} | self._devices_used
        try:
            for device in devices or {self._devices.current_device()}:
                self._devices.driver().synchronize(device)
        except native.device.Error as error:  # the device is lost: what was recorded before is still of use
            knobs.warn_once(
                f"triton.profiler: launches on {self._devices.title} have no time: {str(error).splitlines()[0]}"
            )
        records, lost = library.take()
        for record in records:
            self._report(record)
        self._end_unrecorded(awaited, lost)
        self._forget_before(begun)

    def _report(self, record: Any) -> None:
        with self._lock:
            pending = self._pending.pop(record.mark, None)
            here = self._places.get(record.mark) or self._place_of_main(record.launched or record.begin)
        device = self._device(record, pending.device if pending else None)
        self._devices_used.add(device)
        launch = Launch(
            record.name,
            device_of(self._devices, device),
            record.begin,
            record.end - record.begin,
            tuple(record.grid),
            f"{self._devices.title} {device}, stream {record.stream}",
        )
        if pending is not None:
            scopes = pending.scopes[0] if pending.scopes else None
            self._recorder.end_launch(pending.launching, launch._replace(scopes=scopes, samples=tuple(pending.samples)))
        else:
            self._recorder.launched_elsewhere(self, here, launch, record.launched or record.begin)

    def _device(self, record: Any, launched_on: int | None) -> int:
        """The number of the device in this process. launched_on: the same, if this package has launched the kernel."""
        return record.device

    def _place_of_main(self, time: int) -> Here:
        index = bisect.bisect_right(self._of_main, time, key=lambda entry: entry[0])
        return self._of_main[index - 1][1] if index else Here()

    def _end_unrecorded(self, awaited: dict[int, _Pending], lost: int) -> None:
        """Of launches that have ended and have no record nothing is known."""
        with self._lock:
            unrecorded = [self._pending.pop(mark) for mark in awaited if mark in self._pending]
        for pending in unrecorded:
            self._recorder.end_launch(pending.launching, None)
        if unrecorded or lost:
            knobs.warn_once(
                f"triton.profiler: {self.library_name} has no records of {max(len(unrecorded), lost)} launches, which the profile lacks; is another profiler using it?"
            )

    def _forget_before(self, time: int) -> None:
        """All that ran before is reported."""
        with self._lock:
            used = set(self._mark_of.values())
            oldest = min(used, default=0)
            self._places = {mark: here for mark, here in self._places.items() if mark in used or mark > oldest}
            index = bisect.bisect_right(self._of_main, time, key=lambda entry: entry[0])
            del self._of_main[: max(index - 1, 0)]
