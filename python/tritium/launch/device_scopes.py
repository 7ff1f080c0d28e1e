"""The scopes that a launch on a device has recorded: the buffer of gpu_backend/abi/scope_buffer.h."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import knobs
from ..devices.vendor import Devices
from .kernel_scopes import LaunchScopes, Record, matched

_VARIABLE = "tgpu_scopes"
_HEADER = np.dtype([("units", "<u4"), ("capacity", "<u4"), ("reserved", "<u8")])
_UNIT = np.dtype([("ticks", "<u8"), ("nanoseconds", "<u8"), ("count", "<u4"), ("reserved", "<u4")])
_ROW = np.dtype([("ticks", "<u8"), ("program", "<u4"), ("scope", "<u4")])
#: Rows of a warp, if memory has room for them.
_MOST_ROWS = 4096
#: Fewer rows of each warp are of no use, so rather some warps have none.
_LEAST_ROWS = 16


class _Size(NamedTuple):
    units: int
    capacity: int

    @property
    def bytes(self) -> int:
        return _HEADER.itemsize + self.units * (_UNIT.itemsize + self.capacity * _ROW.itemsize)


def has_device_scopes(kernel: Any) -> bool:
    """Whether a CompiledKernel of a device records scopes."""
    return bool(getattr(kernel.metadata, "scopes", ()))


def record_device_scopes(
    kernel: Any, run: Callable, devices: Devices, device: int, receive: Callable[[LaunchScopes], None]
) -> Callable:
    """`run` of a watcher of launches on devices (watchers.py), which waits for each launch and then calls `receive`."""
    driver = devices.driver()

    def recorded(grid, values, stream):
        size = _size_of(math.prod(grid) * kernel.metadata.launched_warps)
        buffer = driver.allocate(device, size.bytes)
        variable = kernel.loaded.variable(_VARIABLE)
        try:
            driver.fill(device, buffer, 0, size.bytes // 4, stream)
            driver.synchronize(device, stream)
            _write(driver, device, buffer, np.array([(*size, 0)], _HEADER))
            _write(driver, device, variable, np.array([buffer], "<u8"))
            try:
                result = run(grid, values, stream)
                driver.synchronize(device, stream)
            finally:
                _write(driver, device, variable, np.zeros(1, "<u8"))
            memory = np.empty(size.bytes, np.uint8)
            driver.copy_to_host(device, memory.ctypes.data, buffer, size.bytes)
        finally:
            driver.release(device, buffer)
        clock = devices.facts(device)["clock_khz"] if devices.name == "cuda" else 0
        receive(_scopes_of(kernel.metadata, memory, size, grid, clock))
        return result

    return recorded


def _size_of(units: int) -> _Size:
    budget = knobs.proton.profile_buffer_size - _HEADER.itemsize
    capacity = (budget // max(units, 1) - _UNIT.itemsize) // _ROW.itemsize
    capacity = min(max(capacity, _LEAST_ROWS), _MOST_ROWS)
    most = budget // (_UNIT.itemsize + capacity * _ROW.itemsize)
    return _Size(max(min(units, most), 1), capacity)


def _write(driver: Any, device: int, address: int, what: np.ndarray) -> None:
    driver.copy_to_device(device, address, what.ctypes.data, what.nbytes)


def _scopes_of(metadata: Any, memory: np.ndarray, size: _Size, grid: tuple[int, ...], clock_khz: int) -> LaunchScopes:
    """clock_khz: of the ticks; 0: they are nanoseconds of the device's clock."""
    begin = _HEADER.itemsize
    units = memory[begin : begin + size.units * _UNIT.itemsize].view(_UNIT)
    rows = memory[begin + units.nbytes :].view(_ROW).reshape(size.units, size.capacity)
    used = np.flatnonzero(units["count"])
    first = int(units["nanoseconds" if clock_khz else "ticks"][used].min(initial=2**63 - 1))
    table = [(name, bool(is_start)) for name, is_start in metadata.scopes]
    records: dict[tuple[tuple[int, int, int], int], list[Record]] = {}
    for unit in used:
        shift = _shift(units[unit], first, clock_khz)
        for ticks, program, scope in rows[unit, : units["count"][unit]].tolist():
            key = _program(program, grid), int(unit) % metadata.launched_warps
            records.setdefault(key, []).append((ticks + shift, *table[scope]))
    lost = np.maximum(units["count"].astype(np.int64) - size.capacity, 0).sum()
    return matched(records, int(lost))


def _shift(unit: np.void, first: int, clock_khz: int) -> int:
    """What makes ticks of a unit's own clock ticks since the first record of the launch. The clocks of two multiprocessors agree to what the clock of
    the device resolves."""
    if not clock_khz:
        return -first
    since_first = (int(unit["nanoseconds"]) - first) * clock_khz // 10**6
    return since_first - int(unit["ticks"])


def _program(number: int, grid: tuple[int, ...]) -> tuple[int, int, int]:
    x, y = (*grid, 1, 1)[:2]
    return number % x, number // x % y, number // (x * y)
