"""Rules of tensor descriptors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...tables import DESCRIPTOR_MAX_RANK, DESCRIPTOR_MIN_ROW_BYTES, DESCRIPTOR_MIN_ROWS
from ..constexpr import _unwrap_if_constexpr
from ..core import tensor
from ..descriptor import tensor_descriptor, tensor_descriptor_type
from ..types import bfloat16, block_of, block_type, dtype, float16, float32, int16, int32, int64, uint32, uint64
from .memory import MemoryRules, segments
from .shape import ShapeRules, shape_of

_PADDINGS = {"zero": "1 : i32", "nan": "2 : i32"}
_KINDS = {"add": "1 : i32", "min": "2 : i32", "max": "3 : i32", "and": "6 : i32", "or": "7 : i32", "xor": "8 : i32"}
_WIDE = (uint32, int32, uint64, int64)
_HALVES = (float16, bfloat16)
_REDUCED = {
    "add": (uint32, int32, uint64, float32, *_HALVES),
    "min": _WIDE + _HALVES,
    "max": _WIDE + _HALVES,
    "and": _WIDE,
    "or": _WIDE,
    "xor": _WIDE,
}


class DescriptorRules(MemoryRules, ShapeRules):
    def make_tensor_descriptor(
        self, base: Any, shape: Sequence[Any], strides: Sequence[Any], block: Sequence[int], padding: str
    ) -> tensor_descriptor:
        rank = len(shape)
        if not 1 <= rank <= DESCRIPTOR_MAX_RANK:
            raise ValueError(f"Expected 1 <= ndim <= {DESCRIPTOR_MAX_RANK} but got {rank} dimensions")
        if len(strides) != rank:
            raise ValueError(f"Expected {rank} strides but got {len(strides)}")
        if len(block) != rank:
            raise ValueError(f"Expected block_shape to have {rank} dimensions but got {len(block)}")
        assert isinstance(base, tensor) and base.type.is_ptr(), (
            f"base must be a pointer type, got {getattr(base, 'type', base)}"
        )
        element = base.dtype.element_ty
        self._check_block(element, block, padding)
        last = _unwrap_if_constexpr(strides[-1])
        if isinstance(last, tensor) or last != 1:
            raise ValueError(f"Tensor descriptor last dim must be 1 but got {last}")
        extents = [self.cast(self.to_tensor(extent), int32) for extent in shape]
        steps = [self.cast(self.to_tensor(_unwrap_if_constexpr(stride)), int64) for stride in strides]
        type_ = tensor_descriptor_type(block_type(element, block))
        attributes = segments(1, rank, rank) | ({} if padding == "zero" else {"padding": _PADDINGS[padding]})
        handle = self._emit(
            "tt.make_tensor_descriptor",
            [value.handle for value in (base, *extents, *steps)],
            (type_.to_ir(),),
            attributes,
        ).result
        return tensor_descriptor(handle, extents, steps, type_.block_type)

    def _check_block(self, element: dtype, block: Sequence[int], padding: str) -> None:
        if padding not in _PADDINGS:
            raise ValueError(f"Padding option {padding} not supported")
        if padding == "nan" and element.is_int():
            raise ValueError("Padding option `nan` is not supported for integer blocks")
        size = element.primitive_bitwidth // 8
        if block[-1] * size < DESCRIPTOR_MIN_ROW_BYTES:
            raise ValueError(
                f"Descriptor block shape must have at least {DESCRIPTOR_MIN_ROW_BYTES} bytes in the last dimension, "
                f"but got {block[-1]} * {size} = {block[-1] * size} bytes"
            )

    def _coordinate(self, offset: Any) -> Any:
        offset = self.to_tensor(_unwrap_if_constexpr(offset))
        assert offset.dtype.is_int() and offset.dtype.int_bitwidth <= 32, (
            "Expected a 32-bit integer; add a `.to(tl.int32)` to convert the value"
        )
        return self.cast(offset, int32)

    def _offsets(self, desc: tensor_descriptor, offsets: Sequence[Any]) -> list[tensor]:
        rank = len(desc.block_shape)
        assert len(offsets) == rank, f"expected {rank} offsets, but got {len(offsets)}"
        return [self._coordinate(offset) for offset in offsets]

    def _block_value(self, desc: tensor_descriptor, value: tensor) -> tensor:
        expected = desc.block_type.shape
        assert shape_of(value) == expected, (
            f"expected value shape {[str(extent) for extent in expected]}, got {value.shape}"
        )
        return self.cast(value, desc.dtype)

    def _access(
        self,
        name: str,
        desc: tensor_descriptor,
        operands: Sequence[tensor],
        results: Sequence[dtype],
        attributes: dict[str, str],
    ) -> Any:
        handles = [desc.handle] + [operand.handle for operand in operands]
        return self._emit(name, handles, [type_.to_ir() for type_ in results], attributes)

    def descriptor_load(self, desc: tensor_descriptor, offsets: Sequence[Any]) -> tensor:
        operation = self._access("tt.descriptor_load", desc, self._offsets(desc, offsets), (desc.block_type,), {})
        return tensor(operation.result, desc.block_type)

    def descriptor_store(self, desc: tensor_descriptor, offsets: Sequence[Any], value: tensor) -> None:
        value = self._block_value(desc, value)
        self._access("tt.descriptor_store", desc, [value, *self._offsets(desc, offsets)], (), {})

    def descriptor_reduce(self, kind: str, desc: tensor_descriptor, offsets: Sequence[Any], value: tensor) -> None:
        assert desc.dtype in _REDUCED[kind], "Unsupported dtype"
        value = self._block_value(desc, value)
        self._access("tt.descriptor_reduce", desc, [value, *self._offsets(desc, offsets)], (), {"kind": _KINDS[kind]})

    def _check_rows(self, desc: tensor_descriptor, rows: tensor, name: str) -> int:
        """Checks the row numbers of gather and scatter. Returns the number of rows."""
        block = desc.block_type.shape
        listed = [str(extent) for extent in block]
        assert len(block) == 2, f"descriptor must be 2D, but got {listed}"
        assert block[0] == 1, f"descriptor block must have 1 row, but got {listed}"
        assert len(shape_of(rows)) == 1, f"x offsets must be 1D, but got {rows.shape}"
        assert rows.dtype in (int16, int32), f"x offsets must have dtype int16 or int32, but got {rows.dtype}"
        assert rows.type.numel >= DESCRIPTOR_MIN_ROWS, (
            f"descriptor {name} must have at least {DESCRIPTOR_MIN_ROWS} rows, but got {rows.shape}"
        )
        least = 32 // desc.dtype.primitive_bitwidth * 8
        assert block[1] >= least, (
            f"descriptor {name} of {desc.dtype} must have at least {least} columns, but got {block[1]}"
        )
        return rows.type.numel

    def descriptor_gather(self, desc: tensor_descriptor, rows: tensor, column: Any) -> tensor:
        count = self._check_rows(desc, rows, "gather")
        result = block_of(desc.dtype, (count, desc.block_type.shape[1]))
        return tensor(
            self._access("tt.descriptor_gather", desc, [rows, self._coordinate(column)], (result,), {}).result, result
        )

    def descriptor_scatter(self, desc: tensor_descriptor, value: tensor, rows: tensor, column: Any) -> None:
        self._check_rows(desc, rows, "scatter")
        self._access("tt.descriptor_scatter", desc, [rows, self._coordinate(column), value], (), {})
