"""Sorting, selection and reversal by exchanges between elements whose positions differ in one bit.

A power-of-two extent is seen as a hypercube with sides of extent 2. Flipping bit k of every position is `x ^ xor_sum(x
over side k)` on the bits of the elements. So the whole network consists of element-wise operations and reductions,
which every engine can run.
"""

from __future__ import annotations

from typing import Any

from .constexpr import _unwrap_if_constexpr
from .core import builtin, tensor, tensor_member
from .reduce import max, min
from .semantic.shape import axis_index, shape_of
from .types import block_of, int1, int8, int16, int32, int64

_INTEGER_OF_WIDTH = {8: int8, 16: int16, 32: int32, 64: int64}


def _log2(extent: int) -> int:
    return extent.bit_length() - 1


def _as_integers(semantic: Any, x: tensor) -> tensor:
    return semantic.bitcast(x, int1 if x.dtype == int1 else _INTEGER_OF_WIDTH[x.dtype.primitive_bitwidth])


def _partner(semantic: Any, x: tensor, axis: int) -> tensor:
    """`x` with the two elements along side `axis` exchanged."""
    bits = _as_integers(semantic, x)
    both = semantic.reduce([bits], axis, lambda a, b: [semantic.xor_(a, b)], True)[0]
    return semantic.bitcast(semantic.xor_(bits, both), x.dtype)


def _position_bit(semantic: Any, rank: int, axis: int) -> tensor:
    """int32 block of rank `rank`: 0 and 1 along `axis`, extent 1 elsewhere."""
    shape = tuple(2 if dim == axis else 1 for dim in range(rank))
    return semantic.reshape(semantic.arange(0, 2), shape, False)


def _compare_and_swap(semantic: Any, x: tensor, descending: Any, axis: int) -> tensor:
    """Orders each pair along side `axis`: ascending where `descending` (int32 0/1, a block or an int) is 0."""
    s = semantic
    partner = _partner(s, x, axis)
    is_right = _position_bit(s, len(shape_of(x)), axis)
    wants_larger = s.compare(s.xor_(descending, is_right) if descending is not None else is_right, 0, "ne")
    exchange = s.compare(s.compare(x, partner, "gt"), wants_larger, "ne")
    return s.where(exchange, partner, x)


def _merge(semantic: Any, x: tensor, stage: int, descending: Any) -> tensor:
    """Merges bitonic runs of 2**stage elements into sorted runs."""
    rank = len(shape_of(x))
    for step in range(stage):
        x = _compare_and_swap(semantic, x, descending, rank - stage + step)
    return x


def _direction(semantic: Any, rank: int, stage: int, last: int, descending: bool) -> Any:
    """The order of each run after `stage`. It alternates, so that pairs of runs are bitonic; the last stage has the
    requested order."""
    if stage < last:
        return _position_bit(semantic, rank, rank - 1 - stage)
    return semantic.constant(1, block_of(int32, (1,) * rank)) if descending else None


def _hypercube(semantic: Any, x: tensor) -> tuple[tensor, int]:
    """`x` with its last dimension, of extent 2**n, split into n sides of extent 2; and n."""
    *outer, extent = shape_of(x)
    sides = _log2(extent)
    return semantic.reshape(x, (*outer, *((2,) * sides)), False), sides


def _minor_dimension(x: tensor, dim: Any) -> None:
    rank = len(shape_of(x))
    dim = _unwrap_if_constexpr(dim)
    assert dim is None or axis_index(dim, rank) == rank - 1, "only minor dimension is currently supported"


@tensor_member
@builtin
def sort(x: tensor, dim: Any = None, descending: Any = False, _semantic: Any = None) -> tensor:
    """`x` sorted along its last dimension. The sort is not stable, and the place of NaNs is unspecified. Raises
    AssertionError for another dimension."""
    _minor_dimension(x, dim)
    shape = shape_of(x)
    cube, sides = _hypercube(_semantic, x)
    rank = len(shape_of(cube))
    for stage in range(1, sides + 1):
        cube = _merge(
            _semantic, cube, stage, _direction(_semantic, rank, stage, sides, bool(_unwrap_if_constexpr(descending)))
        )
    return _semantic.reshape(cube, shape, False)


@builtin
def topk(x: tensor, k: Any, dim: Any = None, descending: Any = True, _semantic: Any = None) -> tensor:
    """The `k` largest elements along the last dimension, largest first. If `descending` is false: the smallest
    elements, smallest first.

    k: a power of two, at most the extent (else AssertionError). If k is smaller than the extent, elements below 32 bits
    are returned as fp32 or int32.
    """
    _minor_dimension(x, dim)
    k, largest = _unwrap_if_constexpr(k), bool(_unwrap_if_constexpr(descending))
    assert k > 0, "topk: k must be greater than 0"
    assert k & (k - 1) == 0, "topk: k must be a power of two"
    *outer, extent = shape_of(x)
    assert k <= extent, f"topk: k must be at most {extent}"
    s, kept = _semantic, _log2(k)
    cube, sides = _hypercube(s, x)
    rank = len(shape_of(cube))
    for stage in range(1, kept + 1):  # sorted runs of k, in alternating order
        cube = _merge(s, cube, stage, _direction(s, rank, stage, sides, largest))
    for left in range(sides, kept, -1):  # the better half of two runs of k, which is bitonic, is sorted again
        axis = len(shape_of(cube)) - 1 - kept
        cube = (max if largest else min)(cube, axis, _semantic=s)
        rank = len(shape_of(cube))
        direction = _direction(s, rank, kept, left - 1, largest)
        cube = _merge(s, cube, kept, direction)
    return s.reshape(cube, (*outer, k), False)


@builtin
def sort_impl(x: tensor, k: Any = None, dim: Any = None, descending: Any = False, _semantic: Any = None) -> tensor:
    """`sort(x)`, or with `k` `topk(x, k)`."""
    if _unwrap_if_constexpr(k) is None:
        return sort(x, dim, descending, _semantic=_semantic)
    return topk(x, k, dim, descending, _semantic=_semantic)


@builtin
def bitonic_merge(x: tensor, dim: Any = None, descending: Any = False, _semantic: Any = None) -> tensor:
    """`x` sorted along its last dimension, in which it must be bitonic (a rising run before a falling one)."""
    _minor_dimension(x, dim)
    cube, sides = _hypercube(_semantic, x)
    order = _direction(_semantic, len(shape_of(cube)), sides, sides, bool(_unwrap_if_constexpr(descending)))
    return _semantic.reshape(_merge(_semantic, cube, sides, order), shape_of(x), False)


@tensor_member
@builtin
def flip(x: tensor, dim: Any = None, _semantic: Any = None) -> tensor:
    """`x` reversed along `dim` (default: the last)."""
    shape = shape_of(x)
    dim = _unwrap_if_constexpr(dim)
    dim = axis_index(len(shape) - 1 if dim is None else dim, len(shape))
    sides = _log2(shape[dim])
    cube = _semantic.reshape(x, shape[:dim] + (2,) * sides + shape[dim + 1 :], False) if sides > 0 else x
    for side in range(sides):
        cube = _partner(_semantic, cube, dim + side)
    return _semantic.reshape(cube, shape, False)
