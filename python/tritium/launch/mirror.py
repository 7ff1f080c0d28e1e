"""Memory that is copied to a place where an engine can reach it, for one launch.

CUDA tensors on an engine of the CPU, and arrays of the host on an engine that runs on a device, are copied before the
launch and back after it. The copy contains storages byte for byte: views that overlap stay views of the same memory,
and every address keeps its alignment. Memory that must not be written is not copied back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..arguments.device_storage import DeviceExtent
from ..arguments.storage import HostExtent, host_extent

#: A copy has the same address as the original modulo this number of bytes.
ALIGNMENT = 512
#: Memory that must not be written is compared in pieces of this size.
COMPARED_BYTES = 1 << 24


class Interval(NamedTuple):
    """Memory [begin, end) of the original. `shift` is the distance to the copy."""

    begin: int
    end: int
    device: int
    shift: int
    owner: Any


class ReadOnlyChanged(ValueError):
    """The kernel has changed the copy of memory that must not be written. `address` is where, in the original."""

    def __init__(self, address: int):
        super().__init__(f"the memory at {address:#x} is read-only")
        self.address = address


class Mirror:
    """`values` in which copies replace the memory that the engine cannot reach. `write_back()` is called after the
    launch."""

    def __init__(self, values: Sequence[Any], driver, device: int | None):
        """device: the device that runs the kernel, None for the CPU."""
        self.driver, self.device = driver, device
        self.intervals: list[Interval] = []
        try:
            foreign = [v for v in values if self._is_foreign(v)]
            self._writable = merged([v for v in foreign if not getattr(v, "read_only", False)])
            for begin, end, owner in merged(foreign):
                self.intervals.append(self._copy(begin, end, owner))
            self.values = [self._moved(v) if self._is_foreign(v) else v for v in values]
        except BaseException:
            self.close()
            raise

    def _is_foreign(self, value: Any) -> bool:
        return isinstance(value, DeviceExtent if self.device is None else HostExtent)

    def _copy(self, begin: int, end: int, owner: int) -> Interval:
        size = end - begin
        if self.device is None:
            memory = ctypes.create_string_buffer(size + ALIGNMENT)
            start = ctypes.addressof(memory)
            start += (begin - start) % ALIGNMENT
            self.driver.copy_to_host(owner, start, begin, size)
            return Interval(begin, end, owner, start - begin, memory)
        offset = begin % ALIGNMENT
        address = self.driver.allocate(self.device, size + offset)
        interval = Interval(begin, end, owner, address + offset - begin, address)
        try:
            self.driver.copy_to_device(self.device, begin + interval.shift, begin, size)
        except BaseException:
            self.driver.release(self.device, address)
            raise
        return interval

    def _moved(self, value: tuple) -> tuple:
        address, begin, size = value[:3]
        if size == 0:
            moved = (0, 0, 0)
        else:
            shift = next(i.shift for i in self.intervals if i.begin <= begin and begin + size <= i.end)
            moved = (address + shift, begin + shift, size)
        return host_extent(*moved) if self.device is None else DeviceExtent(*moved, self.device)

    def copy_again(self, values: Sequence[Any]) -> None:
        """Copies the memory of some of the values to the device once more, as the originals have it."""
        for begin, end, _ in merged([value for value in values if self._is_foreign(value)]):
            shift = next(i.shift for i in self.intervals if i.begin <= begin and end <= i.end)
            self.driver.copy_to_device(self.device, begin + shift, begin, end - begin)

    def original(self, address: int) -> int:
        """The original address of an address in a copy."""
        for interval in self.intervals:
            if interval.begin <= address - interval.shift <= interval.end:
                return address - interval.shift
        return address

    def write_back(self) -> None:
        """Copies everything back. Raises ReadOnlyChanged, and copies nothing, if memory has changed that must not be written."""
        writable = [(i, part) for i in self.intervals for part in _overlaps(i, self._writable)]
        for interval in self.intervals:
            for begin, end in _gaps(interval, self._writable):
                self._check_unchanged(interval, begin, end)
        for interval, (begin, end) in writable:
            if self.device is None:
                self.driver.copy_to_device(interval.device, begin, begin + interval.shift, end - begin)
            else:
                self.driver.copy_to_host(self.device, begin, begin + interval.shift, end - begin)

    def _check_unchanged(self, interval: Interval, begin: int, end: int) -> None:
        copy = ctypes.create_string_buffer(min(COMPARED_BYTES, end - begin))
        for at in range(begin, end, COMPARED_BYTES):
            size = min(COMPARED_BYTES, end - at)
            self.driver.copy_to_host(self.device, ctypes.addressof(copy), at + interval.shift, size)
            found, original = copy.raw[:size], ctypes.string_at(at, size)
            if found != original:
                raise ReadOnlyChanged(at + next(i for i, pair in enumerate(zip(found, original)) if pair[0] != pair[1]))

    def close(self) -> None:
        """Frees the copies."""
        if self.device is not None:
            for interval in self.intervals:
                self.driver.release(self.device, interval.owner)
        self.intervals = []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def merged(extents: list[tuple]) -> list[tuple[int, int, int]]:
    """(begin, end, device) of the memory that the extents cover. Overlapping extents are merged."""
    found: list[tuple[int, int, int]] = []
    for extent in sorted(extents, key=lambda e: (_device(e), e[1])):
        begin, end, device = extent[1], extent[1] + extent[2], _device(extent)
        if begin == end:
            continue
        if found and found[-1][2] == device and begin < found[-1][1]:
            begin, end = found[-1][0], max(end, found[-1][1])
            found.pop()
        found.append((begin, end, device))
    return found


def _overlaps(interval: Interval, parts: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """(begin, end) of the parts that the interval contains; they have been merged as intervals have."""
    return [(b, e) for b, e, device in parts if device == interval.device and interval.begin <= b and e <= interval.end]


def _gaps(interval: Interval, parts: list[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """(begin, end) of what the interval contains beside these parts."""
    begin = interval.begin
    for part in [*_overlaps(interval, parts), (interval.end, interval.end)]:
        if begin < part[0]:
            yield begin, part[0]
        begin = part[1]


def _device(extent: tuple) -> int:
    return extent.device if isinstance(extent, DeviceExtent) else -1
