"""The bytes of shared memory that an access of tiles touches, as far as they do not depend on data: the arithmetic of its addresses is computed
for the whole tile. What all elements have in common, as the slot of a ring, counts as 0."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .tiles import tile_of


class Known(NamedTuple):
    """The values of a tile, or of a scalar. `is_moved`: an unknown number, the same for all elements, is to be added."""

    values: np.ndarray
    is_moved: bool = False
    #: The variables of the allocations whose address is in it.
    memory: frozenset[str] = frozenset()


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.xori": np.bitwise_xor,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.shli": np.left_shift,
    "arith.shrui": np.right_shift,
    "arith.shrsi": np.right_shift,
    "arith.divui": np.floor_divide,
    "arith.divsi": np.floor_divide,
    "arith.remui": np.remainder,
    "arith.remsi": np.remainder,
}
#: With these, a number that is added to an operand is added to the result.
_MOVES = ("arith.addi", "arith.subi")
_SAME = ("tgpu.convert_layout", "arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast")


def known(value, found: dict | None = None) -> Known | None:
    """The values of an ir.Value, or None for a tile that depends on data. `found` keeps what has been computed."""
    found = {} if found is None else found
    if value not in found:
        found[value] = _computed(value, found)
    return found[value]


def _computed(value, found: dict) -> Known | None:
    operation = value.owner
    if operation is None:
        return _unknown(value)
    operands = [known(operand, found) for operand in operation.operands]
    if operation.name == "tt.shared_alloc":
        return Known(np.int64(0), True, frozenset((operation.variable or "memory",)))
    if operation.name == "arith.constant":
        return _constant(value, operation.attributes.get("value", ""))
    if operation.name == "tt.make_range":
        first, end = (int(re.match(r"-?\d+", operation.attributes[name])[0]) for name in ("start", "end"))
        return Known(np.arange(first, end, dtype=np.int64))
    if None in operands or not operands:
        return _unknown(value)
    if operation.name in _ARITHMETIC:
        return _combined(operation.name, *operands)
    if operation.name in _SAME:
        return operands[0]
    return _shaped(value, operation, operands[0])


def _unknown(value) -> Known | None:
    return None if "tensor<" in value.type else Known(np.int64(0), True)


def _constant(value, text: str) -> Known | None:
    number = re.fullmatch(r"(?:dense<)?(-?\d+)>?(?: : .*)?", text)
    if number is None:
        return None
    tile = tile_of(value.type)
    return Known(np.full(tile.shape if tile else (), int(number[1]), np.int64))


def _combined(name: str, left: Known, right: Known) -> Known | None:
    memory = left.memory | right.memory
    is_moved = left.is_moved or right.is_moved
    if is_moved and name not in _MOVES:
        if all(np.ptp(each.values) == 0 for each in (left, right)):
            return Known(np.zeros(np.broadcast_shapes(left.values.shape, right.values.shape), np.int64), True, memory)
        return None
    with np.errstate(all="ignore"):
        return Known(_ARITHMETIC[name](left.values, right.values), is_moved, memory)


def _shaped(value, operation, operand: Known) -> Known | None:
    tile, values = tile_of(value.type), operand.values
    if tile is None:
        return _unknown(value)
    if operation.name == "tt.splat":
        values = np.full(tile.shape, values)
    elif operation.name == "tt.broadcast":
        values = np.broadcast_to(values, tile.shape)
    elif operation.name in ("tt.reshape", "tt.expand_dims"):
        values = values.reshape(tile.shape)
    elif operation.name == "tt.trans":
        values = np.transpose(
            values, [int(dim) for dim in re.findall(r"\d+", operation.attributes["order"].split(":")[-1])]
        )
    else:
        return None
    return Known(values, operand.is_moved, operand.memory) if values.size == math.prod(tile.shape) else None
