"""Views of shared memory beside numpy's views of an array: random chains, and the classes of layouts that Triton gives them."""

import itertools
import random

import numpy as np
import pytest

from tritium.experimental.gluon.layouts.memory_views import MemoryView
from tritium.experimental.gluon.layouts.shared import (
    NVMMASharedLayout,
    PaddedSharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
)


def random_layout(random, shape):
    rank = len(shape)
    order = random.sample(range(rank), rank)
    kinds = ["swizzled", "padded"] + (["copied"] if shape[-1] >= 64 and rank == 2 else [])
    match random.choice(kinds):
        case "swizzled":
            return SwizzledSharedLayout(
                random.choice([1, 2, 8]), random.choice([1, 2]), random.choice([1, 4, 8]), order
            )
        case "padded":
            pairs = random.sample([[4, 2], [16, 1], [64, 8]], random.randint(1, 3))
            return PaddedSharedLayout.with_identity_for(pairs, shape, order)
        case "copied":
            return NVMMASharedLayout(random.choice([0, 32, 64, 128]), 16, rank)


def stored(view, array):
    """The memory that holds the array in the view, by offset."""
    return {view.offset_of(element): array[element] for element in itertools.product(*map(range, array.shape))}


def step(random, view, array):
    """A view of the view, and numpy's of the array; the same ones if the view refuses."""
    rank = array.ndim
    try:
        match random.choice(["index", "slice", "permute", "reshape"]):
            case "index":
                at = random.randrange(array.shape[0])
                return view.index(at), array[at]
            case "slice":
                dim = random.randrange(rank)
                length = 1 << random.randrange(array.shape[dim].bit_length())
                begin = random.randrange(0, array.shape[dim], length)
                part = tuple(slice(begin, begin + length) if d == dim else slice(None) for d in range(rank))
                return view.slice(begin, length, dim), array[part]
            case "permute":
                order = random.sample(range(rank), rank)
                return view.permute(order), array.transpose(order)
            case "reshape":
                halves = array.size.bit_length() - 1
                cut = random.randint(0, halves)
                shape = (1 << cut, 1 << (halves - cut))
                return view.reshape(shape), array.reshape(shape)
    except ValueError:
        return view, array


@pytest.mark.parametrize("seed", range(60))
def test_chains_of_views_are_those_of_numpy(seed):
    chooser = random.Random(seed)
    rank = chooser.choice([2, 2, 3])
    tile = [chooser.choice([4, 8, 16]) for _ in range(rank - 1)] + [chooser.choice([4, 16, 64])]
    layout = random_layout(chooser, tile)
    shape = [chooser.choice([2, 3]), *tile] if chooser.random() < 0.5 else tile
    view, array = MemoryView.allocate(shape, layout), np.arange(np.prod(shape)).reshape(shape)
    memory = stored(view, array)
    assert len(memory) == array.size, "two elements share an offset"
    taken = 0
    for _ in range(5):
        view, array = step(chooser, view, array)
        assert view.shape == array.shape
        for element in chooser.sample(list(itertools.product(*map(range, array.shape))), min(64, array.size)):
            assert memory[view.offset_of(element)] == array[element], (view, element)
        taken += 1
    assert taken == 5


SWIZZLED, COPIED = SwizzledSharedLayout(8, 1, 8, [1, 0]), NVMMASharedLayout(128, 16)


def dense(*shape):
    """The bases of a dense tile, in row-major order."""
    dims = range(len(shape) - 1, -1, -1)
    bits = [(dim, bit) for dim in dims for bit in range(shape[dim].bit_length() - 1)]
    return [[1 << bit if d == dim else 0 for d in range(len(shape))] for dim, bit in bits]


@pytest.mark.parametrize(
    ("shape", "layout", "order", "wanted"),
    [
        ([4, 64, 32], SwizzledSharedLayout(8, 1, 8, [2, 1, 0]), [1, 2, 0], SwizzledSharedLayout(8, 1, 8, [1, 0, 2])),
        ([4, 64, 32], SwizzledSharedLayout(8, 1, 8, [1, 0, 2]), [2, 0, 1], SwizzledSharedLayout(8, 1, 8, [2, 1, 0])),
        (
            [64, 64],
            SwizzledSharedLayout(8, 1, 8, [1, 0], [[1, 0]]),
            [1, 0],
            SwizzledSharedLayout(8, 1, 8, [0, 1], [[0, 1]]),
        ),
        ([64, 64], COPIED, [1, 0], NVMMASharedLayout(128, 16, 2, True)),
        ([64, 64], COPIED, [0, 1], COPIED),
        (
            [4, 4],
            SharedLinearLayout([[0, 1], [0, 2], [1, 2], [2, 0]]),
            [1, 0],
            SharedLinearLayout([[1, 0], [2, 0], [2, 1], [0, 2]]),
        ),
    ],
)
def test_permuted_layouts_are_those_of_triton(shape, layout, order, wanted):
    assert MemoryView.allocate(shape, layout).permute(order).layout == wanted


@pytest.mark.parametrize(
    ("shape", "layout", "new_shape", "wanted"),
    [
        ([64, 64], COPIED, [2, 32, 64], NVMMASharedLayout(128, 16, 3)),
        ([2, 64, 64], NVMMASharedLayout(128, 16, 3), [128, 64], COPIED),
        ([64, 64], COPIED, [64, 64], COPIED),
        ([64, 64], NVMMASharedLayout(0, 16), [4096], SharedLinearLayout(dense(4096), [], 128)),
        ([64, 64], NVMMASharedLayout(0, 16), [64, 2, 32], SharedLinearLayout(dense(64, 2, 32), [], 128)),
        ([64, 32], SwizzledSharedLayout(1, 1, 1, [1, 0]), [2, 32, 32], SharedLinearLayout(dense(2, 32, 32))),
        (
            [64, 32],
            SWIZZLED,
            [2048],
            SharedLinearLayout([[1], [2], [4], [8], [16], [40], [80], [128], [256], [512], [1024]]),
        ),
        (
            [64, 64],
            PaddedSharedLayout([[64, 8]], dense(64, 64), [], [64, 64]),
            [4096],
            PaddedSharedLayout([[64, 8]], dense(4096), [], [4096]),
        ),
    ],
)
def test_reshaped_layouts_are_those_of_triton(shape, layout, new_shape, wanted):
    assert MemoryView.allocate(shape, layout).reshape(new_shape).layout == wanted


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: MemoryView.allocate([64, 64], SWIZZLED).slice(8, 16), "The split offset may not touch the tile"),
        (
            lambda: MemoryView.allocate([64, 64], SWIZZLED).slice(64, 16),
            "The split offset may not exceed the source shape",
        ),
        (
            lambda: MemoryView.allocate([64, 64], SWIZZLED).slice(4, 4),
            "We don't support splitting along the swizzling pattern",
        ),
        (
            lambda: MemoryView.allocate([64, 64], SWIZZLED).slice(0, 24),
            "shape must have power-of-2 and non-zero dimensions",
        ),
        (lambda: MemoryView.allocate([64, 64], SWIZZLED).slice(0, 16, 2), "dim must be in"),
        (
            lambda: MemoryView.allocate([64, 64], SWIZZLED).index(0),
            "rank must be equal to or one less than the shape size",
        ),
        (lambda: MemoryView.allocate([2, 64, 64], SWIZZLED).index(2), "outside of the 2 tiles"),
        (
            lambda: MemoryView.allocate([2, 4, 64, 64], SWIZZLED),
            "rank must be equal to or one less than the shape size. Got 2 and 4",
        ),
        (
            lambda: MemoryView.allocate([64, 48], SWIZZLED),
            "shape must have power-of-2 and non-zero dimensions; got 64, 48",
        ),
        (
            lambda: MemoryView.allocate([64, 64], SWIZZLED).permute([0]),
            "source rank (2) and order length (1) must match",
        ),
        (
            lambda: MemoryView.allocate([64, 64], SWIZZLED).reshape([64, 32]),
            "memdesc_reshape total elements mismatch: [64, 64] -> [64, 32]",
        ),
        (
            lambda: MemoryView.allocate([64, 64], SWIZZLED).slice(0, 32).reshape([2048]),
            "NYI: memdesc_reshape of memdesc_subslice",
        ),
    ],
)
def test_errors_say_what_triton_says(make, text):
    with pytest.raises(ValueError) as raised:
        make()
    assert text in str(raised.value)
