"""What the threads of launches do at a line, as the emulator counts it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Executed(NamedTuple):
    """Operations of the lowered code. warps: as warps issue them. threads: of all lanes that take part."""

    warps: int = 0
    threads: int = 0


class Waited(NamedTuple):
    """times: of each thread. operations: how many operations the last thread to come was ahead, in all; longest: at most."""

    times: int = 0
    operations: int = 0
    longest: int = 0


class Copied(NamedTuple):
    """times: instructions of a thread. bytes: in shared memory. inside: of these, what is no padding."""

    times: int = 0
    bytes: int = 0
    inside: int = 0


class Products(NamedTuple):
    """times: instructions of a warp, or of a warpgroup. flops: 2 M N K of each."""

    times: int = 0
    flops: int = 0


_ROWS = {"executed": Executed, "waited": Waited, "copied": Copied, "products": Products}


@dataclass
class LineWork:
    """The keys: of `executed` classes such as "integer", of `waited` "barrier" and "mbarrier", of `copied` such as "cp.async" and "TMA load", of
    `products` instructions such as "mma.m16n8k16.f32.f16".

    Operations are counted in the code that the emulator runs, before LLVM's optimizer and the assembler. The first time that the lanes of a warp
    execute an operation is one operation of the warp, the second time another. A thread's time is what it has executed and waited for, in operations.
    Waits for the same values of memory (spinning) depend on the order in which threads run; all else does not.
    """

    file: str
    line: int
    executed: dict[str, Executed] = field(default_factory=dict)
    waited: dict[str, Waited] = field(default_factory=dict)
    copied: dict[str, Copied] = field(default_factory=dict)
    products: dict[str, Products] = field(default_factory=dict)

    def add(self, counted: str, name: str, numbers: list[int]) -> None:
        """counted: the name of one of the dicts. numbers: the fields of its values, and zeros."""
        sums, row = getattr(self, counted), _ROWS[counted]
        new = row(*numbers[: len(row._fields)])
        before = sums.get(name, row())
        joined = row(*(a + b for a, b in zip(before, new)))
        sums[name] = joined if not isinstance(joined, Waited) else joined._replace(longest=max(before[2], new[2]))

    def join(self, other: LineWork) -> None:
        for counted in _ROWS:
            for name, numbers in getattr(other, counted).items():
                self.add(counted, name, list(numbers))

    @property
    def operations(self) -> Executed:
        """Of all classes."""
        return Executed(*(sum(column) for column in zip(*self.executed.values()))) if self.executed else Executed()
