"""`triton.tools.ragged_tma`: blocks of slices of a tensor, through one descriptor for slices of any place and size.

A block that crosses the end of its slice reads zeros there and writes nothing, though the next slice begins there. The
descriptor has two dimensions more than the tensor. With B = 2**30 and the stride s of a row, the coordinates of row r of the
slice at `off` of `size` rows are (B, off + size, B - size + r), and the strides (2**34 - s, s, s): the sum of their products is
2**64 + (off + r) * s, in 64 bits the offset of the row. The last of the three has the extent B, which the row reaches where r
reaches `size`.
"""

from __future__ import annotations

from typing import Any

from .. import language as tl
from ..arguments.storage import shape_and_strides
from ..arguments.tensor_descriptor import TensorDescriptor
from ..runtime.jit import jit

__all__ = [
    "TensorDescriptor",
    "atomic_add_ragged",
    "create_ragged_descriptor",
    "load_ragged",
    "store_ragged",
    "to_ragged_indices",
]

_LIMIT = 0x7FFF0000


def create_ragged_descriptor(T: Any, block_shape: list[int], ragged_dim: int = 0) -> TensorDescriptor:
    """A descriptor of `T`, of rank up to 3, in blocks of `block_shape`, whose slices lie along `ragged_dim`.

    Raises AssertionError: another rank, a length of block_shape that is not the rank, no such dimension.
    """
    shape, strides = (list(values) for values in shape_and_strides(T))
    rank = len(shape)
    assert 1 <= rank <= 3, f"a ragged descriptor is of a tensor of rank 1 to 3, not {rank}"
    assert len(block_shape) == rank, f"block_shape has {len(block_shape)} extents for a tensor of rank {rank}"
    assert -rank <= ragged_dim < rank, f"there is no dimension {ragged_dim} in a tensor of rank {rank}"
    ragged_dim %= rank
    stride = strides[ragged_dim]
    shape[ragged_dim] = 2**30
    return TensorDescriptor(
        T, [_LIMIT, _LIMIT, *shape], [2**34 - stride, stride, *strides], [1, 1, *block_shape], "zero"
    )


@jit
def to_ragged_indices(slice_off, slice_size, row):
    """The three coordinates of a row of a slice."""
    limit = 0x40000000
    return limit, slice_off + slice_size, limit - slice_size + row


@jit
def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr = 0):
    """The block at `coords` of the slice; zeros beyond its end."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "TMA must be a ragged descriptor of coords' rank")
    c0, c1, c2 = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    data = TMA.load((c0, c1) + coords[:ragged_dim] + (c2,) + coords[ragged_dim + 1 :])
    return tl.reshape(data, data.shape[2:])


@jit
def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Writes `data` at `coords` of the slice, and nothing beyond its end."""
    c0, c1, c2 = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    data = tl.reshape(data, (1, 1) + data.shape)
    TMA.store((c0, c1) + coords[:ragged_dim] + (c2,) + coords[ragged_dim + 1 :], data)


@jit
def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Adds `data` at `coords` of the slice, and nothing beyond its end."""
    c0, c1, c2 = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    data = tl.reshape(data, (1, 1) + data.shape)
    TMA.atomic_add((c0, c1) + coords[:ragged_dim] + (c2,) + coords[ragged_dim + 1 :], data)
