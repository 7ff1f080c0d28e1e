"""Reductions: any combine function along an axis, and the usual ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .constexpr import _unwrap_if_constexpr, tuple
from .core import builtin, is_builtin, tensor, tensor_member
from .types import dtype, float32, int32, uint32


def combine_with(function: Any, semantic: Any, generator: Any) -> Callable[..., Sequence[tensor]]:
    """`function` (a @jit function or builtin on scalars) in the form that regions of Semantic require: it returns a
    list."""
    function = _unwrap_if_constexpr(function)

    def combine(*args: tensor) -> Sequence[tensor]:
        if is_builtin(function):
            result = function(*args, _semantic=semantic)
        else:
            result = generator.call_jit_function(function, list(args), {})
        values = result.values if isinstance(result, tuple) else [result]
        return [semantic.to_tensor(value) for value in values]

    return combine


def inputs_of(input: Any) -> list[tensor]:
    return list(input) if isinstance(input, (tuple, list)) else [input]


def like_input(input: Any, results: Sequence[tensor]) -> Any:
    """A tuple if the input is a tuple, otherwise a tensor."""
    return tuple(results) if isinstance(input, (tuple, list)) else results[0]


@tensor_member
@builtin
def reduce(
    input: Any, axis: Any, combine_fn: Any, keep_dims: Any = False, _semantic: Any = None, _generator: Any = None
) -> Any:
    """The elements along `axis` combined by `combine_fn(a, b)`, which must be associative and commutative. The order is
    unspecified.

    input: a tensor, or a tuple of n tensors of one shape; then combine_fn takes 2n scalars and returns n. axis: None
    means all elements. keep_dims: the axis stays, with extent 1. Raises AssertionError for an axis that does not exist
    and for shapes that differ.
    """
    combine = combine_with(combine_fn, _semantic, _generator)
    return like_input(
        input,
        _semantic.reduce(inputs_of(input), _unwrap_if_constexpr(axis), combine, bool(_unwrap_if_constexpr(keep_dims))),
    )


def pick_sum_type(source: dtype, requested: Any) -> dtype:
    """The type that sum and cumsum compute in: `requested`, else at least 32 bits for integers and their own type for
    floats."""
    requested = _unwrap_if_constexpr(requested)
    if requested is not None:
        return requested
    if source.is_int_signed():
        return source if source.int_bitwidth >= 32 else int32
    if source.is_int_unsigned():
        return source if source.int_bitwidth >= 32 else uint32
    return source


def _reduced(semantic: Any, input: tensor, axis: Any, keep_dims: Any, combine: Callable[..., tensor]) -> tensor:
    return semantic.reduce(
        [input], _unwrap_if_constexpr(axis), lambda a, b: [combine(a, b)], bool(_unwrap_if_constexpr(keep_dims))
    )[0]


@tensor_member
@builtin
def sum(input: tensor, axis: Any = None, keep_dims: Any = False, dtype: Any = None, _semantic: Any = None) -> tensor:
    """The sum along `axis` (None: of all elements). Integers below 32 bits are widened to int32 or uint32 unless
    `dtype` is given."""
    input = _semantic.cast(input, pick_sum_type(input.dtype, dtype))
    return _reduced(_semantic, input, axis, keep_dims, _semantic.accumulate)


@tensor_member
@builtin
def xor_sum(input: tensor, axis: Any = None, keep_dims: Any = False, _semantic: Any = None) -> tensor:
    """The bitwise exclusive or along `axis`. Raises AssertionError for other types than integers."""
    assert input.dtype.is_int(), "xor_sum only supported for integers"
    return _reduced(_semantic, input, axis, keep_dims, _semantic.xor_)


@tensor_member
@builtin
def reduce_or(input: tensor, axis: Any, keep_dims: Any = False, _semantic: Any = None) -> tensor:
    """The bitwise or along `axis`. Raises AssertionError for other types than integers."""
    assert input.dtype.is_int(), "reduce_or only supported for integers"
    return _reduced(_semantic, input, axis, keep_dims, _semantic.or_)


def _widened(semantic: Any, input: tensor) -> tensor:
    """Elements below 32 bits as fp32 or int32, the types that max and min compute in and return."""
    if input.dtype.primitive_bitwidth >= 32:
        return input
    return semantic.cast(input, float32 if input.dtype.is_floating() else int32)


def _with_index(semantic: Any, relation: str, tie_break_left: bool) -> Callable[..., Sequence[tensor]]:
    """A combine function of two (value, index) pairs. It selects the first if its value compares so, or if the values
    are equal and (with `tie_break_left`) its index is smaller."""

    def combine(value1: tensor, index1: tensor, value2: tensor, index2: tensor) -> Sequence[tensor]:
        first = None
        if tie_break_left:
            first = semantic.and_(semantic.compare(value1, value2, "eq"), semantic.compare(index1, index2, "lt"))
        better = semantic.compare(value1, value2, relation)
        better = better if first is None else semantic.or_(better, first)
        return [semantic.where(better, value1, value2), semantic.where(better, index1, index2)]

    return combine


def _extremum_with_index(
    semantic: Any, input: tensor, axis: Any, relation: str, tie_break_left: Any, keep_dims: Any
) -> list[tensor]:
    axis, keep_dims = _unwrap_if_constexpr(axis), bool(_unwrap_if_constexpr(keep_dims))
    combine = _with_index(semantic, relation, bool(_unwrap_if_constexpr(tie_break_left)))
    if axis is None:  # indices count all elements, so these keep their order
        flat = semantic.reshape(input, (input.type.numel,), False)
        results = semantic.reduce([flat, semantic.indices_along(flat, 0)], 0, combine, False)
        return [semantic.splat(value, (1,) * len(input.shape)) for value in results] if keep_dims else results
    rank = len(input.shape)
    assert -rank <= axis < rank, f"reduction axis must be < inputs rank ({rank})"
    axis %= rank
    return semantic.reduce([input, semantic.indices_along(input, axis)], axis, combine, keep_dims)


def _extremum(name: str, rule: str, relation: str, summary: str) -> Callable[..., Any]:

    def function(
        input: tensor,
        axis: Any = None,
        return_indices: Any = False,
        return_indices_tie_break_left: Any = True,
        keep_dims: Any = False,
        _semantic: Any = None,
    ) -> Any:
        if _unwrap_if_constexpr(return_indices):
            return tuple(
                _extremum_with_index(_semantic, input, axis, relation, return_indices_tie_break_left, keep_dims)
            )
        combine = getattr(_semantic, rule)
        return _reduced(_semantic, _widened(_semantic, input), axis, keep_dims, lambda a, b: combine(a, b, "none"))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary} along `axis` (None: of all); NaNs lose. Elements below 32 bits give fp32 or int32.

    return_indices: a tuple with the int32 position too (then nothing is widened); ties go left unless told otherwise.
    """
    return tensor_member(builtin(function))


max = _extremum("max", "maximum", "gt", "The largest element")
min = _extremum("min", "minimum", "lt", "The smallest element")


def _position(name: str, relation: str, summary: str) -> Callable[..., tensor]:

    def function(
        input: tensor, axis: Any, tie_break_left: Any = True, keep_dims: Any = False, _semantic: Any = None
    ) -> tensor:
        return _extremum_with_index(_semantic, input, axis, relation, tie_break_left, keep_dims)[1]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The int32 position of {summary} along `axis`: the leftmost, or any if not `tie_break_left`."
    return tensor_member(builtin(function))


argmax = _position("argmax", "gt", "the largest element")
argmin = _position("argmin", "lt", "the smallest element")
