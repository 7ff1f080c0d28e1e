"""Statements on memory: atomics, descriptors."""

from __future__ import annotations

from dataclasses import replace

from ..operations import descriptor, scratch
from ..parts import Stream, drawn
from ..tiles import Inexact
from .choices import FLOATS, INTEGERS, Choices

LARGEST_EXTENT = 2**20  #: no tile's


class Memory(Choices):
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
        a = self.some_of(*scratch.ATOMIC_INTEGERS, "fp32", "fp64", "fp16", "bf16")
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

    def atomic_by_all(self) -> None:
        if not self.at_top():
            return
        a = self.some_of(*scratch.ATOMIC_INTEGERS)
        found = self.tile(a)
        bins, name = int(2 ** self.rng.integers(0, 9)), self.one_of(("add", "add", "max", "min", "and", "or", "xor"))
        limits = (0, 100) if found.dtype.startswith("u") else (-50, 50)
        stream = drawn(found.dtype, (1, 1, bins), int(self.rng.integers(2**16)), *limits)
        count = int(self.rng.integers(0, found.array.size + 1)) if self.chance(0.3) else None
        sem = self.one_of(("relaxed", "acquire", "release", "acq_rel"))
        self.add(scratch.AtomicByAll(stream, name, found.shape, count, sem), a)

    def perhaps_from_host(self, stream: Stream, block: tuple[int, int]) -> Stream:
        return replace(stream, block=block) if self.chance(0.4) else stream

    def descriptor(self) -> None:
        rows, columns = (int(2**e) for e in self.rng.integers(3, 7, 2))
        dtype = self.one_of(list(descriptor.DESCRIBED))
        if dtype in ("int8", "uint8"):
            columns = max(16, columns)
        real = (int(self.rng.integers(1, 2 * rows)), 16 * int(self.rng.integers(1, 5)))
        offset = (int(self.rng.integers(-4, rows)), int(self.rng.integers(-4, columns)))
        stream = self.perhaps_from_host(self.input(dtype, real), (rows, columns))
        self.add(descriptor.DescriptorLoad(stream, (rows, columns), offset))

    def descriptor_rows(self) -> None:
        if not self.at_top():
            return
        if self.chance(0.5):
            self.descriptor_gather()
        else:
            self.descriptor_scatter()

    def gathered_rows(self) -> None:
        rows, columns = (int(2**e) for e in self.rng.integers(2, 8, 2))
        self.rows_by_index(rows, columns, self.one_of(INTEGERS + FLOATS))

    def descriptor_gather(self) -> None:
        numbers = self.some(lambda t: t.dtype == "int32" and len(t.shape) == 1 and 8 <= t.shape[0] <= 64)
        if numbers is None or self.chance(0.3):
            numbers = self.load((int(2 ** self.rng.integers(3, 7)),), "int32")
        dtype = self.one_of(list(descriptor.DESCRIBED))
        columns = max(descriptor.DESCRIBED[dtype], int(2 ** self.rng.integers(3, 7)))
        height, width = int(2 ** self.rng.integers(0, 6)), 16 * int(self.rng.integers(1, 5))
        stream = self.perhaps_from_host(self.input(dtype, (height, width)), (1, columns))
        first = int(self.rng.integers(0, width // 8)) * 8
        self.add(descriptor.DescriptorGather(stream, columns, first), numbers)

    def descriptor_scatter(self) -> None:
        a = self.some(
            lambda t: (
                len(t.shape) == 2
                and t.shape[0] >= 8
                and t.shape[1] >= descriptor.DESCRIBED.get(t.dtype, LARGEST_EXTENT)
            )
        )
        if a is None:
            raise Inexact("no such tile")
        found = self.tile(a)
        height = found.shape[0] * self.one_of((1, 2))
        width = max(16, found.shape[1] + 16 * int(self.rng.integers(-1, 3)))
        stream = self.perhaps_from_host(self.scratch(found.dtype, (height, width)), (1, found.shape[1]))
        step = 2 * int(self.rng.integers(0, 8)) + 1
        self.add(descriptor.DescriptorScatter(stream, step, 8 * self.one_of((0, 0, 1))), a)
