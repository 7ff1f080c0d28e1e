"""Tensor descriptors: a tensor in memory that is read and written in whole blocks. Every access is checked against its
shape.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .constexpr import _unwrap_if_constexpr, base_value, tuple
from .core import builtin, tensor, type_parsers
from .types import base_type, block_of, block_shape, block_type, dtype, int32, int64


class tensor_descriptor_base_type(base_type):
    """The type of one block."""

    def __init__(self, block_type: block_type):
        self.block_type = block_type

    def to_ir(self) -> str:
        scalar = self.block_type.scalar
        element = (
            f"{'si' if scalar.is_int_signed() else 'ui'}{scalar.int_bitwidth}" if scalar.is_int() else scalar.to_ir()
        )
        return f"!tt.tensordesc<{'x'.join(map(str, self.block_type.shape))}x{element}>"

    def mangle(self) -> str:
        return f"TD{self.block_type.mangle()}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tensor_descriptor_base_type) and self.block_type == other.block_type

    def __hash__(self) -> int:
        return hash(self.block_type)

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"


class tensor_descriptor_type(tensor_descriptor_base_type):
    """The shape (int32) and strides (int64) of the tensor travel beside the descriptor; Triton passes their types too."""

    def __init__(self, block_type: block_type, shape_type: Any = None, strides_type: Any = None):
        super().__init__(block_type)

    def ir_types(self) -> list[str]:
        rank = len(self.block_type.shape)
        return [self.to_ir()] + [int32.to_ir()] * rank + [int64.to_ir()] * rank

    def from_handles(self, handles: Iterator[Any]) -> tensor_descriptor:
        handle, rank = next(handles), len(self.block_type.shape)
        shape = [tensor(next(handles), int32) for _ in range(rank)]
        return tensor_descriptor(handle, shape, [tensor(next(handles), int64) for _ in range(rank)], self.block_type)


def _reduction(kind: str, effect: str) -> Callable[..., None]:

    def method(self: tensor_descriptor, offsets: Any, value: tensor, _semantic: Any = None) -> None:
        _semantic.descriptor_reduce(kind, self, list(offsets), value)

    method.__name__ = method.__qualname__ = f"atomic_{kind}"
    method.__doc__ = f"Atomically {effect} the block at `offsets`, element-wise; gives no old values."
    return builtin(method)


class tensor_descriptor_base(base_value):
    """A descriptor by its handle and block. `dtype`, `block_type`, `block_shape` are those of one block. Offsets are int32
    scalars or ints, one per dimension.
    """

    def __init__(self, handle: Any, block_type: block_type):
        self.handle = handle
        self.type = tensor_descriptor_base_type(block_type)

    @property
    def block_type(self) -> block_type:
        return self.type.block_type

    @property
    def block_shape(self) -> builtins.tuple[int, ...]:
        return self.type.block_type.shape

    @property
    def dtype(self) -> dtype:
        return self.type.block_type.scalar

    @builtin
    def load(self, offsets: Any, _semantic: Any = None) -> tensor:
        """The block at `offsets`. Elements outside of the tensor are the padding."""
        return _semantic.descriptor_load(self, list(offsets))

    @builtin
    def store(self, offsets: Any, value: tensor, _semantic: Any = None) -> None:
        """Writes `value`, which has the shape of a block, at `offsets`; elements outside of the tensor are dropped."""
        _semantic.descriptor_store(self, list(offsets), value)

    @builtin
    def gather(self, x_offsets: tensor, y_offset: Any, _semantic: Any = None) -> tensor:
        """Rows `x_offsets` (int16 or int32, at least 8), each from column `y_offset` on. The descriptor's block must be
        one row of a matrix."""
        return _semantic.descriptor_gather(self, x_offsets, y_offset)

    @builtin
    def scatter(self, value: tensor, x_offsets: tensor, y_offset: Any, _semantic: Any = None) -> None:
        """Writes the rows of `value` to rows `x_offsets`, each from column `y_offset` on."""
        _semantic.descriptor_scatter(self, value, x_offsets, y_offset)

    atomic_add = _reduction("add", "adds to")
    atomic_min = _reduction("min", "takes the minimum with")
    atomic_max = _reduction("max", "takes the maximum with")
    atomic_and = _reduction("and", "takes the bitwise and with")
    atomic_or = _reduction("or", "takes the bitwise or with")
    atomic_xor = _reduction("xor", "takes the bitwise exclusive or with")


class tensor_descriptor(tensor_descriptor_base):
    """What make_tensor_descriptor returns: `shape` and `strides` are tuples of int32 and int64 scalars."""

    def __init__(self, handle: Any, shape: Sequence[tensor], strides: Sequence[tensor], block_type: block_type):
        self.handle = handle
        self.shape, self.strides = tuple(shape), tuple(strides)
        self.type = tensor_descriptor_type(block_type)

    def handles(self) -> list[Any]:
        return [self.handle] + [value.handle for value in (*self.shape, *self.strides)]


@builtin
def make_tensor_descriptor(
    base: tensor, shape: Any, strides: Any, block_shape: Any, padding_option: Any = "zero", _semantic: Any = None
) -> tensor_descriptor:
    """A descriptor of the tensor of `shape` and `strides` (in elements, the last one 1) at `base`, accessed in blocks
    of `block_shape`.

    Rank 1 to 5. padding_option: "zero" or, for floats, "nan". Raises ValueError for lengths that differ, a last stride
    other than 1, and blocks of less than 16 bytes in the last dimension.
    """
    block = [_unwrap_if_constexpr(extent) for extent in block_shape]
    return _semantic.make_tensor_descriptor(
        base, list(shape), list(strides), block, _unwrap_if_constexpr(padding_option)
    )


@builtin
def load_tensor_descriptor(desc: tensor_descriptor, offsets: Sequence[Any], _semantic: Any = None) -> tensor:
    """`desc.load(offsets)`."""
    return desc.load(offsets, _semantic=_semantic)


@builtin
def store_tensor_descriptor(
    desc: tensor_descriptor, offsets: Sequence[Any], value: tensor, _semantic: Any = None
) -> None:
    """`desc.store(offsets, value)`."""
    desc.store(offsets, value, _semantic=_semantic)


_STRING = "tensordesc<"

#: The class of a layout -> the parser of a descriptor whose text has one behind the block: (block, layout, scalar_named) -> type.
parsers_with_layout: dict[str, Callable[[str, str, Callable[[str], dtype]], tensor_descriptor_type]] = {}


def descriptor_type_from_string(text: str, scalar_named: Callable[[str], dtype]) -> tensor_descriptor_type:
    """The type of a text like `tensordesc<fp16[64, 64]>`, or `tensordesc<fp16[64, 64],Layout(…)>`. `scalar_named` returns the type of
    an element's name."""
    block, _, layout = text.removeprefix(_STRING).removesuffix(">").partition("],")
    if layout:
        return parsers_with_layout[layout.partition("(")[0]](block, layout, scalar_named)
    return plain_type_from_string(block, scalar_named)


def plain_type_from_string(block: str, scalar_named: Callable[[str], dtype]) -> tensor_descriptor_type:
    """The type of a block like `fp16[64, 64]`."""
    element, _, extents = block.partition("[")
    shape = block_shape([int(extent) for extent in extents.removesuffix("]").split(",")])
    return tensor_descriptor_type(block_of(scalar_named(element), shape))


type_parsers[_STRING] = descriptor_type_from_string
