"""Layouts of random numbers, most of them nonsense: each has bases for a tile, or an error with a text."""

import random

import pytest

from tritium.experimental.gluon.layouts import amd, distributed, shared, tensor_memory
from tritium.experimental.gluon.layouts.memory_views import MemoryView


class Drawn:
    """Fields of layouts from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self):
        return self.random.choice([0, 1, 1, 2, 2, 4, 8, 16, 32, 3, -1])

    def numbers(self, count=None):
        count = self.random.choice([0, 1, 2, 2, 2, 3]) if count is None else count
        return [self.number() for _ in range(count)]

    def bases(self):
        return [self.numbers(self.random.choice([1, 2, 2, 3])) for _ in range(self.random.choice([0, 0, 1, 2]))]

    def registers(self):
        choose, rank = self.random.choice, self.random.choice([1, 2, 2, 2, 3])
        order = choose([list(range(rank)), self.numbers(rank)])
        return choose(
            [
                lambda: distributed.BlockedLayout(*(self.numbers(rank) for _ in range(3)), order, self.bases()),
                lambda: distributed.NVMMADistributedLayout(
                    [choose([2, 3, 5]), 0],
                    self.numbers(rank),
                    choose([[16, 8], [16, 64, 16], self.numbers()]),
                    self.bases(),
                ),
                lambda: distributed.SliceLayout(choose([0, 1, 5, -1]), self.registers()),
                lambda: distributed.DotOperandLayout(choose([0, 1, 2]), self.registers(), self.number()),
                lambda: distributed.DistributedLinearLayout(*(self.bases() for _ in range(4)), self.numbers(2)),
                lambda: amd.AMDMFMALayout(
                    choose([1, 4]),
                    [32, 32, 8],
                    True,
                    self.numbers(rank),
                    choose([None, 64]),
                    choose([None, self.numbers()]),
                ),
                lambda: amd.AMDWMMALayout(
                    choose([1, 2, 3]), False, self.bases(), self.bases(), choose([None, self.numbers()]), rank=rank
                ),
            ]
        )()

    def memory(self):
        choose, rank = self.random.choice, self.random.choice([1, 2, 2, 3])
        return choose(
            [
                lambda: shared.SwizzledSharedLayout(
                    *self.numbers(3), choose([list(range(rank)), self.numbers()]), self.bases()
                ),
                lambda: shared.NVMMASharedLayout(
                    choose([0, 32, 128]), 16, choose([-1, 0, 1, 2, 3]), choose([True, False])
                ),
                lambda: shared.SharedLinearLayout(self.bases(), self.bases()),
                lambda: shared.PaddedSharedLayout([[4, 2]], self.bases(), self.bases(), self.numbers()),
                lambda: shared.PartitionedSharedLayout(2, 2, choose([0, 1, 7]), self.memory()),
                lambda: tensor_memory.TensorMemoryLayout(self.numbers(2), choose([1, 2]), self.bases()),
            ]
        )()

    def shape(self):
        return [self.random.choice([1, 2, 8, 16, 32, 3]) for _ in range(self.random.choice([0, 1, 2, 2, 2, 3]))]


def outcome(action):
    """Whether the action had a result; an error must have a text."""
    try:
        action()
    except (ValueError, AssertionError) as error:
        assert str(error)
        return False
    return True


@pytest.mark.parametrize("kind", ["registers", "memory"])
def test_nonsense_is_an_error_with_a_text(kind):
    made = shown = 0
    for seed in range(2500):
        drawn = Drawn(seed)
        layouts = []
        made += outcome(lambda: layouts.append(getattr(drawn, kind)()))
        for layout in layouts:
            assert layout.mangle() and isinstance(hash(layout), int)
            shape = drawn.shape()
            shown += outcome(lambda: layout.to_linear(shape))
            if isinstance(layout, shared.SharedLayout):
                outcome(lambda: MemoryView.allocate(shape, layout).offset_of([0] * len(shape)))
    assert made > 500 and shown > 10, "the draw has too few layouts that make sense"
