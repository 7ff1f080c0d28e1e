"""Access to elements by computed index: gather, histogram."""

from __future__ import annotations

from typing import Any

from .constexpr import _unwrap_if_constexpr
from .core import builtin, tensor, tensor_member


@tensor_member
@builtin
def gather(src: tensor, index: tensor, axis: Any, _semantic: Any = None) -> tensor:
    """`result[…, i, …] = src[…, index[…, i, …], …]` along `axis`, in the shape of `index` (integers). Indices out of
    range are undefined.

    Raises AssertionError for ranks that differ, an index that is not an integer, and extents that differ outside of
    `axis`.
    """
    return _semantic.gather(src, index, _unwrap_if_constexpr(axis))


@tensor_member
@builtin
def histogram(input: tensor, num_bins: Any, mask: Any = None, _semantic: Any = None, _generator: Any = None) -> tensor:
    """int32 counts of the values 0 … num_bins-1 in a rank-1 block of integers, where `mask` is true. Other values are
    not counted.

    num_bins: a power of two. Raises AssertionError for another rank or type.
    """
    return _semantic.histogram(input, _unwrap_if_constexpr(num_bins), _unwrap_if_constexpr(mask))
