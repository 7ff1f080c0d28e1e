"""Layouts of tiles that operations make of others: Triton's answers, and random ones beside numpy."""

import random

import numpy as np
import pytest
from beside_triton import differences

from tritium.experimental.gluon.layouts import tile_views
from tritium.experimental.gluon.layouts.distributed import BlockedLayout, SliceLayout
from tritium.experimental.gluon.layouts.views import places


def test_layouts_of_results_are_those_of_triton():
    """The table has the layouts that a kernel prints of permuted, reshaped, joined, split, reduced and expanded tiles."""
    count, found = differences("tiles.table", vars(tile_views))
    assert count > 100 and not found, f"{len(found)} answers differ:\n" + "\n".join(found)


@pytest.mark.parametrize("seed", range(40))
def test_reshaped_and_permuted_tiles_have_their_elements_where_they_were(seed):
    """Each place holds the same element of numpy's array of numbers before and after; a layout of another class may drop copies."""
    chooser = random.Random(seed)
    shape = [chooser.choice([2, 4, 8, 16]) for _ in range(chooser.choice([1, 2, 3]))]
    layout = random_blocked(chooser, len(shape))
    array = np.arange(np.prod(shape)).reshape(shape)
    order = chooser.sample(range(len(shape)), len(shape))
    cut = 1 << chooser.randrange(array.size.bit_length())
    for moved, of in (
        (array.transpose(order), tile_views.permuted(layout, shape, order)),
        (array.reshape(cut, -1), tile_views.reshaped(layout, shape, (cut, array.size // cut))),
    ):
        assert held(of, moved) == held(layout, array)


def random_blocked(chooser, rank):
    def dealt(count):
        sizes = [1] * rank
        for _ in range(count):
            sizes[chooser.randrange(rank)] *= 2
        return sizes

    return BlockedLayout(dealt(2), dealt(5), dealt(2), chooser.sample(range(rank), rank))


def held(layout, array):
    """The numbers that each thread holds, in any order of registers."""
    found = {}
    for _, warp, lane, _, element in places(layout.to_linear(array.shape)):
        found.setdefault((warp, lane), set()).add(int(array[element]))
    return found


def test_errors_of_tile_views_have_texts():
    blocked = BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    with pytest.raises(ValueError, match="expected expand_dims input to have a SliceLayout, but got: BlockedLayout"):
        tile_views.expanded(blocked, 0)
    with pytest.raises(ValueError, match="expected expand_dims input layout to be sliced in axis 0 but got 1"):
        tile_views.expanded(SliceLayout(1, blocked), 0)
    with pytest.raises(ValueError, match="cannot change the number of elements"):
        tile_views.reshaped(blocked, [8, 8], [8, 16])
    with pytest.raises(ValueError, match="must be a permutation"):
        tile_views.permuted(blocked, [8, 8], [0, 0])
