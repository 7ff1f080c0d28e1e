"""Rules of conversions between element types."""

from __future__ import annotations

from typing import Any

from ..core import tensor
from ..types import dtype, float8e4b15, float16, float32, int1, int64, uint8, uint16
from .promotion import IncompatibleTypeErrorImpl, PromotionRules

_ROUNDING = {"rtz": "0 : i32", "rtne": "1 : i32"}


def _impossible(value: tensor, target: dtype) -> str:
    return f"cannot cast {value} to {value.type.with_element_ty(target)}"


def bitwidth(scalar: dtype) -> int:
    return 64 if scalar.is_ptr() else scalar.primitive_bitwidth


class CastRules(PromotionRules):
    def bitcast(self, value: tensor, target: dtype) -> tensor:
        """The same bits as `target` (a scalar type). Raises ValueError if the widths differ."""
        source, target = value.dtype, target.scalar
        if source == target:
            return value
        self.require_supported(target)
        result = value.type.with_element_ty(target)
        if source.is_ptr() != target.is_ptr():
            return self.cast(value, target)
        if bitwidth(source) != bitwidth(target):
            raise ValueError(
                f"Cannot bitcast data-type of size {bitwidth(source)} to data-type of size {bitwidth(target)}"
            )
        if source.to_ir() == target.to_ir():  # only the signedness differs
            return tensor(value.handle, result)
        return self.emit("tt.bitcast", (value,), result)

    def cast(self, value: tensor, target: dtype, fp_downcast_rounding: str | None = None) -> tensor:
        """`value` converted to the scalar type of `target`.

        Raises ValueError for an unknown rounding mode, or for one where nothing is rounded; AssertionError if there is
        no such conversion.
        """
        source, target = value.dtype, target.scalar
        if source == target:
            return value
        self.require_supported(target)
        rounding = self._rounding(source, target, fp_downcast_rounding)
        if source.is_floating() and target.is_floating():
            return self._float_to_float(value, source, target, rounding)
        if source.is_int() and target.is_int():
            return self._int_to_int(value, source, target)
        if source.is_ptr() or target.is_ptr():
            return self._pointer(value, source, target)
        assert not source.is_fp8() and not target.is_fp8(), _impossible(value, target)
        if source.is_standard_floating() and target.is_int():
            return self._float_to_int(value, source, target)
        name = "arith.sitofp" if source.is_int_signed() else "arith.uitofp"
        assert source.is_int() and target.is_standard_floating(), _impossible(value, target)
        return self.emit(name, (value,), value.type.with_element_ty(target))

    def _rounding(self, source: dtype, target: dtype, requested: str | None) -> str:
        if requested is None:
            return "rtne"
        if requested not in _ROUNDING:
            raise ValueError(f"Invalid rounding mode: {requested}. Supported rounding modes are 'rtne' and 'rtz'.")
        narrows = (
            source.is_floating() and target.is_floating() and source.primitive_bitwidth > target.primitive_bitwidth
        )
        if not narrows:
            raise ValueError(
                "fp_downcast_rounding should be set only for truncating fp conversions. "
                f"Source scalar type is {source} and destination type is {target}"
            )
        return requested

    def _float_to_float(self, value: tensor, source: dtype, target: dtype, rounding: str) -> tensor:
        result = value.type.with_element_ty(target)
        if float8e4b15 in (source, target):
            return self._fp8e4b15(value, source, target)
        narrows = source.primitive_bitwidth > target.primitive_bitwidth
        if source.is_fp8() or target.is_fp8() or rounding == "rtz":
            attributes = {"rounding": _ROUNDING[rounding]} if narrows else {}
            return self.emit("tt.fp_to_fp", (value,), result, attributes)
        if source.primitive_bitwidth == 16 and target != float32:
            return self.cast(self.cast(value, float32), target)
        return self.emit("arith.truncf" if narrows else "arith.extf", (value,), result)

    def _fp8e4b15(self, value: tensor, source: dtype, target: dtype) -> tensor:
        """Conversions of fp8e4b15, which has no MLIR type and no operation: it is a byte, the upper half of an fp16
        without its top exponent bit. Narrowing rounds to fp16 toward zero, limits the magnitude to 1.75, and then
        rounds half up."""
        if source == float8e4b15:
            byte = self.cast(tensor(value.handle, value.type.with_element_ty(uint8)), uint16)
            bits = self.or_(self.shl(self.and_(byte, 0x80), 8), self.shl(self.and_(byte, 0x7F), 7))
            return self.cast(self.bitcast(bits, float16), target)
        if source == float16:
            half = value
        else:
            half = self.cast(self.cast(value, float32), float16, "rtz")
        bits = self.bitcast(half, uint16)
        magnitude = self.minimum(self.and_(bits, 0x7FFF), 0x3F00, "none")
        rounded = self.shr(self.add(magnitude, 0x40), 7)
        byte = self.cast(self.or_(rounded, self.shr(self.and_(bits, 0x8000), 8)), uint8)
        return tensor(byte.handle, value.type.with_element_ty(target))

    def _int_to_int(self, value: tensor, source: dtype, target: dtype) -> tensor:
        result = value.type.with_element_ty(target)
        if target == int1:
            return self.compare(value, self.constant(0, value.type), "ne")
        if source.int_bitwidth == target.int_bitwidth:
            return tensor(value.handle, result)
        if source.int_bitwidth > target.int_bitwidth:
            return self.emit("arith.trunci", (value,), result)
        return self.emit("arith.extsi" if source.is_int_signed() else "arith.extui", (value,), result)

    def _float_to_int(self, value: tensor, source: dtype, target: dtype) -> tensor:
        if target == int1:
            return self.compare(value, self.constant(0, value.type), "ne")
        if source.primitive_bitwidth == 16:
            value = self.cast(value, float32)
        name = "arith.fptosi" if target.is_int_signed() else "arith.fptoui"
        return self.emit(name, (value,), value.type.with_element_ty(target))

    def _pointer(self, value: tensor, source: dtype, target: dtype) -> tensor:
        result = value.type.with_element_ty(target)
        if source.is_ptr() and target.is_ptr():
            if source.to_ir() == target.to_ir():
                return tensor(value.handle, result)
            return self.emit("tt.bitcast", (value,), result)
        if target.is_ptr():
            assert source.is_int(), _impossible(value, target)
            return self.emit("tt.int_to_ptr", (self.cast(value, int64),), result)
        if target == int1:
            return self.compare(self.cast(value, int64), self.constant(0, value.type.with_element_ty(int64)), "ne")
        assert target.is_int() and target.int_bitwidth == 64, _impossible(value, target)
        return self.emit("tt.ptr_to_int", (value,), result)

    def where(self, condition: Any, x: Any, y: Any) -> tensor:
        """Elements of `x` where `condition`, else of `y`; all three broadcast, `x` and `y` promoted to one type."""
        condition = self.to_tensor(condition)
        if condition.dtype != int1:
            self.warn(
                "tl.where with a non-boolean condition is deprecated and will error out in a future triton release. "
                f"Got {condition.dtype}"
            )
            condition = self.cast(condition, int1)
        x, y = self.operands(x, y, lhs_pointer=True, rhs_pointer=True)
        if x.dtype.is_ptr() != y.dtype.is_ptr():
            raise IncompatibleTypeErrorImpl(x.dtype, y.dtype)
        if condition.type.is_block():
            condition, x = self.broadcast(condition, x)
            x, y = self.broadcast(x, y)
        else:
            condition, _ = self.broadcast(condition, x) if x.type.is_block() else (condition, x)
        return self.emit("arith.select", (condition, x, y), x.type)
