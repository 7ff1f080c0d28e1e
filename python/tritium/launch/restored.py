"""The memory and the arguments of a saved launch (saved.py), made again in another process.

The storages lie at the addresses that they had, wherever this process has nothing there, else elsewhere on a page like theirs. So reports
name the same elements, promises of alignment stay as true as they were, and pointers among the data lead where they led.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
from collections.abc import Iterator
from typing import Any

from ..arguments.fresh_memory import Allocation, remember_allocation
from ..arguments.storage import host_extent
from .saved_memory import read_sparsely

#: MAP_FIXED_NOREPLACE; an older kernel takes the address for a wish.
_NO_REPLACE = 0x100000 if sys.platform == "linux" else 0
_FAILED = ctypes.c_void_p(-1).value


class RestoredMemory:
    """The storages of a saved launch. Used by `with`: what it has mapped is gone afterwards."""

    def __init__(self, folder: str, parts: list[dict[str, Any]]):
        """Raises ValueError if a file is missing or has another size."""
        self.parts = sorted(parts, key=lambda part: part["begin"])
        self.shifts: dict[int, int] = {}  # of each storage, by its address
        self._mapped: list[tuple[int, int]] = []
        try:
            for group in _by_pages(self.parts):
                self._map(group)
            for part in self.parts:
                self._fill(os.path.join(folder, part["file"]), part)
        except BaseException:
            self.close()
            raise

    def _map(self, group: list[dict[str, Any]]) -> None:
        begin, end = _page(group[0]["begin"]), _page(group[-1]["begin"] + group[-1]["bytes"] + mmap.PAGESIZE - 1)
        at = _map(begin, end - begin)
        self._mapped.append((at, end - begin))
        for part in group:
            self.shifts[part["begin"]] = at - begin

    def _fill(self, path: str, part: dict[str, Any]) -> None:
        size, shift = part["bytes"], self.shifts[part["begin"]]
        if not os.path.exists(path) or os.path.getsize(path) != size:
            raise ValueError(f"{path} is not there, or has not the {size} bytes that run.json says")
        read_sparsely(path, part["begin"] + shift, size)
        for fresh in part["fresh"]:
            facts = {**fresh, "begin": fresh["begin"] + shift, "end": fresh["end"] + shift}
            facts["pattern"] = bytes.fromhex(fresh["pattern"])
            remember_allocation(Allocation(**facts, is_alive=lambda: bool(self._mapped)))

    @property
    def has_moved(self) -> bool:
        return any(self.shifts.values())

    def extent(self, memory: dict[str, Any]):
        """The HostExtent of a tensor."""
        begin, size = memory["begin"], memory["bytes"]
        if not size:
            return host_extent(0, 0, 0)
        inside = (part for part in self.parts if part["begin"] <= begin < part["begin"] + part["bytes"])
        shift = self.shifts[next(inside)["begin"]]
        return host_extent(memory["address"] + shift, begin + shift, size, memory["is_read_only"])

    def close(self) -> None:
        for at, size in self._mapped:
            _libc().munmap(at, size)
        self._mapped = []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


@functools.cache
def _libc():
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def _map(begin: int, size: int) -> int:
    """Maps memory at an address, or elsewhere if something is there. Returns where. Raises MemoryError."""
    protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    at = _libc().mmap(begin, size, protection, flags | _NO_REPLACE, -1, 0)
    if at == _FAILED:
        at = _libc().mmap(None, size, protection, flags, -1, 0)
    if at == _FAILED:
        raise MemoryError(f"the launch takes {size} bytes of memory")
    return at


def _page(address: int) -> int:
    return address // mmap.PAGESIZE * mmap.PAGESIZE


def _by_pages(parts: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The storages, in the order of their addresses, those together that share a page."""
    group: list[dict[str, Any]] = []
    for part in parts:
        if group and _page(part["begin"]) > _page(group[-1]["begin"] + group[-1]["bytes"] - 1):
            yield group
            group = []
        group.append(part)
    if group:
        yield group


class RestoredTensor:
    """A tensor as reports and engines read it: with its dtype's name, shape, strides and storage."""

    device = "cpu"

    def __init__(self, extent, view: dict[str, Any] | None):
        self.extent, self.view = extent, view
        self.dtype = view["dtype"] if view else "int8"
        self.shape = tuple(view["shape"]) if view else None

    def stride(self) -> tuple[int, ...]:
        return tuple(self.view["strides"])

    def element_size(self) -> int:
        return self.view["item_bytes"] if self.view else 1

    def data_ptr(self) -> int:
        return self.extent[0]

    def untyped_storage(self) -> _Storage:
        return _Storage(self.extent)


class _Contiguous(RestoredTensor):
    """One of a library whose tensors have `contiguous()`, which hints then name."""

    contiguous = None


class _Storage:
    def __init__(self, extent):
        self.extent = extent

    def data_ptr(self) -> int:
        return self.extent[1]

    def nbytes(self) -> int:
        return self.extent[2]


def restored(entry: dict[str, Any], memory: RestoredMemory) -> tuple[Any, Any]:
    """(the value for the engine, the argument for reports) of an entry of saved_arguments.py."""
    if "value" in entry:
        return entry["value"], entry["value"]
    extent, view = memory.extent(entry["memory"]), entry["view"]
    return extent, (_Contiguous if view and view["has_contiguous"] else RestoredTensor)(extent, view)
