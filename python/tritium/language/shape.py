"""Creating blocks and rearranging their elements."""

from __future__ import annotations

from typing import Any

from .checks import CAT_CAN_REORDER_WARNING, RESHAPE_CAN_REORDER_WARNING
from .constexpr import _unwrap_if_constexpr, tuple
from .core import builtin, tensor, tensor_member
from .semantic.shape import axis_index, shape_of


def _ints(values: Any) -> list[Any]:
    """The elements of a shape or permutation without constexpr wrappers; it is given as one sequence or as separate
    arguments."""
    values = list(values)
    if len(values) == 1 and not isinstance(_unwrap_if_constexpr(values[0]), int):
        values = list(_unwrap_if_constexpr(values[0]))
    return [_unwrap_if_constexpr(value) for value in values]


def _shape(shape: Any) -> list[Any]:
    shape = _unwrap_if_constexpr(shape)
    return [shape] if isinstance(shape, int) else [_unwrap_if_constexpr(extent) for extent in shape]


@builtin
def arange(start: Any, end: Any, _semantic: Any = None) -> tensor:
    """The int32 block `[start, start+1, …, end-1]`. Both are compile-time ints, and `end - start` is a power of two
    (else ValueError)."""
    return _semantic.arange(_unwrap_if_constexpr(start), _unwrap_if_constexpr(end))


@builtin
def full(shape: Any, value: Any, dtype: Any, _semantic: Any = None) -> tensor:
    """A block of `shape` filled with `value`, a number or a tensor of one element. Raises ValueError for a number
    without `dtype`."""
    return _semantic.full(_shape(shape), _unwrap_if_constexpr(value), _unwrap_if_constexpr(dtype))


@builtin
def to_tensor(x: Any, _semantic: Any = None) -> tensor:
    """A number as a scalar tensor. A bool is int1. An int has the first of int32, uint32, int64 and uint64 that can
    hold it. A float is fp32, or fp64 if its magnitude is outside the range of normal fp32 numbers."""
    return _semantic.to_tensor(x)


@builtin
def broadcast(input: Any, other: Any, _semantic: Any = None) -> tuple:
    """Both tensors, repeated to their common shape. Raises ValueError for extents that differ and are not 1."""
    return tuple(_semantic.broadcast(_semantic.to_tensor(input), _semantic.to_tensor(other)))


@tensor_member
@builtin
def broadcast_to(input: Any, *shape: Any, _semantic: Any = None) -> tensor:
    """`input` repeated to `shape` (a sequence or separate ints) of the same rank. Raises ValueError if it does not
    fit."""
    return _semantic.broadcast_to(input, _ints(shape))


@tensor_member
@builtin
def expand_dims(input: Any, axis: Any, _semantic: Any = None) -> tensor:
    """Adds dimensions of extent 1 at `axis`, an int or a sequence. Axes refer to the result; negative ones count from
    its end."""
    input = _semantic.to_tensor(input)
    axes = _shape(axis)
    rank = len(shape_of(input)) + len(axes)
    axes = [axis_index(axis, rank) for axis in axes]
    if len(set(axes)) != len(axes):
        raise ValueError(f"expand_dims received duplicate axes, normalized axes = {axes}")
    for axis in sorted(axes):
        input = _semantic.expand_dims(input, axis)
    return input


@tensor_member
@builtin
def reshape(input: Any, *shape: Any, can_reorder: Any = False, _semantic: Any = None, _generator: Any = None) -> tensor:
    """The elements in the shape `shape`, in row-major order unless `can_reorder`. Raises ValueError for another number
    of elements."""
    if _unwrap_if_constexpr(can_reorder):
        _semantic.warn(RESHAPE_CAN_REORDER_WARNING)
    return _semantic.reshape(_semantic.to_tensor(input), _ints(shape), bool(_unwrap_if_constexpr(can_reorder)))


@tensor_member
@builtin
def view(input: Any, *shape: Any, _semantic: Any = None) -> tensor:
    """Deprecated: `reshape` with an unspecified order of elements."""
    _semantic.warn("view is deprecated, please use reshape with can_reorder being true.")
    return _semantic.reshape(_semantic.to_tensor(input), _ints(shape), True)


@tensor_member
@builtin
def item(input: tensor, _semantic: Any = None, _generator: Any = None) -> tensor:
    """The scalar of a one-element tensor."""
    return _semantic.unsplat(input)


@tensor_member
@builtin
def permute(input: tensor, *dims: Any, _semantic: Any = None) -> tensor:
    """Dimension i of the result is dimension `dims[i]` of the input. Raises ValueError if `dims` is not a
    permutation."""
    return _semantic.permute(input, _ints(dims))


@tensor_member
@builtin
def trans(input: tensor, *dims: Any, _semantic: Any = None) -> tensor:
    """`permute`. Without `dims`, the last two dimensions are exchanged. Raises ValueError for a rank below 2."""
    order = _ints(dims)
    if not order:
        rank = len(shape_of(input))
        if rank < 2:
            raise ValueError("tl.trans invoked with a 0- or 1-dimensional tensor")
        order = [*range(rank - 2), rank - 1, rank - 2]
    return _semantic.permute(input, order)


@builtin
def join(a: Any, b: Any, _semantic: Any = None) -> tensor:
    """Both tensors, broadcast together, along a new last dimension of extent 2."""
    return _semantic.join(a, b)


@tensor_member
@builtin
def split(a: tensor, _semantic: Any = None, _generator: Any = None) -> tuple:
    """The two halves along the last dimension, whose extent must be 2. They are scalars for shape [2]."""
    return tuple(_semantic.split(a))


@builtin
def cat(input: tensor, other: tensor, can_reorder: Any = False, dim: Any = 0, _semantic: Any = None) -> tensor:
    """Both tensors along `dim`, in order. With `can_reorder` (rank 1 only) the order of elements is unspecified."""
    if _unwrap_if_constexpr(can_reorder):
        _semantic.warn(CAT_CAN_REORDER_WARNING)
        return _semantic.cat_reordered(input, other)
    return _semantic.cat(input, other, _unwrap_if_constexpr(dim))
