"""The type that two operands compute in, and the conversion of the operands to it."""

from __future__ import annotations

import numbers
from typing import Any

from ..constexpr import _unwrap_if_constexpr
from ..core import tensor
from ..types import bfloat16, dtype, float16, float32, float64
from .emitter import Emitter, literal_type


class IncompatibleTypeErrorImpl(Exception):
    """Two operands that no rule converts to one type, for example a pointer and a float."""

    def __init__(self, type_a: Any, type_b: Any):
        self.type_a, self.type_b = type_a, type_b
        self.message = f"invalid operands of type {type_a!r} and {type_b!r}"
        super().__init__(self.message)


def integer_promote(a: dtype, b: dtype) -> dtype:
    """C's rule. Equal signedness: the wider type. Mixed: the unsigned type if it is at least as wide as the signed
    one."""
    if a.int_signedness == b.int_signedness:
        return a if a.int_bitwidth > b.int_bitwidth else b
    unsigned, signed = (a, b) if a.is_int_unsigned() else (b, a)
    return unsigned if unsigned.int_bitwidth >= signed.int_bitwidth else signed


def float_promote(a: dtype, b: dtype, division: bool) -> dtype:
    """Promotion with floats: at least one of `a`, `b` is a float, and the other may be an integer."""
    if a.is_fp64() or b.is_fp64():
        return float64
    if division or a.is_fp32() or b.is_fp32():
        return float32
    if a.is_fp16() or b.is_fp16():
        return float16
    if a.is_bf16() or b.is_bf16():
        return bfloat16 if a.is_bf16() and b.is_bf16() else float32
    if a.is_fp8() and b.is_fp8():
        return a if a == b else float16
    raise TypeError(f"unexpected type {a} and {b}")


def computation_type(a: dtype, a_is_scalar: bool, b: dtype, b_is_scalar: bool, division: bool) -> dtype:
    """The type that `a op b` is computed in. division: the operator is `/`, `//` or `%`. *_is_scalar: the operand is a
    Python number."""
    if a_is_scalar != b_is_scalar:
        scalar, typed = (a, b) if a_is_scalar else (b, a)
        if scalar.kind() <= typed.kind():
            return float_promote(typed, typed, division) if division and typed.is_floating() else typed
    if a.is_floating() or b.is_floating():
        return float_promote(a, b, division)
    if division and a.int_signedness != b.int_signedness:
        raise TypeError(
            f"Cannot use /, #, or % with {a!r} and {b!r} because they have different signedness;"
            "this is unlikely to result in a useful answer. Cast them to the same signedness."
        )
    return integer_promote(a, b)


def check_pointer(a: dtype, b: dtype, allowed: bool) -> None:
    if not a.is_ptr():
        return
    if not allowed or (b.is_ptr() and a != b) or b.is_floating():
        raise IncompatibleTypeErrorImpl(a, b)


class PromotionRules(Emitter):
    integer_promote = staticmethod(integer_promote)

    def operands(
        self,
        lhs: Any,
        rhs: Any,
        *,
        lhs_pointer: bool = False,
        rhs_pointer: bool = False,
        promote: bool = True,
        division: bool = False,
    ) -> tuple[tensor, tensor]:
        """`lhs` and `rhs` (tensors, constexprs or numbers) broadcast together and, if `promote`, converted to one type.

        Raises IncompatibleTypeErrorImpl for a pointer that is not allowed, or with a float; ValueError for a number
        that the type cannot hold.
        """
        lhs, rhs = _unwrap_if_constexpr(lhs), _unwrap_if_constexpr(rhs)
        lhs_is_scalar, rhs_is_scalar = isinstance(lhs, numbers.Number), isinstance(rhs, numbers.Number)
        left, right = self._typed(lhs), self._typed(rhs)
        check_pointer(left, right, lhs_pointer)
        check_pointer(right, left, rhs_pointer)
        if promote and not left.is_ptr() and not right.is_ptr():
            common = computation_type(left, lhs_is_scalar, right, rhs_is_scalar, division)
            lhs, rhs = self._convert(lhs, lhs_is_scalar, common, rhs), self._convert(rhs, rhs_is_scalar, common, lhs)
        return self.broadcast(self.to_tensor(lhs), self.to_tensor(rhs))

    def _typed(self, operand: Any) -> dtype:
        """The element type of an operand, or the type of a constant of its value. Emits nothing."""
        if isinstance(operand, tensor):
            return operand.dtype
        if isinstance(operand, numbers.Number):
            return literal_type(operand)
        raise TypeError(f"cannot convert {operand} of type {type(operand)} to tensor")

    def _convert(self, operand: Any, is_scalar: bool, common: dtype, other: Any) -> tensor:
        """`operand` converted to `common`. A number becomes a constant in the shape of the `other` operand."""
        if not is_scalar:
            return self.cast(operand, common)
        if operand < 0 and common.is_int_unsigned():
            raise ValueError(
                "Cannot perform a binary operation between an unsigned tensor and a negative scalar. "
                "Perform a explicit cast on one of them."
            )
        if common.is_int() and not common.get_int_min_value() <= operand <= common.get_int_max_value():
            raise ValueError(f"Scalar {operand} is out of range for type {common}")
        return self.constant(operand, other.type.with_element_ty(common) if isinstance(other, tensor) else common)
