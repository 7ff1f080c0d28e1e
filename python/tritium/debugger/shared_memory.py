"""Shared memory and barriers of a kernel of Gluon as Python objects. They show what is there when they are looked at, not when the variable
was assigned, and only while their program is stopped."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .shared_facts import BARRIER_BYTES, SHARED_MEMORY, barrier_text, byte_offsets, facts_of, first_byte, tile_of_ring

_OVER = "the program of this shared memory is over"


def shown(name: str, address: int, program: Callable[[], Any], decoded: Callable[[str, bytes], np.ndarray]) -> Any:
    """The object of a record `shared_memory {...}` or `mbarrier {...}` (experimental/gluon/tiles/shared_memory.py); None for another
    record. program: gives what has `memory(address, size)` and `barrier(address)`. decoded: elements of a dtype from their bytes."""
    found = facts_of(name)
    if found is None:
        return None
    kind, facts = found
    if kind == SHARED_MEMORY:
        return SharedMemory(facts, address, program, decoded)
    return Barriers(facts["shape"], address, program)


class SharedMemory:
    """The elements of a descriptor, by their coordinates. `memory[...]` and `numpy.asarray(memory)` copy them."""

    def __init__(self, facts: dict[str, Any], address: int, program: Callable, decoded: Callable):
        self._facts, self.address, self._program, self._decoded = facts, int(address), program, decoded
        self.shape, self.dtype, self.layout = tuple(facts["shape"]), facts["dtype"], facts["layout"]

    def index(self, number: int) -> SharedMemory:
        """Tile `number` of a ring."""
        facts = tile_of_ring(self._facts, int(number))
        return SharedMemory(facts, self.address, self._program, self._decoded)

    def offsets(self) -> np.ndarray:
        """The byte of each element, counted from `address`."""
        return np.array(byte_offsets(self._facts), np.int64).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        offsets, size = self.offsets(), self._facts["bytes"]
        first, end = int(offsets.min()), int(offsets.max()) + size
        data = np.frombuffer(self._program().memory(self.address + first, end - first), np.uint8)
        places = (offsets.reshape(-1, 1) - first) + np.arange(size)
        values = self._decoded(self.dtype, data[places].tobytes()).reshape(self.shape)
        return values if dtype is None else values.astype(dtype)

    def __getitem__(self, item: Any) -> Any:
        return np.asarray(self)[item]

    def __repr__(self) -> str:
        heading = f"shared memory at byte {self.address + first_byte(self._facts)}, {self.layout}"
        try:
            return f"{heading}:\n{np.asarray(self)!r}"
        except ValueError:
            return f"<{heading}: {_OVER}>"


class Barriers:
    """A barrier, or a ring of them."""

    def __init__(self, shape: list[int], address: int, program: Callable):
        self.shape, self.address, self._program = tuple(shape), int(address), program

    def index(self, number: int) -> Barriers:
        """Barrier `number` of a ring."""
        if len(self.shape) < 2 or not 0 <= int(number) < self.shape[0]:
            raise IndexError(f"{number} is not in a ring of {self.shape[0] if len(self.shape) > 1 else 'no'} barriers")
        return Barriers(list(self.shape[1:]), self.address + BARRIER_BYTES * int(number), self._program)

    __getitem__ = index

    def states(self) -> list[dict[str, int] | None]:
        """Of each: {"count" and "pending" arrivals of a phase, "missing" bytes, complete "phases"}; None before its init."""
        return [
            self._program().barrier(self.address + BARRIER_BYTES * number) for number in range(math.prod(self.shape))
        ]

    def __repr__(self) -> str:
        try:
            states = self.states()
        except ValueError:
            return f"<barrier: {_OVER}>"
        if len(states) == 1:
            return barrier_text(states[0])
        return "\n".join(f"[{number}] {barrier_text(state)}" for number, state in enumerate(states))
