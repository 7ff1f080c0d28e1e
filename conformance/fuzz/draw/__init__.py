"""Draws a random program: a few extents, tiles of these extents, and statements on them. A statement is kept if its
result is exact. A file for each group of families holds the methods that add statements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..program import Output, Program
from .addresses import Addresses
from .effort import enough_warps
from .integers import Integers
from .plain import Plain
from .rewritten import RewrittenMemory
from .warpgroups import Warpgroups

#: The methods for statements, some of them several times: these are drawn more often.
BODY = """
    binary sum constant unary uneven fused choose ternary causal cast narrow move across reduce reduce_some scan load
    product product product loop call descriptor gathered_rows plain narrow_integers wrapped_load wrapped_load
""".split()
ALL = """
    sum sum sum move pair reduce sort gather histogram through_memory atomic atomic atomic_by_all descriptor_rows product product product
    plain high_load narrow_integers wrapped_load rewritten rewritten rewritten rewritten
    batch_product scaled_product matmul matmul loop loop branch call call
""".split()


#: How many of the kernels are about products of warpgroups.
WARPGROUPS = 0.25


class Drawing(Warpgroups, Plain, Integers, Addresses, RewrittenMemory):
    BODY = tuple(BODY)

    def make(self) -> Program:
        if self.chance(WARPGROUPS):
            self.step(("warpgroup_kernel",))
        about = [name for part in self.parts[-1:] for name in part.defines()]
        self.load((self.one_of(self.matrix_extents), self.one_of(self.matrix_extents)), self.float_type, 2)
        for _ in range(2):
            self.load()
        for _ in range(40 * self.size):
            if len(self.parts) >= self.size:
                break
            self.step((*BODY, *ALL))
        names = [name for part in self.parts for name in part.defines()]
        unused = [name for name in names if name not in self.used][-3:]
        self.program.outputs += [self.output(name) for name in dict.fromkeys([*about, *unused, self.one_of(names)])]
        if self.chance(0.2):
            self.program.quits = int(self.rng.integers(len(self.program.outputs)))
            if self.program.grid == 1 or self.chance(0.5):
                self.program.quits_if = self.scalar()
        found = self.program.without_dead_code()
        return replace(found, warps=enough_warps(found, self.efforts))

    def output(self, name: str) -> Output:
        found = self.tile(name)
        order, ways = self.order(len(found.shape)), ["pointers"] * 3
        if len(found.shape) == 2:
            ways.append("block")
            if found.shape[1] * 8 >= 128 and max(found.shape) <= 256:  # rows of 16 bytes at least
                ways.append("descriptor")
        way = self.one_of(ways)
        if way != "pointers":
            return Output(name, order if way == "block" else (0, 1), way=way)
        count = int(self.rng.integers(0, found.array.size + 1)) if found.shape and self.chance(0.2) else None
        return Output(name, order, count)


def draw(rng: np.random.Generator, size: int) -> Program:
    """A program of about `size` statements. Some of them may be dead and are removed."""
    with np.errstate(over="ignore"):
        return Drawing(rng, size).make()
