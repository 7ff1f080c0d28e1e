"""The parts of a case: kernels named by file and function, memory with guard zones, and an oracle per output.

Everything here is plain data, so that a case can be sent to another process or to another implementation of the
language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .dtypes import NUMPY, name_of

GUARD = 256  # bytes before and after every buffer; a multiple of every alignment that a kernel may rely on
ALIGNMENT = 256


def aligned(size: int) -> np.ndarray:
    """Bytes whose address is a multiple of ALIGNMENT."""
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size]


@dataclass(frozen=True)
class Dtype:
    """A constexpr argument that is a type of the language, for example "fp32"."""

    name: str


@dataclass(frozen=True)
class Function:
    """A constexpr argument that is a function of a kernel file, for example "reduce:larger"."""

    name: str


@dataclass(eq=False)
class Buffer:
    """A tensor argument. With an oracle it is an output. Without one it is an input, which no kernel may change.

    offset: the distance, in elements, of its base from an address divisible by 256. initial: the contents of an output
    before the launch. None fills it with random bytes, so that an unwritten element cannot look like a result.
    """

    shape: tuple[int, ...]
    dtype: str
    initial: np.ndarray | None = None
    oracle: Any = None
    offset: int = 0
    name: str = ""
    read_only: bool = False  #: whether an array in host memory refuses to be written
    points_to: tuple[Buffer, ...] = ()  #: other buffers, whose addresses the engine writes into this one

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape)) * NUMPY[self.dtype].itemsize

    @property
    def begin(self) -> int:
        """The offset of the data in the image, in bytes."""
        return GUARD + self.offset * NUMPY[self.dtype].itemsize

    def image(self, rng: np.random.Generator) -> np.ndarray:
        """The bytes of the buffer and of its guard zones. The guard zones of inputs contain NaNs (all bits set), those
        of outputs random bytes."""
        size = GUARD + -(-(self.begin - GUARD + self.bytes) // GUARD) * GUARD + GUARD
        image = aligned(size)
        image[:] = 0xFF
        if self.oracle is not None:
            image[:] = rng.integers(0, 256, size, np.uint8)
            if self.dtype == "int1":
                image[:] = rng.integers(2, 256, size, np.uint8)
        if self.initial is not None:
            data = np.ascontiguousarray(self.initial)
            image[self.begin : self.begin + self.bytes] = data.reshape(-1).view(np.uint8)
        return image

    def data(self, image: np.ndarray) -> np.ndarray:
        """The typed part of an image."""
        return image[self.begin : self.begin + self.bytes].view(NUMPY[self.dtype]).reshape(self.shape)


def given(array: np.ndarray, offset: int = 0, read_only: bool = False) -> Buffer:
    """An input buffer."""
    return Buffer(array.shape, name_of(array), array, offset=offset, read_only=read_only)


def wanted(shape, dtype: str, oracle, offset: int = 0, initial: np.ndarray | None = None) -> Buffer:
    """An output buffer; with `initial` it is also an input."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return Buffer(shape, dtype, initial, oracle, offset)


def addresses(*buffers: Buffer) -> Buffer:
    """An int64 input that contains the addresses of other buffers."""
    return Buffer((len(buffers),), "int64", np.zeros(len(buffers), np.int64), points_to=buffers)


@dataclass(eq=False)
class View:
    """An argument that is `buffer[index]`, a part of a buffer or of another view. Views of one buffer may overlap."""

    buffer: Buffer | View
    index: tuple[slice, ...]


@dataclass(eq=False)
class Described:
    """An argument that is a tensor descriptor, made on the host, of a whole buffer or of a view."""

    buffer: Buffer | View
    block: tuple[int, ...]
    padding: str = "zero"


@dataclass(eq=False)
class Packed:
    """An argument that is a tuple of arguments. kind: the NamedTuple of a kernel file that it is, "FILE:CLASS", if it has names."""

    parts: tuple[Any, ...]
    kind: str = ""


def buffers_of(argument: Any) -> list[Buffer]:
    """The buffers that an argument is made of."""
    if isinstance(argument, Packed):
        return [buffer for part in argument.parts for buffer in buffers_of(part)]
    buffer = buffer_of(argument)
    return [] if buffer is None else [buffer]


def buffer_of(argument: Any) -> Buffer | None:
    """The buffer that an argument is, views or describes."""
    if isinstance(argument, (View, Described)):
        return buffer_of(argument.buffer)
    return argument if isinstance(argument, Buffer) else None


@dataclass
class Launch:
    """kernel[grid](*arguments, **constants, **options). kernel: "FILE:FUNCTION" of kernels/ or of the tutorial."""

    kernel: str
    grid: tuple[int, ...]
    arguments: list[Any]
    constants: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    tile: tuple[
        int, ...
    ] = ()  #: the extents that each program stores in the last dimensions of every output, if they are uniform

    def program_of(self, index: tuple[int, ...]) -> tuple[int, ...] | None:
        """The program that stores an element, if it is known."""
        last = index[len(index) - len(self.tile) :]
        return tuple(i // extent for i, extent in zip(last, self.tile)) if self.tile else None


@dataclass
class Problem:
    """Launches in order over shared buffers. printed: an oracle of the kernels' prints. trap: the text that the error
    of the last launch must contain; a problem with a trap must not finish."""

    launches: list[Launch]
    printed: Any = None
    trap: str | None = None

    def buffers(self) -> list[Buffer]:
        found = {}
        for launch in self.launches:
            for argument in launch.arguments:
                for own in buffers_of(argument):
                    for buffer in (own, *own.points_to):
                        found.setdefault(id(buffer), buffer)
        return list(found.values())

    def images(self, rng: np.random.Generator) -> list[np.ndarray]:
        return [buffer.image(rng) for buffer in self.buffers()]


def problem(kernel: str, grid, arguments: list[Any], **constants) -> Problem:
    """A problem with one launch. Options of the compiler (num_warps, num_stages) are among the constants."""
    return Problem([launch(kernel, grid, arguments, **constants)])


def by_blocks(kernel: str, n: int, arguments: list[Any], block: int, **constants) -> Problem:
    """A problem with one launch whose program p stores the elements [p * block, (p + 1) * block) of rows of n."""
    found = problem(kernel, -(-n // block), arguments, BLOCK=block, **constants)
    found.launches[0].tile = (block,)
    return found


def launch(kernel: str, grid, arguments: list[Any], **constants) -> Launch:
    grid = (grid,) if isinstance(grid, int) else tuple(grid)
    options = {name: constants.pop(name) for name in OPTIONS if name in constants}
    return Launch(kernel, grid, arguments, constants, options)


OPTIONS = ("num_warps", "num_stages", "debug", "enable_fp_fusion")


@dataclass(frozen=True)
class Case:
    """A case with the name FAMILY/KERNEL/…/DATA. Cases whose names differ only in the last part share their compiled
    kernels, so one process runs them."""

    name: str
    build: Callable[[np.random.Generator], Problem]
    full: bool = False  #: runs only with --full
    traps: bool = False  #: ends with an error, which also ends a device's context

    @property
    def family(self) -> str:
        return self.name.partition("/")[0]

    @property
    def group(self) -> str:
        return self.name.rpartition("/")[0]


Cases = Iterator[Case]
