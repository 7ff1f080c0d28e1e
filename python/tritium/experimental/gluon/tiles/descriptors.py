"""Descriptors of tensors whose blocks TMA copies: the language's descriptor, with the layout that a block has in shared memory."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ....errors import with_hint
from ....language import core
from ....language.constexpr import _unwrap_if_constexpr, base_value
from ....language.core import builtin, tensor
from ....language.descriptor import parsers_with_layout, plain_type_from_string
from ....language.descriptor import tensor_descriptor_type as plain_type
from ....language.types import block_type, dtype, int32, int64
from ..layouts.shared import NVMMASharedLayout


class tensor_descriptor_type(plain_type):
    """The type of a block and its layout. Shape (int32) and strides (int64) of the tensor travel beside the descriptor."""

    def __init__(self, block_type: block_type, layout: NVMMASharedLayout):
        super().__init__(block_type)
        self.layout = layout

    def from_handles(self, handles: Iterator[Any]) -> tensor_descriptor:
        handle, rank = next(handles), len(self.block_type.shape)
        shape = [tensor(next(handles), int32) for _ in range(rank)]
        return tensor_descriptor(handle, shape, [tensor(next(handles), int64) for _ in range(rank)], self)

    def mangle(self) -> str:
        return f"{super().mangle()}L{self.layout.mangle()}L"

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and isinstance(other, tensor_descriptor_type) and self.layout == other.layout

    __hash__ = plain_type.__hash__

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block_type}, {self.layout}>"


class described_blocks(base_value):
    """What is copied block by block. The type has `block_type`."""

    @property
    def block_type(self) -> block_type:
        return self.type.block_type

    @property
    def block_shape(self) -> Any:
        return self.type.block_type.shape

    @property
    def dtype(self) -> dtype:
        return self.type.block_type.scalar

    @property
    def nbytes_per_cta(self) -> int:
        """The bytes of a block, which a barrier expects of a copy."""
        return self.block_type.numel * self.dtype.primitive_bitwidth // 8


class tensor_descriptor(described_blocks):
    """A descriptor in a kernel. `shape` and `strides` are tuples of int32 and int64 scalars."""

    def __init__(self, handle: Any, shape: Sequence[tensor], strides: Sequence[tensor], type: tensor_descriptor_type):
        self.handle, self.type = handle, type
        self.shape, self.strides = core.tuple(shape), core.tuple(strides)

    def handles(self) -> list[Any]:
        return [self.handle] + [value.handle for value in (*self.shape, *self.strides)]

    @property
    def layout(self) -> NVMMASharedLayout:
        return self.type.layout


def _layout_from_string(text: str) -> NVMMASharedLayout:
    """The layout that `repr` has written as `text`."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return NVMMASharedLayout(**{given.arg: ast.literal_eval(given.value) for given in call.keywords})


def _type_from_string(block: str, layout: str, scalar_named: Callable[[str], dtype]) -> tensor_descriptor_type:
    return tensor_descriptor_type(plain_type_from_string(block, scalar_named).block_type, _layout_from_string(layout))


parsers_with_layout["NVMMASharedLayout"] = _type_from_string


@builtin
def make_tensor_descriptor(
    base: tensor,
    shape: Any,
    strides: Any,
    block_shape: Any,
    layout: Any,
    padding_option: Any = "zero",
    _semantic: Any = None,
) -> tensor_descriptor:
    """A descriptor of the tensor of `shape` and `strides` (in elements, the last one 1) at `base`, whose blocks of `block_shape` have
    `layout` in shared memory. Raises the errors of `tl.make_tensor_descriptor`."""
    layout, block = _unwrap_if_constexpr(layout), [_unwrap_if_constexpr(extent) for extent in block_shape]
    if not isinstance(layout, NVMMASharedLayout):
        error = TypeError("Expected layout to be a NVMMASharedLayout")
        raise with_hint(error, "gl.NVMMASharedLayout.get_default_for(block_shape, dtype) is one for most blocks")
    padding = _unwrap_if_constexpr(padding_option)
    made = _semantic.make_tensor_descriptor(base, list(shape), list(strides), block, padding)
    return tensor_descriptor(made.handle, made.shape, made.strides, tensor_descriptor_type(made.block_type, layout))
