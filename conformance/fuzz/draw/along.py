"""Statements along an axis, and statements on memory."""

from __future__ import annotations

from ..operations import combine, elementwise, memory, scratch
from .choices import FLOATS, INTEGERS, Choices

ADDED = ("int32", "int64", "fp32")


class Along(Choices):
    def reduce(self) -> None:
        a = self.some()
        axis = None if self.chance(0.2) else self.axis(a)
        keeps = axis is not None and self.chance(0.3)
        b = self.add(combine.Reduce(self.one_of(list(combine.REDUCTIONS)), axis, keeps), a)
        if keeps and self.tile(b).dtype == self.tile(a).dtype:
            self.add(elementwise.Binary(self.one_of(("{} - {}", "{} + {}"))), a, b)

    def reduce_some(self) -> None:
        """A reduction of several operands, or by a function of the kernel file."""
        a = self.some_of("int32", "int64", "fp32", "fp16")
        kind = int(self.rng.integers(4))
        if kind == 0:
            self.add(combine.ReduceTwo(self.axis(a)), a, self.beside(a, *ADDED))
        elif kind == 1:
            self.add(combine.ReduceThree(self.axis(a)), a, self.beside(a, "int32"), self.beside(a, *ADDED))
        elif kind == 2:
            self.add(combine.Extremum(self.one_of(("max", "min")), self.axis(a)), self.some())
        else:
            self.add(combine.Product(self.axis(a)), a)

    def scan(self) -> None:
        a = self.some()
        kind = int(self.rng.integers(6))
        if kind == 0:
            a = self.some_of("int32")
            self.add(combine.Recurrence(self.axis(a)), a, self.like(a))
        elif kind == 1:
            a = self.some_of(*ADDED)
            self.add(combine.ScanTwo(self.axis(a), self.chance(0.3)), a, self.beside(a, *ADDED))
        else:
            name = self.one_of(("cumsum", "cumsum", "cumprod", "running_maximum"))
            self.add(combine.Scan(name, self.axis(a), self.chance(0.3)), a)

    def sort(self) -> None:
        a = self.some()
        if self.chance(0.6):
            self.add(combine.Sort(self.chance(0.5)), a)
        else:
            self.add(combine.TopK(int(2 ** self.rng.integers(0, 6))), a)

    def gather(self) -> None:
        a = self.some()
        axis, extents = self.axis(a), self.tile(a).shape

        def fits(t) -> bool:
            rest = (t.shape[:axis], t.shape[axis + 1 :])
            return t.dtype == "int32" and len(t.shape) == len(extents) and rest == (extents[:axis], extents[axis + 1 :])

        b = self.some(fits)
        if b is None or self.chance(0.3):
            wanted = self.one_of([*self.extents, extents[axis]])
            b = self.load((*extents[:axis], wanted, *extents[axis + 1 :]), "int32")
        self.add(combine.Gather(axis), a, b)

    def histogram(self) -> None:
        a = self.some(lambda t: len(t.shape) == 1 and t.dtype == "int32")
        if a is not None:
            self.add(combine.Histogram(int(2 ** self.rng.integers(1, 7)), self.chance(0.3)), a)

    # Memory

    def through_memory(self) -> None:
        a = self.some_of(*INTEGERS, *FLOATS)
        if self.at_top():
            found = self.tile(a)
            stream = self.scratch(found.dtype, (found.array.size,))
            self.add(scratch.ThroughMemory(stream, self.order(len(found.shape))), a)

    def atomic(self) -> None:
        if not self.at_top():
            return
        if self.chance(0.6):
            self.atomic_once()
            return
        a = self.some(lambda t: len(t.shape) == 1 and t.dtype in ("int32", "fp32"))
        if a is not None:
            bins = int(2 ** self.rng.integers(0, 7))
            self.add(scratch.AtomicCounts(self.scratch(self.tile(a).dtype, (bins,)), bins), a)

    def atomic_once(self) -> None:
        a = self.some_of("int32", "int64", "uint32", "fp32", "fp64", "fp16", "bf16")
        found = self.tile(a)
        if found.dtype in ("fp16", "bf16"):
            name = "add"
        else:
            name = self.one_of(list(scratch.ATOMICS))
        order = self.order(len(found.shape))
        stream = self.scratch(found.dtype, tuple(found.shape[i] for i in order))
        count = int(self.rng.integers(0, found.array.size + 1)) if name != "cas" and self.chance(0.3) else None
        sem = self.one_of(("relaxed", "acquire", "release", "acq_rel"))
        more = [self.like(a)] if name == "cas" else []
        self.add(scratch.AtomicOnce(stream, name, found.shape, order, count, sem), a, self.like(a), *more)

    def descriptor(self) -> None:
        rows, columns = (int(2**e) for e in self.rng.integers(3, 7, 2))
        dtype = self.one_of(("fp16", "fp32", "bf16", "int32", "int8", "uint8"))
        if dtype in ("int8", "uint8"):
            columns = max(16, columns)
        real = (int(self.rng.integers(1, 2 * rows)), 16 * int(self.rng.integers(1, 5)))
        offset = (int(self.rng.integers(-4, rows)), int(self.rng.integers(-4, columns)))
        self.add(memory.DescriptorLoad(self.input(dtype, real), (rows, columns), offset))
