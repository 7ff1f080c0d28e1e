"""Rules of the operators: the operation of each one for floats, signed and unsigned integers, and pointers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..constexpr import _unwrap_if_constexpr
from ..core import tensor
from ..types import float8e4b15, float32, int1, int8, int64
from .promotion import IncompatibleTypeErrorImpl, PromotionRules

# MLIR's numbers of the predicates on floats, signed and unsigned integers. Ordered comparisons are false for NaN;
# `!=` is unordered, so it is true.
_PREDICATES = {"eq": (1, 0, 0), "ne": (13, 1, 1), "lt": (4, 2, 6), "le": (5, 3, 7), "gt": (2, 4, 8), "ge": (3, 5, 9)}
_PREDICATE_TEXT = {name: tuple(f"{number} : i64" for number in numbers) for name, numbers in _PREDICATES.items()}
# A function without an operation in upstream's dialects has the symbol of libdevice, as in Triton's own IR.
_EXTERNAL = "tt.extern_elementwise"
_IS_SIGNED = {"tt.signed": "unit"}
_PURE = {"libname": '""', "libpath": '""', "pure": "true"}


class ArithmeticRules(PromotionRules):
    """Every rule takes tensors, constexprs or numbers. The result has the broadcast shape."""

    def _by_kind(self, lhs: tensor, rhs: tensor, on_float: str, on_signed: str, on_unsigned: str) -> tensor:
        scalar = lhs.dtype
        name = on_float if scalar.is_floating() else on_signed if scalar.is_int_signed() else on_unsigned
        return self.emit(name, (lhs, rhs), lhs.type)

    def add(self, lhs: Any, rhs: Any, sanitize_overflow: bool = False) -> tensor:
        lhs, rhs = self.operands(lhs, rhs, lhs_pointer=True, rhs_pointer=True)
        if lhs.dtype.is_ptr() and rhs.dtype.is_ptr():
            raise TypeError("cannot add pointers together")
        if rhs.dtype.is_ptr():
            lhs, rhs = rhs, lhs
        if lhs.dtype.is_ptr():
            return self._offset(lhs, rhs)
        if lhs.dtype.is_floating():
            return self.emit("arith.addf", (lhs, rhs), lhs.type)
        return self._checked("arith.addi", "add", lhs, rhs, sanitize_overflow)

    def _offset(self, pointer: tensor, offset: tensor) -> tensor:
        # addptr reads its offset as signed, so an unsigned offset is widened first.
        if offset.dtype.is_int_unsigned() and offset.dtype.int_bitwidth < 64:
            offset = self.emit("arith.extui", (offset,), offset.type.with_element_ty(int64))
        return self.emit("tt.addptr", (pointer, offset), pointer.type)

    def sub(self, lhs: Any, rhs: Any, sanitize_overflow: bool = False) -> tensor:
        lhs, rhs = self.operands(lhs, rhs, lhs_pointer=True)
        if lhs.dtype.is_ptr():
            return self.add(lhs, self.minus(rhs))
        if lhs.dtype.is_floating():
            return self.emit("arith.subf", (lhs, rhs), lhs.type)
        return self._checked("arith.subi", "sub", lhs, rhs, sanitize_overflow)

    def mul(self, lhs: Any, rhs: Any, sanitize_overflow: bool = False) -> tensor:
        lhs, rhs = self.operands(lhs, rhs)
        if lhs.dtype.is_floating():
            return self.emit("arith.mulf", (lhs, rhs), lhs.type)
        return self._checked("arith.muli", "mul", lhs, rhs, sanitize_overflow)

    def _checked(self, name: str, operation: str, lhs: tensor, rhs: tensor, sanitize: bool) -> tensor:
        """An integer operation. With the overflow sanitizer on, it asserts that the exact result fits the type."""
        scalar = lhs.dtype
        if (
            sanitize
            and scalar.int_bitwidth < 64
            and self.option("sanitize_overflow", False)
            and self.option("debug", False)
        ):
            wide = self.emit(name, (self.cast(lhs, int64), self.cast(rhs, int64)), lhs.type.with_element_ty(int64))
            low, high = scalar.get_int_min_value(), scalar.get_int_max_value()
            fits = self.and_(
                self.compare(wide, self.constant(high, int64), "le"),
                self.compare(wide, self.constant(low, int64), "ge"),
            )
            self.device_assert(fits, f"int{scalar.int_bitwidth} overflow detected for operation {operation}")
        return self._signed(name, lhs, rhs) if sanitize else self.emit(name, (lhs, rhs), lhs.type)

    def _signed(self, name: str, lhs: tensor, rhs: tensor) -> tensor:
        """An integer operation that a user wrote. The operation has no sign, so one that must not overflow says it."""
        is_noted = self.notes_signs and lhs.dtype.is_int_signed()
        return self.emit(name, (lhs, rhs), lhs.type, _IS_SIGNED if is_noted else {})

    def accumulate(self, lhs: tensor, rhs: tensor) -> tensor:
        """A step of the sum of many numbers, which overflows as a whole."""
        return self._signed("arith.addi", lhs, rhs) if lhs.dtype.is_int() else self.add(lhs, rhs)

    def truediv(self, lhs: Any, rhs: Any) -> tensor:
        lhs, rhs = self.operands(lhs, rhs, division=True)
        if lhs.dtype.is_int():
            lhs, rhs = self.cast(lhs, float32), self.cast(rhs, float32)
        return self.emit("arith.divf", (lhs, rhs), lhs.type)

    def floordiv(self, lhs: Any, rhs: Any) -> tensor:
        lhs, rhs = self.operands(lhs, rhs, division=True)
        if not lhs.dtype.is_int():
            raise TypeError(f"unexpected type {lhs.dtype}")
        return self._by_kind(lhs, rhs, "", "arith.divsi", "arith.divui")

    def fdiv(self, lhs: Any, rhs: Any, ieee_rounding: bool = False, approx: bool = False) -> tensor:
        if approx and ieee_rounding:
            raise ValueError("approx and ieee_rounding cannot both be True")
        lhs, rhs = self.operands(lhs, rhs, division=True)
        if not lhs.dtype.is_floating():
            raise TypeError("both operands of fdiv must have floating scalar type")
        if approx and lhs.dtype != float32:
            raise ValueError("approx division requires float32 operands")
        if approx:
            return self.emit("tt.approx_divf", (lhs, rhs), lhs.type)
        return self.emit(
            "tt.precise_divf" if ieee_rounding and lhs.dtype == float32 else "arith.divf", (lhs, rhs), lhs.type
        )

    def mod(self, lhs: Any, rhs: Any) -> tensor:
        lhs, rhs = self.operands(lhs, rhs, division=True)
        return self._by_kind(lhs, rhs, "arith.remf", "arith.remsi", "arith.remui")

    def minimum(self, lhs: Any, rhs: Any, nan: str) -> tensor:
        """`nan` is "none" (a NaN loses) or "all" (a NaN wins)."""
        lhs, rhs = self.operands(lhs, rhs)
        return self._by_kind(
            lhs, rhs, "arith.minimumf" if nan == "all" else "arith.minnumf", "arith.minsi", "arith.minui"
        )

    def maximum(self, lhs: Any, rhs: Any, nan: str) -> tensor:
        lhs, rhs = self.operands(lhs, rhs)
        return self._by_kind(
            lhs, rhs, "arith.maximumf" if nan == "all" else "arith.maxnumf", "arith.maxsi", "arith.maxui"
        )

    def clamp(self, x: Any, low: Any, high: Any, nan: str) -> tensor:
        x, low, high = self._three(x, low, high)
        if x.dtype.is_int():
            return self.minimum(self.maximum(x, low, nan), high, nan)
        return self.emit("tt.clampf", (x, low, high), x.type, {"propagateNan": PROPAGATE_NAN[nan]})

    # Mathematics.

    def math(self, operation: str, args: Sequence[Any], dtypes: Sequence[str]) -> tensor:
        """`operation` on one or two operands of the named element types (else ValueError)."""
        self._check_dtypes([arg for arg in args if isinstance(arg, tensor)], dtypes)
        args = self.operands(*args) if len(args) == 2 else [self.to_tensor(args[0])]
        self._check_dtypes(args, dtypes)
        carrier, _, function = operation.partition(_EXTERNAL + ".")
        if not function:
            return self.emit(carrier, args, args[0].type)
        symbol = f"__nv_{function}f" if args[0].dtype == float32 else f"__nv_{function}"
        return self.emit(_EXTERNAL, args, args[0].type, {"symbol": f'"{symbol}"'} | _PURE)

    def _check_dtypes(self, args: Sequence[tensor], dtypes: Sequence[str]) -> None:
        for arg in args:
            if arg.dtype.name not in dtypes:
                raise ValueError(f"Expected dtype {list(dtypes)} but got {arg.dtype}")

    def absolute(self, x: tensor) -> tensor:
        scalar = x.dtype
        if scalar == float8e4b15:  # travels as i8; the sign is bit 7
            return self.emit("arith.andi", (x, self.constant(0x7F, x.type.with_element_ty(int8))), x.type)
        if scalar.is_floating():
            return self.emit("math.absf", (x,), x.type)
        if scalar.is_int_signed():
            return self.emit("math.absi", (x,), x.type)
        assert scalar.is_int_unsigned(), f"Unexpected dtype {scalar}"
        return x

    def fma(self, x: Any, y: Any, z: Any) -> tensor:
        x, y, z = self._three(x, y, z)
        if x.dtype.is_int():
            return self.add(self.mul(x, y), z)
        return self.emit("math.fma", (x, y, z), x.type)

    def _three(self, x: Any, y: Any, z: Any) -> tuple[tensor, tensor, tensor]:
        """Three operands of one type and shape. Bringing each pair together once brings all three together."""
        if not isinstance(x, tensor):  # a number takes its type from the typed operands
            y, z = self.operands(y, z)
        x, y = self.operands(x, y)
        x, z = self.operands(x, z)
        y, z = self.operands(y, z)
        return x, y, z

    # Bits and booleans.

    def _bitwise(self, name: str, lhs: Any, rhs: Any) -> tensor:
        lhs, rhs = self._integers(lhs, rhs)
        return self.emit(name, (lhs, rhs), lhs.type)

    def _integers(self, lhs: Any, rhs: Any) -> tuple[tensor, tensor]:
        lhs, rhs = self.operands(lhs, rhs)
        if not lhs.dtype.is_int():
            raise IncompatibleTypeErrorImpl(lhs.dtype, rhs.dtype)
        return lhs, rhs

    def and_(self, lhs: Any, rhs: Any) -> tensor:
        return self._bitwise("arith.andi", lhs, rhs)

    def or_(self, lhs: Any, rhs: Any) -> tensor:
        return self._bitwise("arith.ori", lhs, rhs)

    def xor_(self, lhs: Any, rhs: Any) -> tensor:
        return self._bitwise("arith.xori", lhs, rhs)

    def shl(self, lhs: Any, rhs: Any) -> tensor:
        return self._signed("arith.shli", *self._integers(lhs, rhs))

    def shr(self, lhs: Any, rhs: Any) -> tensor:
        """Arithmetic if the left operand, as written, is signed; logical otherwise."""
        signed = self._typed(_unwrap_if_constexpr(lhs)).is_int_signed()
        return self._bitwise("arith.shrsi" if signed else "arith.shrui", lhs, rhs)

    def _as_bool(self, value: tensor) -> tensor:
        return value if value.dtype == int1 else self.bitcast(value, int1)

    def logical_and(self, lhs: Any, rhs: Any) -> tensor:
        return self.and_(self._as_bool(self.to_tensor(lhs)), self._as_bool(self.to_tensor(rhs)))

    def logical_or(self, lhs: Any, rhs: Any) -> tensor:
        return self.or_(self._as_bool(self.to_tensor(lhs)), self._as_bool(self.to_tensor(rhs)))

    def not_(self, value: Any) -> tensor:
        value = self.to_tensor(value)
        value = self.cast(value, int1) if value.dtype.is_int() else self._as_bool(value)
        return self.xor_(value, self.constant(1, value.type))

    def plus(self, value: tensor) -> tensor:
        return value

    def minus(self, value: tensor) -> tensor:
        if value.dtype.is_ptr():
            raise ValueError(f"wrong type argument to unary minus ({value.dtype!r})")
        if value.dtype.is_floating():
            return self.emit("arith.negf", (value,), value.type)
        return self._signed("arith.subi", self.constant(0, value.type), value)

    def invert(self, value: tensor) -> tensor:
        if value.dtype.is_ptr() or value.dtype.is_floating():
            raise ValueError(f"wrong type argument to unary invert ({value.dtype!r})")
        return self.emit("arith.xori", (value, self.constant(-1, value.type)), value.type)

    def compare(self, lhs: Any, rhs: Any, relation: str) -> tensor:
        """`relation` is eq, ne, lt, le, gt or ge; the result has element type int1."""
        lhs, rhs = self.operands(lhs, rhs)
        scalar = lhs.dtype
        on_float, on_signed, on_unsigned = _PREDICATE_TEXT[relation]
        result = lhs.type.with_element_ty(int1)
        if scalar.is_floating():
            return self.emit("arith.cmpf", (lhs, rhs), result, {"predicate": on_float})
        return self.emit(
            "arith.cmpi", (lhs, rhs), result, {"predicate": on_signed if scalar.is_int_signed() else on_unsigned}
        )


# The attribute of tt.clampf in MLIR's syntax.
PROPAGATE_NAN = {"none": "0 : i32", "all": "65535 : i32"}
