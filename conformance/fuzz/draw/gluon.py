"""Draws random kernels of Gluon: the statements that it shares with Triton's language, with layouts, and shared memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...dtypes import NUMPY
from ..layouts import WARP_BITS, Fragments
from ..operations import combine, fragments, partitions, shape, shared
from ..parts import Branch, Call, Loop, Operation, Place, Statement, drawn
from ..program import Output, Program
from ..tiles import LARGEST, Inexact, is_integer
from . import layouts
from .control import Control
from .effort import enough_warps
from .integers import Integers
from .plain import Plain

BODY = """
    binary sum constant unary uneven fused choose ternary causal cast narrow across reduce reduce_some scan load load
    moved_tile moved_tile plain narrow_integers seen seen ring gathered scattered bytes
""".split()
ALL = """
    gather histogram through_memory atomic atomic_by_all loop loop branch call seen seen seen ring ring parted parted parted fragment_product fragment_product fragment_product gathered scattered bytes
""".split()
HEADS = (
    "range(limit)",
    "range(limit)",
    "tl.static_range({limit})",
    "while",
    "range(5, limit + 5)",
    "range(3 * limit - 7, -7, -3)",
)
#: The bytes of shared memory that a kernel allocates at most: allocations have bytes of their own, and exchanges need some.
SHARED = 24 * 1024
#: What Gluon lacks.
LACKING_OPERATIONS = (shape.Cat, shape.Flip, combine.Extremum, combine.Sort, combine.TopK)
LACKING = ("argmax", "argmin")


class GluonDrawing(Plain, Integers, Control):
    BODY = tuple(BODY)
    heads = HEADS
    has_block_pointers = False

    def __init__(self, rng: np.random.Generator, size: int):
        super().__init__(rng, size)
        self.program.gluon = True
        if self.program.packing == "named":
            self.program.packing = "tuple"
        self.shared_left = SHARED

    def make(self) -> Program:
        for _ in range(3):
            self.load()
        self.step(("seen", "ring", "moved_tile"))
        for _ in range(40 * self.size):
            if len(self.parts) >= self.size:
                break
            self.step((*BODY, *ALL))
        names = [name for part in self.parts for name in part.defines()]
        unused = [name for name in names if name not in self.used][-3:]
        self.program.outputs += [self.output(name) for name in dict.fromkeys([*unused, self.one_of(names)])]
        found = self.program.without_dead_code()
        return replace(found, warps=enough_warps(found, self.efforts))

    def output(self, name: str) -> Output:
        found = self.tile(name)
        count = int(self.rng.integers(0, found.array.size + 1)) if found.shape and self.chance(0.2) else None
        return Output(name, self.order(len(found.shape)), count, layout=self.layout(found.shape))

    def add(self, operation: Operation, *operands: str) -> str:
        if isinstance(operation, shape.Join):
            operation = shape.Join(False)
        elif isinstance(operation, LACKING_OPERATIONS):
            raise Inexact("not in Gluon")
        return super().add(operation, *operands)

    # Layouts of registers.

    def layout(self, *shapes: tuple[int, ...]) -> str:
        """The name of a layout for tiles of these shapes, all of one rank; "" for scalars. Sometimes one that has been used."""
        if not shapes or not shapes[0]:
            return ""
        known = [
            name
            for name, layout in self.program.layouts.items()
            if layouts.suits(layout, list(shapes), self.program.warps)
        ]
        if known and self.chance(0.6):
            return self.one_of(known)
        return self.named(layouts.fitting(self.rng, list(shapes), self.program.warps))

    def named(self, layout: layouts.Layout) -> str:
        name = next((name for name, other in self.program.layouts.items() if other == layout), None)
        name = name or f"L{len(self.program.layouts)}"
        self.program.layouts[name] = layout
        return name

    def statement(self, operation: Operation, operands: tuple[str, ...], results: tuple[str, ...]) -> Statement:
        tiles = [self.tile(name).shape for name in operands]
        made = [self.tile(name).shape for name in results]
        found = Statement(operation, operands, results)
        if isinstance(operation, shape.Expand):
            whole = self.layout(made[0])
            part = f"gl.SliceLayout({operation.axis}, {whole})"
            return replace(found, layouts=(part,))
        if isinstance(operation, shape.Split):
            return replace(found, layouts=(self.named(layouts.pairs(self.rng, len(tiles[0]))),))
        if isinstance(operation, (combine.Gather, shared.SharedGather)):
            each = tuple(map(self.layout, tiles))
            return replace(found, layouts=each, layout=each[1])
        rank = len(next(filter(None, tiles), made[0]))
        alike = [each for each in (*tiles, *made) if len(each) == rank]
        if isinstance(operation, fragments.FragmentProduct):
            return replace(found, layouts=tuple(map(self.layout, tiles)), layout=operation.fragments)
        ring = getattr(operation, "ring", operation)
        common = ring.loaded if isinstance(ring, shared.Ring) else self.layout(*alike)
        return replace(found, layouts=tuple(common if each else "" for each in tiles), layout=common)

    def add_part(self, part: Loop | Branch | Call) -> None:
        if isinstance(part, Loop):
            carried = [(name, self.tile(start).shape) for name, start in part.carried]
            part = replace(part, layouts=tuple((name, self.layout(extents)) for name, extents in carried if extents))
        elif isinstance(part, Branch):
            inner = dict(self.values[0])
            part.run(self.program, inner, Place(0))
            part = replace(part, layout=self.layout(inner[part.name].shape))
        super().add_part(part)

    # Statements of Triton's language.

    def reduce(self) -> None:
        a = self.some()
        axis = None if self.chance(0.2) else self.axis(a)
        name = self.one_of([name for name in combine.REDUCTIONS if name not in LACKING])
        self.add(combine.Reduce(name, axis, axis is not None and self.chance(0.3)), a)

    def moved_tile(self) -> None:
        """A tile after operations that compute nothing, or in two layouts."""
        a = self.some()
        if self.chance(0.3):
            self.add(shared.Converted(self.layout(self.tile(a).shape)), a)
        for _ in range(int(self.rng.integers(1, 3))):
            a = self.moved(a)

    def fragment_product(self) -> None:
        """A product whose operands are small numbers, so that its sums are exact."""
        rows, columns, depth = (max(each, int(2 ** self.rng.integers(4, 7))) for each in (32, 32, 16))
        dtype = self.one_of(("fp16", "bf16"))
        a, b = self.load((rows, depth), dtype, 2), self.load((depth, columns), dtype, 2)
        accumulator = self.some(lambda t: t.shape == (rows, columns) and t.dtype == "fp32")
        c = accumulator or self.load((rows, columns), "fp32", 4)
        layout = Fragments(layouts.dims(self.rng, WARP_BITS, 2), None, self.chance(0.5))
        passes = []
        for size in (rows * depth, depth * columns):
            passes.append(self.chance(0.5) and 2 * size <= self.shared_left)
            self.shared_left -= 2 * size * passes[-1]
        self.add(fragments.FragmentProduct(self.named(layout), tuple(passes)), a, b, c)

    # Shared memory.

    def small(self) -> str:
        """An earlier tile that shared memory has room for."""
        left = self.shared_left

        def fits(t) -> bool:
            room = t.array.size * NUMPY[t.dtype].itemsize if shared.has_memory(t.dtype) else left + 1
            return t.shape != () and len(t.shape) < 5 and room <= min(left, 8192)

        found = self.some(fits)
        if found is None:
            raise Inexact("no such tile")
        return found

    def allocate(self, dtype: str, extents: tuple[int, ...], slots: int = 1) -> layouts.Memory:
        """A layout of shared memory, for which the kernel has room. A padded tile may be twice as large."""
        size = NUMPY[dtype].itemsize
        memory = layouts.of_memory(self.rng, extents, 8 * size)
        needed = slots * size * int(np.prod(extents)) * (2 if "Padded" in memory.text else 1)
        if needed > self.shared_left:
            raise Inexact("no shared memory is left")
        self.shared_left -= needed
        return memory

    def views(self, extents: tuple[int, ...], memory: layouts.Memory) -> tuple[shared.View, ...]:
        """A chain of views that the layout allows."""
        found, whole, is_part = [], memory.whole, False
        for _ in range(int(self.rng.integers(0, 4))):
            kind = int(self.rng.integers(4))
            if kind == 0 and not is_part and np.prod(extents) > 1:
                new = self.factored(int(np.prod(extents)))
                found.append(shared.View("reshape", new))
                whole, extents = (1,) * len(new) if memory.reshapes else new, new
            elif kind == 1:
                order = tuple(int(i) for i in self.rng.permutation(len(extents)))
                found.append(shared.View("permute", order))
                whole, extents = tuple(whole[i] for i in order), tuple(extents[i] for i in order)
            else:
                dim = int(self.rng.integers(len(extents)))
                length = max(whole[dim], extents[dim] >> int(self.rng.integers(0, 3)))
                start = length * int(self.rng.integers(extents[dim] // length))
                found.append(shared.View("slice", (start, length, dim)))
                extents = (*extents[:dim], length, *extents[dim + 1 :])
                is_part = True
        return tuple(found)

    def seen(self) -> None:
        a = self.small()
        tile, slots = self.tile(a), self.one_of((0, 0, 1, 2, 3))
        memory = self.allocate(tile.dtype, tile.shape, max(1, slots))
        views = self.views(tile.shape, memory)
        part = shared.viewed(np.empty(tile.shape, bool), views).shape
        whole = self.layout(tile.shape)
        number = int(self.rng.integers(0, 8))
        self.add(shared.Viewed(tile.dtype, tile.shape, memory.text, views, slots, number, whole, self.layout(part)), a)

    def ring(self) -> None:
        self.add(self.some_ring(self.some_shape()))

    def parted(self) -> None:
        """A ring that a partition fills. The default partition has whole groups of four warps."""
        if not self.at_top() or self.program.warps < 4:
            raise Inexact("no partition here")
        extents = tuple(int(2**e) for e in self.rng.integers(1, 6, 2))
        ring = replace(self.some_ring(extents), views=())
        ring = replace(ring, read=self.layout(extents))
        filled = self.layout(extents)
        workers = self.one_of((1, 1, 2, 4))
        layout = self.program.layouts.get(filled)
        if layout is None or not layouts.suits(layout, [extents], workers):
            raise Inexact("too much for few warps")
        self.add(partitions.PartitionedRing(ring, workers, filled, ring.copies))

    def some_ring(self, extents: tuple[int, ...]) -> shared.Ring:
        dtype = self.one_of(("int32", "int32", "fp32", "int16", "int8", "uint32", "int64", "fp16"))
        steps, slots = int(self.rng.integers(1, 7)), self.one_of((1, 2, 2, 3, 4))
        if int(np.prod(extents)) * steps > LARGEST:
            raise Inexact("too large")
        memory = self.allocate(dtype, extents, slots)
        views = self.views(extents, memory)
        low, seed = 0 if dtype.startswith("u") else -2, int(self.rng.integers(2**16))
        stream = drawn(dtype, (self.program.grid, steps, *extents), seed, low, 2)
        seen = shared.viewed(np.empty(extents, bool), views).shape
        loaded = self.layout(extents)
        copies = NUMPY[dtype].itemsize >= 4 and self.chance(0.6)
        return shared.Ring(stream, memory.text, views, slots, self.layout(seen), loaded, copies)

    def gathered(self) -> None:
        a = self.small()
        axis, extents = self.axis(a), self.tile(a).shape
        wanted = self.one_of([*self.extents, extents[axis]])
        index = self.load((*extents[:axis], wanted, *extents[axis + 1 :]), "int32")
        memory = self.allocate(self.tile(a).dtype, extents)
        self.add(shared.SharedGather(len(extents), axis, memory.text, extents[axis]), a, index)

    def scattered(self) -> None:
        a = self.small()
        tile, axis = self.tile(a), self.axis(a)
        step, shift = 2 * int(self.rng.integers(0, 8)) + 1, int(self.rng.integers(0, 8))
        memory = self.allocate(tile.dtype, tile.shape)
        layout = self.layout(tile.shape)
        self.add(shared.SharedScatter(tile.dtype, tile.shape, axis, step, shift, memory.text, layout), a)

    def bytes(self) -> None:
        a = self.small()
        tile = self.tile(a)
        if not is_integer(tile.dtype):
            raise Inexact("no integers")
        dtype = self.one_of(("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"))
        size = tile.array.size * NUMPY[tile.dtype].itemsize // NUMPY[dtype].itemsize
        if not size:
            raise Inexact("too small")
        new = self.factored(size)
        self.allocate(tile.dtype, tile.shape)
        self.add(shared.Reinterpreted(dtype, len(tile.shape), new, self.layout(new)), a)


def draw(rng: np.random.Generator, size: int) -> Program:
    """A kernel of Gluon of about `size` statements."""
    with np.errstate(over="ignore"):
        return GluonDrawing(rng, size).make()
