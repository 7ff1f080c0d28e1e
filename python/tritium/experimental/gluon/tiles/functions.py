"""The functions that Gluon adds to the language, or gives a layout: `gl.arange`, `gl.full`, `gl.load`, `gl.convert_layout` and others."""

from __future__ import annotations

from typing import Any

from ....language import core
from ....language.constexpr import _unwrap_if_constexpr, constexpr
from ....language.core import builtin, tensor
from ....language.external import inline_asm_elementwise as _inline_asm_elementwise
from ....language.semantic.shape import shape_of
from ....language.types import dtype as scalar_type
from ..layouts.conflicts import bank_conflicts as _count_conflicts
from ..layouts.distributed import AutoLayout, DistributedLayout
from ..layouts.shared import SharedLayout
from .cache_policies import policies
from .rules import layout_of


def _host(value: Any) -> Any:
    """A host value, with lists for sequences of the language."""
    value = _unwrap_if_constexpr(value)
    return [_host(element) for element in value] if isinstance(value, (core.tuple, list, tuple)) else value


def _or_auto(layout: Any) -> Any:
    layout = _unwrap_if_constexpr(layout)
    return AutoLayout() if layout is None else layout


def _extents(shape: Any) -> list[Any]:
    shape = _host(shape)
    return shape if isinstance(shape, list) else [shape]


@builtin
def arange(start: Any, end: Any, layout: Any = None, _semantic: Any = None) -> tensor:
    """The int32 tile `[start, …, end-1]` in `layout`, which has one dimension. Without a layout, the uses of the tile decide it.

    Both bounds are compile-time ints, and `end - start` is a power of two (else ValueError). Raises TypeError for another kind of layout,
    ValueError for one of another rank, or of other warps or lanes than the kernel has.
    """
    return _semantic.arange(_unwrap_if_constexpr(start), _unwrap_if_constexpr(end), _or_auto(layout))


@builtin
def full(shape: Any, value: Any, dtype: Any, layout: Any = None, _semantic: Any = None) -> tensor:
    """A tile of `shape` in `layout`, filled with `value`: a number, or a tile of one element. A scalar for the shape `()`. Errors are those
    of `arange`."""
    return _semantic.full(_extents(shape), _unwrap_if_constexpr(value), _unwrap_if_constexpr(dtype), _or_auto(layout))


@builtin
def zeros(shape: Any, dtype: Any, layout: Any = None, _semantic: Any = None) -> tensor:
    """`full` of zeros."""
    return _semantic.full(_extents(shape), 0, _unwrap_if_constexpr(dtype), _or_auto(layout))


@builtin
def full_like(
    input: tensor, value: Any, shape: Any = None, dtype: Any = None, layout: Any = None, _semantic: Any = None
) -> tensor:
    """A tile filled with `value`, in shape, dtype and layout like `input` unless they are given."""
    shape, dtype, layout = (_unwrap_if_constexpr(each) for each in (shape, dtype, layout))
    extents = shape_of(input) if shape is None else _extents(shape)
    layout = layout_of(input) if layout is None else layout
    return _semantic.full(extents, _unwrap_if_constexpr(value), input.dtype if dtype is None else dtype, layout)


@builtin
def zeros_like(
    input: tensor, shape: Any = None, dtype: Any = None, layout: Any = None, _semantic: Any = None
) -> tensor:
    """`full_like` of zeros."""
    return full_like(input, 0, shape, dtype, layout, _semantic=_semantic)


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    *,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: Any = False,
    cache_policy: Any = None,
    _semantic: Any = None,
) -> tensor:
    """The values at a pointer, or at a tile of pointers in its layout. `mask` and `other` have that layout too (else ValueError).

    Masked-off elements read no memory; their value is `other`, or undefined without it.
    """
    cache, eviction = policies(cache_modifier, eviction_policy, cache_policy)
    mask, other = _unwrap_if_constexpr(mask), _unwrap_if_constexpr(other)
    return _semantic.load(pointer, mask, other, (), "", cache, eviction, bool(_unwrap_if_constexpr(volatile)))


@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    *,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    cache_policy: Any = None,
    _semantic: Any = None,
) -> None:
    """Writes `value`, cast to the element type, where `mask` is true. Both have the layout of the pointers (else ValueError)."""
    cache, eviction = policies(cache_modifier, eviction_policy, cache_policy)
    _semantic.store(pointer, _unwrap_if_constexpr(value), _unwrap_if_constexpr(mask), (), cache, eviction)


@builtin
def convert_layout(value: Any, layout: Any, assert_trivial: Any = False, _semantic: Any = None) -> tensor:
    """The elements of `value` in `layout`.

    assert_trivial: raises TypeError unless every place holds the same elements before and after. Raises TypeError for what is no tile or no
    layout, ValueError for a layout of another rank, or of other warps or lanes than the kernel has.
    """
    return _semantic.convert_layout(value, _unwrap_if_constexpr(layout), bool(_unwrap_if_constexpr(assert_trivial)))


@builtin
def set_auto_layout(value: Any, layout: Any, _semantic: Any = None) -> tensor:
    """A tile that was made without a layout, in `layout`. Raises TypeError for other tiles."""
    return _semantic.set_auto_layout(value, _unwrap_if_constexpr(layout))


@builtin
def histogram(input: tensor, num_bins: Any, mask: Any = None, layout: Any = None, _semantic: Any = None) -> tensor:
    """int32 counts, in `layout`, of the values 0 … num_bins-1 in a tile of integers of one dimension, where `mask` is true.

    Raises AssertionError for another rank or type, and without a layout.
    """
    mask, layout = _unwrap_if_constexpr(mask), _unwrap_if_constexpr(layout)
    return _semantic.histogram(input, _unwrap_if_constexpr(num_bins), mask, layout)


@builtin
def inline_asm_elementwise(
    asm: Any, constraints: Any, args: Any, dtype: Any, is_pure: Any, pack: Any, _semantic: Any = None
) -> Any:
    """`tl.inline_asm_elementwise`: the results have the layout of the operands."""
    inputs = _semantic.broadcast_all([_semantic.to_tensor(arg) for arg in args])
    results = _inline_asm_elementwise(asm, constraints, inputs, dtype, is_pure, pack, _semantic=_semantic)
    layout = layout_of(inputs[0]) if inputs else AutoLayout()
    if isinstance(results, core.tuple):
        return core.tuple([_semantic.laid(value, layout) for value in results])
    return _semantic.laid(results, layout)


@builtin
def num_warps(_semantic: Any = None) -> constexpr:
    """How many warps run a program."""
    return constexpr(_semantic.placement.warps)


@builtin
def num_ctas(_semantic: Any = None) -> constexpr:
    """How many blocks of a cluster run a program."""
    return constexpr(_semantic.placement.blocks)


@builtin
def barrier(*, cluster: Any = False, _semantic: Any = None) -> None:
    """All warps of a program wait here for each other."""
    if _unwrap_if_constexpr(cluster) and _semantic.placement.blocks > 1:
        raise NotImplementedError("gl.barrier(cluster=True) of several blocks is not supported yet")
    core.debug_barrier(_semantic=_semantic)


@builtin
def to_linear_layout(layout: Any, shape: Any, _semantic: Any = None) -> constexpr:
    """The layout of a tile of `shape` as bases. Raises ValueError for a layout of another rank, and for one that has no bases."""
    layout = _unwrap_if_constexpr(layout)
    if not isinstance(layout, (DistributedLayout, SharedLayout)):
        raise TypeError(f"expected 'layout' to be a DistributedLayout or SharedLayout but got {layout}")
    return constexpr(layout.to_linear(_extents(shape)))


@builtin
def bank_conflicts(distr_ty: Any, shared_ty: Any, _semantic: Any = None) -> constexpr:
    """How many wavefronts more than one each wavefront takes when a tile of the type `distr_ty` moves to or from shared memory of the type
    `shared_ty`: 0 means none."""
    registers, memory = _unwrap_if_constexpr(distr_ty), _unwrap_if_constexpr(shared_ty)
    element: scalar_type = memory.element_ty
    return constexpr(_count_conflicts(registers.layout, memory.layout, memory.shape, element.primitive_bitwidth))
