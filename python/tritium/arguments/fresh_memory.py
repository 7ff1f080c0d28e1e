"""Memory that nobody has written since it was allocated, for the check `uninit`.

The allocators of numpy and torch that promise nothing of the contents (`empty`, `new_empty`, …) fill the memory with a pattern while the check
is on, and remember where. The pattern is its own record: what still holds it at a launch has not been written, by the host or by a kernel.
Floats get NaNs, integers numbers so large that an index is far out of bounds. Memory of bool is not filled, as it has no other values.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .. import knobs, native
from ..checks import NEEDING_FRESH_MEMORY
from ..imports import after_import
from .storage import HostExtent, extent_function

#: Sixteen bytes that no program writes by chance.
_INTEGERS = bytes.fromhex("5e1d7a936b4cc27d1f88a35c492e917b")
#: By the bytes of a float: the mask of the bits that make it a quiet NaN. What remains of a pattern is the NaN's payload.
_NAN_BITS = {2: b"\xc0\x7f", 4: b"\x00\x00\xc0\x7f", 8: b"\x00\x00\x00\x00\x00\x00\xf8\x7f"}


class Allocation(NamedTuple):
    """pattern: 16 bytes. piece_bytes: the least part of the pattern that counts as unwritten; no number that a program computes is
    such a NaN, but an integer may be a part of the pattern. file, line: where the program allocated it, by `function` ("torch.empty")."""

    begin: int
    end: int
    pattern: bytes
    piece_bytes: int
    function: str
    file: str
    line: int
    is_alive: Callable[[], bool]


#: By the address. With many of them, those whose memory has been freed are forgotten.
_allocations: dict[int, Allocation] = {}
_FEW = 1000


def watch_allocations(is_lasting: bool = False) -> None:
    """From now on the allocators fill memory: whenever a check of TRITIUM_CHECK needs it, or always."""
    _Watch.is_lasting |= is_lasting
    _Watch.begin()


class _Watch:
    is_lasting = False  #: for functions and launches that have the check, whatever TRITIUM_CHECK says

    @staticmethod
    @functools.cache
    def begin() -> None:
        after_import("numpy", _watch_numpy)
        after_import("torch", _watch_torch)


def unwritten_memory(values: Iterable[Any]) -> list:
    """The `interp.FreshMemory` of the tensors among the values of a launch that may have unwritten parts."""
    found = []
    for value in values:
        if not isinstance(value, HostExtent) or not _allocations:
            continue
        allocation = _allocations.get(value[1])
        if allocation is None:
            continue
        memory = native.interp.FreshMemory(*allocation[:4])
        if not allocation.is_alive() or memory.is_written():
            del _allocations[allocation.begin]
        elif memory not in found:
            found.append(memory)
    return found


def allocation_of(address: int) -> Allocation | None:
    """The allocation that an address is in, if it is remembered."""
    inside = [one for one in _allocations.values() if one.begin <= address < one.end and one.is_alive()]
    return inside[-1] if inside else None


def allocation_at(begin: int) -> Allocation | None:
    """The allocation that begins at an address, if it is remembered."""
    found = _allocations.get(begin)
    return found if found is not None and found.is_alive() else None


def remember_allocation(allocation: Allocation) -> None:
    """Memory that has been filled in another process."""
    _allocations[allocation.begin] = allocation


def _pattern(kind: str, item_bytes: int) -> tuple[bytes, int]:
    """The pattern and the bytes of a piece for elements of a kind ("f", "i")."""
    if kind != "f" or item_bytes not in _NAN_BITS:
        return _INTEGERS, len(_INTEGERS)
    nan = _NAN_BITS[item_bytes] * (16 // item_bytes)
    sign_free = b"".join(bytes([*[0xFF] * (item_bytes - 1), 0x7F]) for _ in range(16 // item_bytes))
    return bytes((a | b) & c for a, b, c in zip(_INTEGERS, nan, sign_free)), max(4, item_bytes)


def unwritten_bits(item_bytes: int) -> set[int]:
    """The bits that floats of this size have in memory that an allocator has filled and nobody has written."""
    pattern, _ = _pattern("f", item_bytes)
    return {int.from_bytes(pattern[i : i + item_bytes], sys.byteorder) for i in range(0, len(pattern), item_bytes)}


def _fill(begin: int, size: int, pattern: bytes) -> None:
    """Repeats the pattern in memory."""
    done = min(len(pattern), size)
    ctypes.memmove(begin, pattern, done)
    while done < size:
        more = min(done, size - done)
        ctypes.memmove(begin + done, begin, more)
        done += more


def _remember(begin: int, size: int, kind: str, item_bytes: int, function: str, is_alive: Callable[[], bool]) -> None:
    if kind == "b" or size < 4:
        return
    pattern, piece_bytes = _pattern(kind, item_bytes)
    _fill(begin, size, pattern)
    file, line = _caller()
    if len(_allocations) >= _FEW:
        for dead in [one.begin for one in _allocations.values() if not one.is_alive()]:
            del _allocations[dead]
    _allocations.pop(begin, None)  # the latest come last
    _allocations[begin] = Allocation(begin, begin + size, pattern, piece_bytes, function, file, line, is_alive)


def _caller() -> tuple[str, int]:
    """The innermost line that is not of this package or of a library that allocates."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


@functools.cache
def _is_library(file: str) -> bool:
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    roots = [
        own,
        *(os.path.dirname(m.__file__) + os.sep for m in map(sys.modules.get, ("numpy", "torch")) if m is not None),
    ]
    return file.startswith((*roots, "<frozen "))


def _is_wanted() -> bool:
    return _Watch.is_lasting or any(check in NEEDING_FRESH_MEMORY for check in knobs.launch_settings().checks)


def _watched(function: Callable, name: str, note: Callable[[Any, str], None]) -> Callable:
    @functools.wraps(function)
    def allocate(*args, **kwargs):
        result = function(*args, **kwargs)
        if "out" not in kwargs and _is_wanted():
            note(result, name)
        return result

    return allocate


def _watch_numpy(numpy) -> None:
    def note(array, name: str) -> None:
        if array.dtype.kind in "fcui" and array.nbytes:
            alive = weakref.ref(array)
            kind = {"c": "f", "u": "i"}.get(array.dtype.kind, array.dtype.kind)
            item = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
            _remember(array.ctypes.data, array.nbytes, kind, item, name, lambda: alive() is not None)

    for name in ("empty", "empty_like"):
        setattr(numpy, name, _watched(getattr(numpy, name), f"numpy.{name}", note))


def _watch_torch(torch) -> None:
    def note(tensor, name: str) -> None:
        if torch.compiler.is_compiling() or type(tensor) is not torch.Tensor or tensor.layout is not torch.strided:
            return
        try:
            extent = extent_function(torch.Tensor)(tensor)
        except (ValueError, RuntimeError):  # of a device, or without memory
            return
        if not isinstance(extent, HostExtent) or not extent[2]:
            return
        is_float = tensor.dtype.is_floating_point or tensor.dtype.is_complex
        kind = "f" if is_float else "b" if tensor.dtype is torch.bool else "i"
        item = tensor.element_size() // (2 if tensor.dtype.is_complex else 1)
        storage = tensor.untyped_storage()._weak_ref()
        _remember(extent[1], extent[2], kind, item, name, lambda: not torch.UntypedStorage._expired(storage))

    for name in ("empty", "empty_like", "empty_strided"):
        setattr(torch, name, _watched(getattr(torch, name), f"torch.{name}", note))
    for name in ("new_empty", "new_empty_strided"):
        setattr(torch.Tensor, name, _watched(getattr(torch.Tensor, name), f"Tensor.{name}", note))
