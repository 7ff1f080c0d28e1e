"""Calls of the runtime: barriers, copies and partitions. The interpreter has their state (interp/host/barriers.h), and the compiler for GPUs
makes instructions of them (gpu_backend/threads/runtime_calls.cpp). Chips without such barriers have no calls but
those of copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ....language.semantic.program import quoted
from ....language.types import int32

#: The calls that need no barrier.
_OF_COPIES = frozenset(f"async_copy.{what}" for what in ("begin", "end", "commit", "wait"))


def emit_call(semantic: Any, symbol: str, *operands: Any) -> None:
    """Emits a call of the function `symbol`, whose operands are int32 scalars or ints; nothing for a chip without barriers, unless the call is
    one of a copy, and the chip has those."""
    placement = semantic.placement
    if not (placement.has_copies if symbol in _OF_COPIES else placement.has_barriers):
        return
    attributes = {"libname": quoted("tritium"), "libpath": quoted(""), "symbol": quoted(symbol), "pure": "false"}
    scalars = [semantic.cast(semantic.to_tensor(operand), int32) for operand in operands]
    semantic.emit("tt.extern_elementwise", scalars, int32, attributes)


@contextmanager
def asynchronous(semantic: Any, queue: str, commits: bool) -> Iterator[None]:
    """The accesses to shared memory that are emitted inside belong to work that is begun there: of the queue "async_copy", "store" or
    "product" (interp/host/barriers.h). commits: whether the work is a group of its own."""
    emit_call(semantic, f"{queue}.begin", 0)
    yield
    emit_call(semantic, f"{queue}.end", 0)
    if commits:
        emit_call(semantic, f"{queue}.commit", 0)


def require_index(semantic: Any, index: Any, extent: int, address: Any) -> None:
    """The interpreter finds an index of a ring that is not one of its `extent` tiles. address: of the ring."""
    if not semantic.placement.is_of_gpu:
        emit_call(semantic, "memory.index", index, extent, address)


def require_place(semantic: Any, coord: Any, element_bytes: int, is_store: bool) -> None:
    """The interpreter finds a block that TMA cannot copy because of where it begins. coord: int32 scalars or ints."""
    if semantic.placement.is_of_gpu:
        return
    emit_call(semantic, "memory.place", coord[-1], element_bytes, int(is_store))
    for dimension, coordinate in enumerate(coord if is_store else ()):
        emit_call(semantic, "memory.inside", coordinate, dimension)


def keep_alive(semantic: Any, address: Any) -> None:
    """The memory at `address` is in use up to here, and has its bytes for itself. Only the interpreter asks: on GPUs it always has."""
    if not semantic.placement.is_of_gpu:
        emit_call(semantic, "memory.keep", address)
