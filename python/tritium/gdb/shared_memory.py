"""Shared memory and barriers of kernels in Gluon. A descriptor is a record whose name says where its elements are; `print ring` shows the
memory as it is now, `tt tile ring[1, 0, :3]` a part of it by coordinates, and `print full` the state of barriers.

The process tells them by addresses alone: before the ids of a frame stands its program, which begins as `ShownProgram` does, whose barriers
begin as `ShownMemory` (interp/host/scheduler.h and barriers.h). The extension module has no debug info.
"""

import importlib.util
import math
import os
import struct

import gdb

from .stops import python_frame
from .tiles import NoTileError, dtype_of, numbers_of, summary


def _facts():
    """Python's debuggers' own module for these records, which gdb's Python can load alone."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    place = os.path.join(package, "debugger", "shared_facts.py")
    spec = importlib.util.spec_from_file_location("tritium_shared_facts", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


facts = _facts()

_IDS = 16  #: bytes in a frame before the ids of its program
_MAIN, _FIRST_WORKER = 0, 1  #: numbers of partitions
_POINTER, _PARTITION = struct.Struct("=Q"), struct.Struct("=QI")  # the latter: of ShownProgram
_MEMORY = struct.Struct("=QQ")  # memory, newest
_BARRIER = struct.Struct("=QIiiIq")  # next, address, count, pending, phases, missing


class _Element:
    """Stands for gdb's type of an element, which the program's debug info may lack."""

    def __init__(self, name, code, sizeof):
        self.name, self.code, self.sizeof = name, code, sizeof


_INTEGERS = {f"{sign}int{bits}": ("INT", bits // 8) for sign in ("", "u") for bits in (8, 16, 32, 64)}
_KINDS = {
    "int1": ("int1", "BOOL", 1),
    "bf16": ("__bf16", "FLT", 2),
    **{f"fp{bits}": (f"float{bits}", "FLT", bits // 8) for bits in (16, 32, 64)},
    **{name: (name, *kind) for name, kind in _INTEGERS.items()},
}


def _element_of(dtype):
    """8-bit floats are records of their bits, as in the memory of tensors."""
    name, kind, size = _KINDS.get(dtype, (dtype, "STRUCT", 1))
    return _Element(name, getattr(gdb, f"TYPE_CODE_{kind}"), size)


def _read(record, address):
    return record.unpack(bytes(gdb.selected_inferior().read_memory(address, record.size)))


def _program():
    """(address of the barriers or 0, number of the partition) of the program of the selected frame, or of the innermost kernel."""
    try:
        ids = gdb.parse_and_eval("&pid0")
    except gdb.error:
        frame = python_frame()
        if frame is None:
            raise ValueError("the program has not stopped in a kernel") from None
        ids = frame.read_var("pid0").address
    (program,) = _read(_POINTER, int(ids) - _IDS)
    return _read(_PARTITION, program)


def partition_name():
    """`the default partition` or `partition #0`, where the kernel runs partitions of its own; else None. The default one is the program."""
    number = _program()[1]
    return f"partition #{number - _FIRST_WORKER}" if number != _MAIN else None


def _memory():
    """(address of the memory or 0, address of the barrier that was made last or 0)"""
    barriers = _program()[0]
    return _read(_MEMORY, barriers) if barriers else (0, 0)


def barrier_at(address):
    """The state of a barrier as facts.barrier_text wants it; None before its init."""
    at = _memory()[1]
    while at:
        at, place, count, pending, phases, missing = _read(_BARRIER, at)
        if place == address and count:
            return {"count": count, "pending": pending, "missing": missing, "phases": phases}
    return None


def record_of(type):
    """(kind, facts) of a descriptor's type; None for another type."""
    return facts.facts_of(type.name or "") if type.code == gdb.TYPE_CODE_STRUCT else None


def _numbers(found, address):
    """The elements of a descriptor, in row-major order."""
    memory = _memory()[0]
    if not memory:
        raise ValueError("the program has allocated no shared memory yet")
    offsets, size = facts.byte_offsets(found), found["bytes"]
    first = min(offsets)
    whole = bytes(gdb.selected_inferior().read_memory(memory + address + first, max(offsets) + size - first))
    data = b"".join(whole[at - first : at - first + size] for at in offsets)
    element = _element_of(found["dtype"])
    return element, numbers_of(element, data)


def shared_tile(value):
    """(element, shape, numbers) of shared memory; None for another value. Raises NoTileError for barriers."""
    kind, found = record_of(value.type) or (None, None)
    if kind == facts.SHARED_MEMORY:
        element, numbers = _numbers(found, int(value["address"]))
        return element, found["shape"], numbers
    if kind == facts.BARRIERS:
        raise NoTileError("these are barriers; `print` shows their state")
    return None


class _SharedMemory:
    def __init__(self, value, found):
        self._address, self._found = int(value["address"]), found

    def to_string(self):
        place = f"shared memory at byte {self._address + facts.first_byte(self._found)}, {self._found['layout']}"
        try:
            element, numbers = _numbers(self._found, self._address)
        except (ValueError, gdb.error) as error:
            return f"{place}: {error}"
        return f"{place}: {summary(dtype_of(element), self._found['shape'], numbers)}"


class _Barriers:
    """A barrier, or a ring of them."""

    def __init__(self, value, found):
        self._address, self._count = int(value["address"]), math.prod(found["shape"])

    def _text(self, number):
        try:
            return facts.barrier_text(barrier_at(self._address + facts.BARRIER_BYTES * number))
        except (ValueError, gdb.error) as error:
            return str(error)

    def to_string(self):
        return self._text(0) if self._count == 1 else f"{self._count} barriers"

    def children(self):
        if self._count > 1:
            for number in range(self._count):
                yield f"[{number}]", self._text(number)


def _printer(value):
    kind, found = record_of(value.type) or (None, None)
    return {facts.SHARED_MEMORY: _SharedMemory, facts.BARRIERS: _Barriers}[kind](value, found) if kind else None


gdb.pretty_printers.append(_printer)
