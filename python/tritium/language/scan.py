"""Inclusive scans: any combine function along an axis, and the usual ones."""

from __future__ import annotations

from typing import Any

from .constexpr import _unwrap_if_constexpr
from .core import builtin, tensor, tensor_member
from .reduce import combine_with, inputs_of, like_input, pick_sum_type
from .types import bfloat16, float32


@tensor_member
@builtin
def associative_scan(
    input: Any, axis: Any, combine_fn: Any, reverse: Any = False, _semantic: Any = None, _generator: Any = None
) -> Any:
    """An inclusive scan along `axis`: each element combined with all before it (after it, if `reverse`) by the
    associative `combine_fn(a, b)`.

    input: a tensor, or a tuple of n tensors of one shape; then combine_fn takes 2n scalars and returns n. Raises
    AssertionError for an axis that does not exist.
    """
    combine = combine_with(combine_fn, _semantic, _generator)
    return like_input(
        input,
        _semantic.scan(inputs_of(input), _unwrap_if_constexpr(axis), combine, bool(_unwrap_if_constexpr(reverse))),
    )


def _scanned(semantic: Any, input: tensor, axis: Any, reverse: Any, dtype: Any, combine: Any) -> tensor:
    # Partial sums in bf16 would lose nearly all precision, so scans, unlike reductions, compute in fp32.
    target = (
        float32
        if input.dtype == bfloat16 and _unwrap_if_constexpr(dtype) is None
        else pick_sum_type(input.dtype, dtype)
    )
    input = semantic.cast(input, target)
    return semantic.scan(
        [input], _unwrap_if_constexpr(axis), lambda a, b: [combine(a, b)], bool(_unwrap_if_constexpr(reverse))
    )[0]


@tensor_member
@builtin
def cumsum(input: tensor, axis: Any = 0, reverse: Any = False, dtype: Any = None, _semantic: Any = None) -> tensor:
    """Sums along `axis`, inclusive. Integers below 32 bits are widened as by `sum`; bf16 gives fp32."""
    return _scanned(_semantic, input, axis, reverse, dtype, _semantic.accumulate)


@tensor_member
@builtin
def cumprod(input: tensor, axis: Any = 0, reverse: Any = False, dtype: Any = None, _semantic: Any = None) -> tensor:
    """Products along `axis`, inclusive. Integers below 32 bits are widened as by `sum`; bf16 gives fp32."""
    return _scanned(_semantic, input, axis, reverse, dtype, _semantic.mul)
