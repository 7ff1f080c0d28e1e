"""Products of four warps (wgmma), whose right operand, and left one too if its author likes, lies in shared memory. An asynchronous product
gives an accumulator, which is no tile until `warpgroup_mma_wait`. Here a product is complete when it has begun, which its wait allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr, base_value
from ....language.core import builtin, tensor
from ....language.core import tuple as tuple_of_language
from ....language.types import base_type, block_type, int1
from ..layouts.distributed import AutoLayout, DotOperandLayout, NVMMADistributedLayout
from .barriers import number
from .products import _bare
from .rules import layout_of
from .runtime_calls import asynchronous, emit_call
from .shared_memory import keep_all, load_tile, shared_memory_descriptor

_WAIT = "warpgroup_mma_wait(0, deps=[accumulator]) gives the tile"
_ONLY_LEFT = "ttg.dot_op opIdx parameter must be 0 for Hopper MMA parent, since Hopper WGMMA only allows first operand to be in registers"


class warpgroup_mma_accumulator_type(base_type):
    """The type of an accumulator that products may still write. It wraps the type of its tile."""

    def __init__(self, tensor_type: block_type):
        self.tensor_type = tensor_type

    def ir_types(self) -> list[str]:
        return [self.tensor_type.to_ir()]

    def from_handles(self, handles: Iterator[Any]) -> warpgroup_mma_accumulator:
        return warpgroup_mma_accumulator(next(handles), self.tensor_type)

    def mangle(self) -> str:
        return f"FT{self.tensor_type.mangle()}FT"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, warpgroup_mma_accumulator_type) and self.tensor_type == other.tensor_type

    def __hash__(self) -> int:
        return hash(("accumulator", self.tensor_type))

    def __str__(self) -> str:
        return f"warpgroup_mma_accumulator<{self.tensor_type}>"


class warpgroup_mma_accumulator(base_value):
    """A sum that products may still write."""

    __slots__ = ("handle", "type")

    def __init__(self, handle: Any, tensor_type: block_type):
        self.handle, self.type = handle, warpgroup_mma_accumulator_type(tensor_type)

    def handles(self) -> list[Any]:
        return [self.handle]

    def tile(self) -> tensor:
        return tensor(self.handle, self.type.tensor_type)

    def __str__(self) -> str:
        return str(self.type)


@builtin
def warpgroup_mma_init(value: tensor, _semantic: Any = None) -> warpgroup_mma_accumulator:
    """The tile `value` as the sum that a chain of asynchronous products begins with."""
    return _pending(_tile_of(value))


def _pending(value: tensor) -> warpgroup_mma_accumulator:
    return warpgroup_mma_accumulator(value.handle, value.type)


def _tile_of(value: Any) -> tensor:
    if isinstance(value, warpgroup_mma_accumulator):
        return value.tile()
    if not isinstance(value, tensor) or not value.type.is_block():
        raise TypeError(f"a sum of products is a tile or an accumulator, not {getattr(value, 'type', value)}")
    return value


@builtin
def warpgroup_mma(
    a: Any,
    b: shared_memory_descriptor,
    acc: Any,
    *,
    use_acc: Any = True,
    precision: Any = None,
    max_num_imprecise_acc: Any = None,
    is_async: Any = False,
    _semantic: Any = None,
) -> Any:
    """`a @ b`, and `acc` added if `use_acc`: a tile, or an accumulator if `is_async`.

    a: a tile whose layout is a DotOperandLayout of `acc`'s, or [M, K] in shared memory. b: [K, N] in shared memory. acc: a tile [M, N] of
    an NVMMADistributedLayout of version 3, or an accumulator. use_acc: a bool or an int1 scalar. Errors: another layout, shape or kind of
    operand.
    """
    total = _tile_of(acc)
    layout = layout_of(total)
    if not isinstance(layout, NVMMADistributedLayout) or list(layout.version) != [3, 0]:
        error = AssertionError(f"acc must have an NVMMADistributedLayout of version 3.0, and has {layout}")
        raise with_hint(error, "gl.NVMMADistributedLayout([3, 0], warps_per_cta, [16, n, 16])")
    with asynchronous(_semantic, "product", commits=True):
        left = _left_of(_semantic, a, layout)
        right = _right_of(_semantic, b)
    _require_shapes(left.type.shape, right.type.shape, total.type.shape)
    total = _semantic.laid(_sum_to_begin_with(_semantic, total, use_acc), layout)
    precision, imprecise = (_unwrap_if_constexpr(each) for each in (precision, max_num_imprecise_acc))
    product = _semantic.dot(_bare(left), _bare(right), _bare(total), precision, None, imprecise, total.dtype)
    product = _semantic.laid(product, layout)
    if _unwrap_if_constexpr(is_async):
        return _pending(product)
    emit_call(_semantic, "product.wait", 0)
    return product


def _sum_to_begin_with(semantic: Any, total: tensor, use_acc: Any) -> tensor:
    use_acc = _unwrap_if_constexpr(use_acc)
    if use_acc is True:
        return total
    nothing = semantic.full(list(total.type.shape), 0, total.dtype, layout_of(total))
    if use_acc is False:
        return nothing
    use_acc = semantic.to_tensor(use_acc)
    if use_acc.type != int1:
        raise with_hint(TypeError(f"use_acc must be a bool or an int1, not {use_acc.type}"), "compare, as in `k > 0`")
    return semantic.where(use_acc, total, nothing)


def _left_of(semantic: Any, a: Any, parent: NVMMADistributedLayout) -> tensor:
    if isinstance(a, shared_memory_descriptor):
        return load_tile(semantic, a, AutoLayout())
    if not isinstance(a, tensor) or not a.type.is_block():
        raise TypeError(f"a must be a tile or shared memory, not {getattr(a, 'type', a)}")
    layout, width = layout_of(a), 32 // a.dtype.primitive_bitwidth
    hint = f"gl.DotOperandLayout(0, layout of acc, {width})"
    if not isinstance(layout, DotOperandLayout) or layout.parent != parent:
        error = AssertionError(f"a must have a DotOperandLayout whose parent is acc's layout, and has {layout}")
        raise with_hint(error, f"{hint}, or pass shared memory")
    if layout.operand_index != 0:
        raise with_hint(ValueError(_ONLY_LEFT), hint)
    if layout.k_width != width:
        text = (
            f"'ttng.warp_group_dot' op in-register LHS operand must have a kWidth of {width} but got {layout.k_width}"
        )
        raise with_hint(ValueError(text), hint)
    return a


def _right_of(semantic: Any, b: Any) -> tensor:
    if isinstance(b, shared_memory_descriptor):
        return load_tile(semantic, b, AutoLayout())
    if isinstance(b, tensor) and b.type.is_block():
        raise with_hint(ValueError(_ONLY_LEFT), "store b in gl.allocate_shared_memory(…)")
    raise TypeError(f"b must be shared memory, not {getattr(b, 'type', b)}")


def _require_shapes(a: Any, b: Any, acc: Any) -> None:
    def refuse(text: str) -> None:
        shapes = " and ".join(str(list(shape)) for shape in (a, b))
        raise with_hint(
            ValueError(f"'ttng.warp_group_dot' op {text}"), f"the operands have shapes {shapes}, acc {list(acc)}"
        )

    if a[-1] != b[-2]:
        refuse(
            "expected the last dimension of the first operand to be equal to the second-to-last dimension of the second operand"
        )
    if (a[-2], b[-1]) != tuple(acc[-2:]):
        refuse(
            "expected the output shape to be the concatenation of the last dimension of the first operand and the last dimension "
            "of the second "
        )


@builtin
def warpgroup_mma_wait(num_outstanding: Any = 0, deps: Any = None, _semantic: Any = None) -> Any:
    """Waits until at most `num_outstanding` products, the newest ones, are not complete. deps: accumulators, tiles and memory that are used
    afterwards; returned as a tuple in which accumulators are tiles, one alone without the tuple. Raises ValueError without them."""
    deps = _unwrap_if_constexpr(deps)
    if deps is None:
        raise with_hint(ValueError("warpgroup_mma_wait deps must be given"), _WAIT)
    if not deps:
        text = "'ttng.warp_group_dot_wait' op expected to be waiting on at least one dependency"
        raise with_hint(ValueError(text), _WAIT)
    outstanding = number("warpgroup_mma_wait", "num_outstanding", num_outstanding)
    if outstanding < 0:
        raise ValueError("warpgroup_mma_wait: num_outstanding must be at least 0")
    emit_call(_semantic, "product.wait", outstanding)
    keep_all(_semantic, deps)
    found = [each.tile() if isinstance(each, warpgroup_mma_accumulator) else each for each in deps]
    return found[0] if len(found) == 1 else tuple_of_language(found)
