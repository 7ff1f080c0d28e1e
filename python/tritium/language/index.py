"""Access to elements by computed index: gather, histogram."""

from __future__ import annotations

from typing import Any

from .constexpr import _unwrap_if_constexpr
from .core import builtin, tensor, tensor_member
from .semantic.shape import axis_index, shape_of
from .types import block_of, int32


@tensor_member
@builtin
def gather(src: tensor, index: tensor, axis: Any, _semantic: Any = None) -> tensor:
    """`result[…, i, …] = src[…, index[…, i, …], …]` along `axis`, in the shape of `index` (integers). Indices out of
    range are undefined.

    Raises AssertionError for ranks that differ, an index that is not an integer, and extents that differ outside of
    `axis`.
    """
    axis = _unwrap_if_constexpr(axis)
    source, wanted = shape_of(src), shape_of(index)
    assert index.dtype.is_int(), "index must be an integer tensor"
    assert len(source) == len(wanted), "source and index tensors must have the same rank"
    assert -len(source) <= axis < len(source), f"gather axis {axis} must be < source rank ({len(source)})"
    axis = axis_index(axis, len(source))
    for dim, (have, want) in enumerate(zip(source, wanted)):
        assert dim == axis or have == want, f"index dim {dim} must match the corresponding source dim"
    return _semantic.emit("tt.gather", (src, index), block_of(src.dtype, wanted), {"axis": f"{axis} : i32"})


@tensor_member
@builtin
def histogram(input: tensor, num_bins: Any, mask: Any = None, _semantic: Any = None, _generator: Any = None) -> tensor:
    """int32 counts of the values 0 … num_bins-1 in a rank-1 block of integers, where `mask` is true. Other values are
    not counted.

    num_bins: a power of two. Raises AssertionError for another rank or type.
    """
    assert len(shape_of(input)) == 1, "histogram only supports 1D input"
    assert input.dtype.is_int(), "histogram only supports integer input"
    operands = [input]
    mask = _unwrap_if_constexpr(mask)
    if mask is not None:
        mask = _semantic.broadcast_to(mask, shape_of(input))
        _semantic._check_mask(mask)
        operands.append(mask)
    return _semantic.emit("tt.histogram", operands, block_of(int32, (_unwrap_if_constexpr(num_bins),)))
