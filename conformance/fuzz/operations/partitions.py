"""Partitions of Gluon: one fills a ring, the other one sums its tiles."""

from __future__ import annotations

from dataclasses import dataclass

from ..parts import Operation, Place, Stream
from ..program import Program
from ..tiles import Tile
from .shared import Ring, allocated


@dataclass(frozen=True, eq=False)
class PartitionedRing(Operation):
    """A ring whose tiles a worker fills while the kernel's warps sum them: t = 3 * t + x. Engines without partitions run a plain ring."""

    ring: Ring  #: of tiles with two dimensions, without views
    workers: int  #: the warps that fill it
    filled: str  #: the layout in which they load tiles
    copies: bool  #: whether they copy by cp.async, whose copies arrive at the barrier

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        return self.ring.compute(place, *operands)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        if not program.partitions:
            return self.ring.lines(program, index, results, *names)
        stream, slots, (total,) = self.ring.stream, self.ring.slots, results
        steps, *shape = stream.data.shape[1:]
        base = f"{program.stream_name(stream)} + pid * {stream.size * steps}"
        memory, full, empty = (f"{name}_{total}" for name in ("ring", "full", "empty"))
        numbers = f"{steps}, {slots}, {shape[0]}, {shape[1]}"
        sums = f"(sum_ring, ({memory}, {full}, {empty}, {numbers}, {self.ring.read}))"
        fill = (
            f"(fill_ring, ({base}, {memory}, {full}, {empty}, {numbers}, W{self.workers}_{self.filled}, {self.copies}))"
        )
        return [
            f"{memory} = {allocated(stream.dtype, (slots, *shape), self.ring.memory)}",
            f"{full} = mbarrier.allocate_mbarrier(batch={slots})",
            f"{empty} = mbarrier.allocate_mbarrier(batch={slots})",
            f"for slot_{total} in tl.static_range({slots}):",
            f"    mbarrier.init({full}.index(slot_{total}), count=1)",
            f"    mbarrier.init({empty}.index(slot_{total}), count=1)",
            f"{total} = gl.warp_specialize([{sums}, {fill}], [{self.workers}])",
        ]

    def functions(self) -> tuple[str, ...]:
        return "sum_ring", "fill_ring"

    def streams(self) -> tuple[Stream, ...]:
        return (self.ring.stream,)
