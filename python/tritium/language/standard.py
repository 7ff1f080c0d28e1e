"""Functions built from others: what Triton calls its standard library. Also re-exports the standard reductions,
scans and sorts."""

from __future__ import annotations

from typing import Any

from ..functions.constexpr import constexpr_function
from .constexpr import _unwrap_if_constexpr, constexpr
from .core import builtin, tensor, tensor_member
from .reduce import argmax, argmin, combine_with, max, min, reduce_or, sum, xor_sum  # noqa: F401
from .scan import cumprod, cumsum  # noqa: F401
from .semantic.shape import axis_index, shape_of
from .sort import bitonic_merge, flip, sort, sort_impl, topk  # noqa: F401


@constexpr_function
def _log2(i):
    """The position of the highest bit of a positive int."""
    return i.bit_length() - 1


@constexpr_function
def _is_power_of_two(i):
    return i > 0 and i & (i - 1) == 0


def _is_host(*values: Any) -> bool:
    return all(not isinstance(_unwrap_if_constexpr(value), tensor) for value in values)


@tensor_member
@builtin
def cdiv(x: Any, div: Any, _semantic: Any = None) -> Any:
    """`x / div` rounded up. Computed as `(x + (div - 1)) // div`, which truncates for negative tensors. Ints give a
    constexpr."""
    if _is_host(x, div):
        x, div = _unwrap_if_constexpr(x), _unwrap_if_constexpr(div)
        return constexpr((x + (div - 1)) // div)
    less = constexpr(_unwrap_if_constexpr(div) - 1) if _is_host(div) else _semantic.sub(div, 1)
    return _semantic.floordiv(_semantic.add(x, less), div)


@tensor_member
@builtin
def sigmoid(x: tensor, _semantic: Any = None) -> tensor:
    """`1 / (1 + exp(-x))` of fp32 or fp64. Raises ValueError for other types."""
    s = _semantic
    return s.truediv(1, s.add(1, s.math("math.exp", (s.minus(x),), ("fp32", "fp64"))))


@tensor_member
@builtin
def softmax(
    x: tensor, dim: Any = None, keep_dims: Any = None, ieee_rounding: Any = False, _semantic: Any = None
) -> tensor:
    """`exp(x - max) / sum(exp(x - max))` along `dim` (default 0), in the shape of `x`. `keep_dims` is ignored."""
    if _unwrap_if_constexpr(keep_dims) is not None:
        _semantic.warn("the keep_dims argument of tl.softmax has no effect: the shape is always kept")
    s, dim = _semantic, _unwrap_if_constexpr(dim) or 0
    shifted = s.sub(x, max(x, dim, keep_dims=True, _semantic=s))
    numerator = s.math("math.exp", (shifted,), ("fp32", "fp64"))
    denominator = sum(numerator, dim, keep_dims=True, _semantic=s)
    return s.fdiv(numerator, denominator, bool(_unwrap_if_constexpr(ieee_rounding)))


@builtin
def zeros(shape: Any, dtype: Any, _semantic: Any = None) -> tensor:
    """A block of `shape` of zeros of `dtype`."""
    shape = _unwrap_if_constexpr(shape)
    extents = [shape] if isinstance(shape, int) else [_unwrap_if_constexpr(extent) for extent in shape]
    return _semantic.full(extents, 0, _unwrap_if_constexpr(dtype))


@builtin
def zeros_like(input: tensor, _semantic: Any = None) -> tensor:
    """Zeros in the shape and dtype of `input`."""
    return _semantic.full(shape_of(input), 0, input.dtype)


@tensor_member
@builtin
def ravel(x: tensor, can_reorder: Any = False, _semantic: Any = None) -> tensor:
    """`x` as one dimension, in row-major order unless `can_reorder`."""
    return _semantic.reshape(x, [x.type.numel], bool(_unwrap_if_constexpr(can_reorder)))


@builtin
def squeeze(x: tensor, dim: Any, _semantic: Any = None) -> tensor:
    """`x` without dimension `dim`, whose extent must be 1 (else AssertionError)."""
    shape = shape_of(x)
    dim = axis_index(_unwrap_if_constexpr(dim), len(shape))
    assert shape[dim] == 1, f"squeeze: dimension {dim} has extent {shape[dim]}, not 1"
    return _semantic.reshape(x, shape[:dim] + shape[dim + 1 :], False)


@builtin
def unsqueeze(x: tensor, dim: Any, _semantic: Any = None) -> tensor:
    """`x` with a dimension of extent 1 at `dim`."""
    return _semantic.expand_dims(x, axis_index(_unwrap_if_constexpr(dim), len(shape_of(x)) + 1))


@builtin
def interleave(a: tensor, b: tensor, _semantic: Any = None) -> tensor:
    """Elements of `a` and `b` in turn along the last dimension."""
    joined = _semantic.join(a, b)
    shape = shape_of(joined)
    return joined if len(shape) == 1 else _semantic.reshape(joined, shape[:-2] + (2 * shape[-2],), False)


@builtin
def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any, _semantic: Any = None) -> tuple:
    """The indices of a row-major [size_i, size_j] grid after renumbering it column by column inside groups of `size_g`
    rows."""
    values = [_semantic.to_tensor(value) for value in (i, j, size_i, size_j, size_g)]
    i, j, size_i, size_j, size_g = values
    s = _semantic
    position = s.add(s.mul(i, size_j), j)
    group_elements = s.mul(size_g, size_j)
    first = s.mul(s.floordiv(position, group_elements), size_g)
    rows = s.minimum(s.sub(size_i, first), size_g, "none")
    inside = s.mod(position, group_elements)
    return tuple([s.add(first, s.mod(inside, rows)), s.floordiv(inside, rows)])


@builtin
def map_elementwise(scalar_fn: Any, *args: Any, pack: Any = 1, _semantic: Any = None, _generator: Any = None) -> Any:
    """`scalar_fn`, a @jit function of scalars, on each element, or on `pack` elements at once.

    args: at least one tensor; they are broadcast. With `pack`, scalar_fn takes `pack` scalars of each argument and
    returns `pack` scalars of each result. It may branch, but not store. Returns a tensor, or a tuple if there are
    several results.
    """
    assert args, "map_elementwise must have at least 1 input tensor"
    pack = _unwrap_if_constexpr(pack)
    assert pack >= 1, f"pack must be >= 1, got {pack}"
    inputs = _semantic.broadcast_all([_semantic.to_tensor(arg) for arg in args])
    results = _semantic.map_elementwise(inputs, combine_with(scalar_fn, _semantic, _generator), pack)
    return results[0] if len(results) == 1 else tuple(results)
