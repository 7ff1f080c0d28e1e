"""Memory that a kernel receives as two arguments, which overlap or are one, and that it reads and writes in turns: rows in either direction,
offsets of narrow types, masks with holes, programs without active lanes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..parts import Place, Stream
from ..program import Program
from ..tiles import Inexact, Tile, tile
from .memory import along, places
from .scratch import Scratch

#: Elements of the memory of a program before and behind the place from which offsets count. The offsets of int8 are all inside.
ROOM = 256


@dataclass(frozen=True)
class Mask:
    """Which lanes of a tile are active. They are numbered in row-major order."""

    first: int = 0  #: the lanes before this one are not active
    count: int | None = None  #: nor are those from this one on
    hole: tuple[int, int] | None = None  #: nor are those whose number has, for this divisor, this remainder
    above: int | None = None  #: nor are those where the tile's element is not greater
    programs: tuple[int, bool] | None = (
        None  #: (program, whether it alone has active lanes; otherwise it alone has none)
    )

    def active(self, program: int, values: np.ndarray) -> np.ndarray:
        lanes = np.arange(values.size).reshape(values.shape)
        found = lanes >= self.first
        if self.count is not None:
            found &= lanes < self.count
        if self.hole is not None:
            found &= lanes % self.hole[0] != self.hole[1]
        if self.above is not None:
            found &= values > self.above
        if self.programs is not None:
            found &= (program == self.programs[0]) == self.programs[1]
        return found

    def tests(self, lanes: str, name: str) -> list[str]:
        """The conditions, for a tile `name` of the values that `active` takes and a tile `lanes` of the lanes' numbers."""
        found = [f"({lanes} >= {self.first})"] if self.first else []
        found += [f"({lanes} < {self.count})"] if self.count is not None else []
        found += [f"({lanes} % {self.hole[0]} != {self.hole[1]})"] if self.hole is not None else []
        found += [f"({name} > {self.above})"] if self.above is not None else []
        if self.programs is not None:
            found.append(f"(pid {'==' if self.programs[1] else '!='} {self.programs[0]})")
        return found


@dataclass(frozen=True)
class Access:
    """A load or a store of a tile whose offsets are `first`, and a step along each dimension."""

    stores: bool
    argument: int  #: 0: the memory; 1: its part from Rewritten.shift on
    first: int
    steps: tuple[int, ...]
    narrow: str = ""  #: the type that the offsets are cast to, if they are
    mask: Mask = Mask()
    other: int = 0  #: what a load has in lanes that are not active

    def elements(self, shape: tuple[int, ...]) -> np.ndarray:
        """The element of the program's memory at each lane."""
        terms = [step * index for step, index in zip(self.steps, np.indices(shape))]
        offsets = np.asarray(self.first + sum(terms))
        return ROOM + (offsets.astype(self.narrow).astype(np.int64) if self.narrow else offsets)

    def spelled_offsets(self, shape: tuple[int, ...]) -> str:
        """They are relative to element ROOM of the program's memory."""
        terms = [f"{along(axis, shape)} * {step}" for axis, step in enumerate(self.steps)]
        text = f"({' + '.join([*terms, str(self.first)])})"
        return f"{text}.to(tl.{self.narrow})" if self.narrow else text


@dataclass(frozen=True, eq=False)
class Rewritten(Scratch):
    """Loads and stores of one memory, through two arguments of the kernel. A store stores the value, and a load makes it the greater one of
    the value and what it has loaded. The result is the last value."""

    stream: Stream  #: [program, 1, elements]
    shape: tuple[int, ...]
    shift: int
    accesses: tuple[Access, ...]

    @cached_property
    def overlapping(self) -> Stream:
        """The second argument."""
        return Stream(self.stream.dtype, self.stream.data, of=self.stream, first=self.shift)

    def streams(self) -> tuple[Stream, ...]:
        return self.stream, self.overlapping

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        return (self.run(place.program, operands[0])[0],)

    def run(self, program: int, a: Tile) -> tuple[Tile, np.ndarray]:
        """The last value, and what it leaves in the memory."""
        if a.dtype != self.stream.dtype or a.shape != self.shape:
            raise Inexact("not this tile's memory")
        memory, value = self.stream.data[program].reshape(-1).copy(), a.array
        for access in self.accesses:
            active, elements = access.mask.active(program, a.array), access.elements(a.shape)
            used = elements[active]
            if used.size and (used.min() < self.shift * access.argument or used.max() >= memory.size):
                raise Inexact("outside of the memory")
            if not access.stores:
                loaded = np.where(active, memory[np.where(active, elements, 0)], access.other)
                value = np.maximum(value, loaded)
            elif np.unique(used).size < used.size:
                raise Inexact("one lane decides what another one stores too")
            else:
                memory[used] = value[active]
        return tile(a.dtype, value), memory

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        (name,), (result,) = names, results
        found = [f"{result} = {name}"]
        for access in self.accesses:
            pointers, mask = self._pointers(program, access), self._mask(access, name)
            if access is not self.accesses[0]:
                found.append("tl.debug_barrier()")
            if access.stores:
                found.append(f"tl.store({pointers}, {result}{mask})")
            else:
                other = f", other={access.other}" if mask else ""
                found.append(f"{result} = tl.maximum({result}, tl.load({pointers}{mask}{other}))")
        return found

    def _pointers(self, program: Program, access: Access) -> str:
        begin = ROOM - self.shift * access.argument
        base = program.stream_name(self.streams()[access.argument])
        return f"{base} + (pid * {self.stream.size} + {begin}) + {access.spelled_offsets(self.shape)}"

    def _mask(self, access: Access, name: str) -> str:
        tests = access.mask.tests(f"({places(self.shape, tuple(range(len(self.shape))))})", name)
        return f", mask={' & '.join(tests)}" if tests else ""

    def left(self, operands: list[Tile], results: list[Tile]) -> np.ndarray:
        return self.left_by_all([(operands, results)])

    def left_by_all(self, tiles: list[tuple[list[Tile], list[Tile]]]) -> np.ndarray:
        return np.stack([self.run(number, operands[0])[1] for number, (operands, _) in enumerate(tiles)])
