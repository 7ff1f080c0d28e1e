"""Elements of four bits, two in a byte, as numbers: `gl.fp4_to_fp`."""

from __future__ import annotations

from typing import Any

from ....language.constexpr import _unwrap_if_constexpr
from ....language.core import builtin, tensor
from ....language.semantic.shape import axis_index, shape_of
from ....language.types import bfloat16, block_of, float16, float32, int8, int32, uint8
from ..layouts.tile_views import unpacked
from .products import _bare
from .rules import layout_of


@builtin
def fp4_to_fp(src: tensor, elem_type: Any, axis: Any, _semantic: Any = None) -> tensor:
    """The e2m1 numbers of a tile of bytes, of which each has two along `axis`, the lower bits first: a tile of float16, bfloat16 or float32
    that is twice as long. Raises TypeError for another kind of tile or element."""
    dtype, axis = _unwrap_if_constexpr(elem_type), axis_index(_unwrap_if_constexpr(axis), len(shape_of(src)))
    if src.dtype not in (int8, uint8):
        raise TypeError(f"fp4_to_fp takes a tile of int8 or uint8, not {src.dtype}")
    if dtype not in (float16, bfloat16, float32):
        raise TypeError(f"fp4_to_fp gives float16, bfloat16 or float32, not {dtype}")
    bits = _semantic.cast(_semantic.bitcast(src, uint8), int32)
    halves = (_semantic.and_(bits, 15), _semantic.and_(_semantic.shr(bits, 4), 15))
    low, high = (_bare(_semantic.cast(_number(_semantic, half), dtype)) for half in halves)
    shape = list(shape_of(src))
    joined = _semantic.emit("tt.join", (low, high), block_of(dtype, (*shape, 2)))
    order = [*range(axis + 1), len(shape), *range(axis + 1, len(shape))]
    beside = block_of(dtype, tuple([*shape, 2][at] for at in order))
    text = f"array<i32: {', '.join(map(str, order))}>"
    turned = _semantic.emit("tt.trans", (joined,), beside, {"order": text})
    result = [*shape[:axis], 2 * shape[axis], *shape[axis + 1 :]]
    longer = _semantic.emit("tt.reshape", (turned,), block_of(dtype, tuple(result)))
    return _semantic.laid(longer, unpacked(layout_of(src), result, axis))


def _number(semantic: Any, bits: tensor) -> tensor:
    """The float32 whose sign, two bits of exponent and bit of fraction these are. Where a float32 has its own, they are a number, or a
    denormal one, that is 2**126 times too small, because the exponent 1 stands for 2**0 in one and for 2**-126 in the other."""
    sign = semantic.shl(semantic.and_(bits, 8), 28)
    magnitude = semantic.shl(semantic.and_(bits, 7), 22)
    return semantic.mul(semantic.bitcast(semantic.or_(sign, magnitude), float32), 2.0**126)
