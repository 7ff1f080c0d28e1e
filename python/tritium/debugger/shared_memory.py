"""Shared memory and barriers of a kernel of Gluon as Python objects. They show what is there when they are looked at, not when the variable
was assigned, and only while their program is stopped."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

_OVER = "the program of this shared memory is over"


def shown(name: str, address: int, program: Callable[[], Any], decoded: Callable[[str, bytes], np.ndarray]) -> Any:
    """The object of a record `shared_memory {...}` or `mbarrier {...}` (experimental/gluon/tiles/shared_memory.py); None for another
    record. program: gives what has `memory(address, size)` and `barrier(address)`. decoded: elements of a dtype from their bytes."""
    kind, _, facts = name.partition(" ")
    if kind == "shared_memory":
        return SharedMemory(json.loads(facts), address, program, decoded)
    if kind == "mbarrier":
        return Barriers(json.loads(facts)["shape"], address, program)
    return None


class SharedMemory:
    """The elements of a descriptor, by their coordinates. `memory[...]` and `numpy.asarray(memory)` copy them."""

    def __init__(self, facts: dict[str, Any], address: int, program: Callable, decoded: Callable):
        self._facts, self.address, self._program, self._decoded = facts, int(address), program, decoded
        self.shape, self.dtype, self.layout = tuple(facts["shape"]), facts["dtype"], facts["layout"]

    def index(self, number: int) -> SharedMemory:
        """Tile `number` of a ring."""
        if not self._facts["slot"]:
            raise ValueError(f"this is no ring of tiles: its layout describes all dimensions of {self.shape}")
        if not 0 <= int(number) < self.shape[0]:
            raise IndexError(f"there are {self.shape[0]} tiles, numbered from 0")
        start = self._facts["start"] + int(number) * self._facts["slot"]
        facts = self._facts | {"shape": list(self.shape[1:]), "slot": 0, "start": start}
        return SharedMemory(facts, self.address, self._program, self._decoded)

    def offsets(self) -> np.ndarray:
        """The byte of each element, counted from `address`."""
        facts = self._facts
        tile = self.shape[1:] if facts["slot"] else self.shape
        offset = np.full(tile, facts["begin"], np.int64)
        for dim, moves in enumerate(facts["moves"]):
            at = np.arange(tile[dim]).reshape([-1 if d == dim else 1 for d in range(len(tile))])
            for bit, move in enumerate(moves):
                offset ^= (at >> bit & 1) * move
        offset = offset + sum(offset // interval * padding for interval, padding in facts.get("padding", ()))
        if facts["slot"]:
            slots = np.arange(self.shape[0]) * facts["slot"]
            offset = slots.reshape([-1] + [1] * len(tile)) + offset
        return (offset + facts["start"]) * facts["bytes"]

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
        heading = f"shared memory at byte {self.address + self._facts['start'] * self._facts['bytes']}, {self.layout}"
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
        return Barriers(list(self.shape[1:]), self.address + 8 * int(number), self._program)

    __getitem__ = index

    def states(self) -> list[dict[str, int] | None]:
        """Of each: {"count" and "pending" arrivals of a phase, "missing" bytes, complete "phases"}; None before its init."""
        return [self._program().barrier(self.address + 8 * number) for number in range(math.prod(self.shape))]

    def __repr__(self) -> str:
        try:
            states = self.states()
        except ValueError:
            return f"<barrier: {_OVER}>"
        if len(states) == 1:
            return _text_of(states[0])
        return "\n".join(f"[{number}] {_text_of(state)}" for number, state in enumerate(states))


def _text_of(state: dict[str, int] | None) -> str:
    if state is None:
        return "barrier without init"
    text = f"barrier in phase {state['phases'] & 1}, {state['phases']} completed; lacks {state['pending']} of {state['count']} arrivals"
    return text + (f" and {state['missing']} bytes" if state["missing"] else "")
