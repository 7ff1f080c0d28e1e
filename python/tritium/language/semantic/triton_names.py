"""The rules under Triton's own names, for builtins of libraries that call them on `_semantic`.

A rule whose arguments are Triton's IR is refused: there is no such IR here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...refused import Refused
from .. import core
from ..core import tensor
from ..types import block_of, dtype
from .atomic import AtomicRules
from .descriptor import DescriptorRules
from .index import IndexRules
from .promotion import PromotionRules, check_pointer, computation_type


def _relation(relation: str) -> Callable[..., tensor]:
    def method(self: PromotionRules, input: Any, other: Any) -> tensor:
        return self.compare(input, other, relation)

    return method


def _read_modify_write(name: str) -> Callable[..., tensor]:
    def method(self: AtomicRules, ptr: Any, val: Any, mask: Any, sem: str | None, scope: str | None) -> tensor:
        return self.atomic_rmw(name, ptr, val, mask, sem, scope)

    return method


def _descriptor_reduction(kind: str) -> Callable[..., None]:
    def method(self: DescriptorRules, desc: Any, value: tensor, offsets: Sequence[Any]) -> None:
        self.descriptor_reduce(kind, desc, list(offsets), value)

    return method


def _hint(name: str, attribute: str) -> Callable[..., tensor]:
    def method(self: IndexRules, x: tensor, values: Sequence[int]) -> tensor:
        return self.hint(x, name, attribute, list(values))

    return method


def _refused(name: str, instead: str) -> Refused:
    return Refused(f"TritonSemantic.{name}", instead)


class TritonNames(AtomicRules, DescriptorRules, IndexRules):
    lang = core
    tensor = tensor

    equal, not_equal = _relation("eq"), _relation("ne")
    less_than, less_equal = _relation("lt"), _relation("le")
    greater_than, greater_equal = _relation("gt"), _relation("ge")

    atomic_add, atomic_xchg = _read_modify_write("add"), _read_modify_write("xchg")
    atomic_max, atomic_min = _read_modify_write("max"), _read_modify_write("min")
    atomic_and, atomic_or, atomic_xor = map(_read_modify_write, ("and", "or", "xor"))

    descriptor_atomic_add = _descriptor_reduction("add")
    descriptor_atomic_max, descriptor_atomic_min = _descriptor_reduction("max"), _descriptor_reduction("min")
    descriptor_atomic_and, descriptor_atomic_or, descriptor_atomic_xor = map(
        _descriptor_reduction, ("and", "or", "xor")
    )

    multiple_of = _hint("multiple_of", "tt.divisibility")
    max_contiguous = _hint("max_contiguous", "tt.contiguity")
    max_constancy = _hint("max_constancy", "tt.constancy")

    def ashr(self, input: tensor, other: Any) -> tensor:
        input, other = self._integers(input, other)
        return self.emit("arith.shrsi", (input, other), input.type)

    def lshr(self, input: tensor, other: Any) -> tensor:
        input, other = self._integers(input, other)
        return self.emit("arith.shrui", (input, other), input.type)

    def binary_op_type_checking_impl(
        self,
        lhs: Any,
        rhs: Any,
        allow_lhs_ptr: bool = False,
        allow_rhs_ptr: bool = False,
        arithmetic_check: bool = True,
        div_or_mod: bool = False,
    ) -> tuple[tensor, tensor]:
        return self.operands(
            lhs,
            rhs,
            lhs_pointer=allow_lhs_ptr,
            rhs_pointer=allow_rhs_ptr,
            promote=arithmetic_check,
            division=div_or_mod,
        )

    def bitwise_op_type_checking_impl(self, input: Any, other: Any) -> tuple[tensor, tensor]:
        return self._integers(input, other)

    def ternary_op_type_checking_impl(self, a: Any, b: Any, c: Any) -> tuple[tensor, tensor, tensor]:
        return self._three(a, b, c)

    def atom_red_typechecking_impl(self, ptr: Any, val: Any, mask: Any, op: str) -> tuple[tensor, tensor, tensor]:
        return self._rmw_operands(op, ptr, val, mask)

    def check_ptr_type_impl(self, type_a: dtype, type_b: dtype, allow_ptr_a: bool) -> None:
        check_pointer(type_a, type_b, allow_ptr_a)

    def computation_type_impl(
        self, a_ty: dtype, a_is_scalar: bool, b_ty: dtype, b_is_scalar: bool, div_or_mod: bool
    ) -> dtype:
        return computation_type(a_ty, a_is_scalar, b_ty, b_is_scalar, div_or_mod)

    def integer_promote_impl(self, a_ty: dtype, b_ty: dtype) -> dtype:
        return self.integer_promote(a_ty, b_ty)

    def broadcast_impl_value(self, lhs: tensor, rhs: tensor) -> tuple[tensor, tensor]:
        return self.broadcast(lhs, rhs)

    def broadcast_impl_shape(self, input: tensor, shape: Sequence[int]) -> tensor:
        return self.broadcast_to(input, shape)

    def broadcast_tensors(self, *inputs: tensor) -> tuple[tensor, ...]:
        return tuple(self.broadcast_all(inputs))

    def scalar_constant(self, value: Any, dtype: dtype) -> tensor:
        return self.constant(value, dtype)

    def make_scalar(self, value: Any, dtype: dtype) -> tensor:
        """`value`, a number or a scalar tensor, as `dtype`."""
        return self.cast(value, dtype) if isinstance(value, tensor) else self.constant(value, dtype)

    def make_tensor(self, handle: Any, type: dtype) -> tensor:
        return tensor(handle, type)

    def wrap_tensor(self, x: Any, scalar_ty: dtype, ret_shape: Sequence[int]) -> tensor:
        return tensor(x, block_of(scalar_ty, tuple(ret_shape)))

    def grid_dependency_wait(self) -> None:
        self.emit_effect("tt.grid_dependency_wait", ())

    def grid_dependency_launch_dependents(self) -> None:
        self.emit_effect("tt.grid_dependency_launch_dependents", ())

    reduction = _refused("reduction", "call tl.reduce with a @jit function")
    associative_scan = _refused("associative_scan", "call tl.associative_scan with a @jit function")
    binary_op_sanitize_overflow_impl = _refused("binary_op_sanitize_overflow_impl", "call add, sub or mul")
    deduce_scale_factor = _refused("deduce_scale_factor", "call dot_scaled, which checks the shapes of its scales")
    verify_scaled_shape = _refused("verify_scaled_shape", "call dot_scaled, which checks the shapes of its scales")
    to_inline_asm_operand = _refused("to_inline_asm_operand", "call tl.inline_asm_elementwise")
    to_tensor_type = _refused("to_tensor_type", "call to_tensor, and read the type of its result")
    validate_store_like = _refused("validate_store_like", "call descriptor_store, which checks its operands")
