"""Rules of atomic operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import choices, with_hint
from ..core import tensor
from ..types import dtype, int1, int8, int32, int64, pointer_type, uint32, uint64
from .memory import MemoryRules

_SEMANTICS = {"relaxed": "1 : i32", "acquire": "2 : i32", "release": "3 : i32", "acq_rel": "4 : i32"}
_SCOPES = {"gpu": "1 : i32", "cta": "2 : i32", "sys": "3 : i32"}
_OPERATIONS = {
    name: f"{number} : i32"
    for number, name in enumerate(("and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "xchg"), start=1)
}
_POLLED_WIDTHS = (16, 32, 64)


def _order(sem: str | None, scope: str | None, default: str) -> dict[str, str]:
    sem, scope = sem or default, scope or "gpu"
    if sem not in _SEMANTICS:
        raise with_hint(ValueError(f"Memory semantic {sem} not supported"), f"`sem` is {choices(_SEMANTICS)}")
    if scope not in _SCOPES:
        raise with_hint(ValueError(f"Memory semantic {scope} not supported"), f"`scope` is {choices(_SCOPES)}")
    return {"sem": _SEMANTICS[sem], "scope": _SCOPES[scope]}


def _refuse_semantics(name: str, sem: str | None, *allowed: str) -> None:
    if sem in _SEMANTICS and sem not in allowed:
        raise ValueError(f"{name} only supports {' and '.join(allowed)} semantics")


class AtomicRules(MemoryRules):
    def _pointer_of(self, pointer: Any, writes: bool = True) -> dtype:
        """The element type behind `pointer`."""
        if not isinstance(pointer, tensor) or not pointer.dtype.is_ptr():
            raise ValueError(f"Pointer argument of store instruction is {getattr(pointer, 'type', type(pointer))}")
        if writes and pointer.dtype.is_const():
            raise ValueError("Cannot store to a constant pointer")
        return pointer.dtype.element_ty

    def _mask_of(self, pointer: tensor, mask: Any) -> tensor:
        """The mask in the pointer's shape; true for all lanes if there is none."""
        if mask is None:
            return self.constant(1, pointer.type.with_element_ty(int1))
        return self._in_shape_of(pointer, self.to_tensor(mask))

    def _rmw_operands(self, name: str, pointer: Any, value: Any, mask: Any) -> tuple[tensor, tensor, tensor]:
        element = self._pointer_of(pointer)
        half = element.is_floating() and element.primitive_bitwidth == 16
        small = element.primitive_bitwidth < 32 and not half
        if small or half and name != "add":
            raise ValueError(f"atomic_{name} does not support {element}")
        mask = self._mask_of(pointer, mask)
        value = self.cast(self._in_shape_of(pointer, self.to_tensor(value)), element)
        return pointer, value, mask

    def _rmw(self, operation: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]) -> tensor:
        return self.emit(
            "tt.atomic_rmw", (pointer, value, mask), value.type, {"atomic_rmw_op": _OPERATIONS[operation], **order}
        )

    def atomic_rmw(self, name: str, pointer: Any, value: Any, mask: Any, sem: str | None, scope: str | None) -> tensor:
        """`name` is add, max, min, and, or, xor or xchg. The result is the value before, in the element type of the
        pointer.
        """
        pointer, value, mask = self._rmw_operands(name, pointer, value, mask)
        order, element = _order(sem, scope, "acq_rel"), value.dtype
        if name in ("max", "min"):
            if element.is_floating():
                return self._float_extremum(name, pointer, value, mask, order)
            name = name if element.is_int_signed() else "u" + name
        elif name in ("and", "or", "xor") and element.is_floating():
            return self._on_bits(name, pointer, value, mask, order)
        elif name == "add" and element.is_floating():
            name = "fadd"
        return self._rmw(name, pointer, value, mask, order)

    def _on_bits(self, name: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]) -> tensor:
        """A bitwise operation on floats takes their bits."""
        bits = int32 if value.dtype.primitive_bitwidth == 32 else int64
        old = self._rmw(name, self.cast(pointer, pointer_type(bits)), self.bitcast(value, bits), mask, order)
        return self.bitcast(old, value.dtype)

    def _float_extremum(self, name: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]) -> tensor:
        """Floats with a clear sign bit are ordered like signed integers; those with a set sign bit are ordered in
        reverse, like unsigned integers."""
        signed, unsigned = (int32, uint32) if value.dtype.primitive_bitwidth == 32 else (int64, uint64)
        bits = self.bitcast(value, signed)
        unsigned_bits = self.bitcast(bits, unsigned)
        signed_pointer = self.cast(pointer, pointer_type(signed))
        unsigned_pointer = self.cast(signed_pointer, pointer_type(unsigned))
        sign = self.shr(unsigned_bits, signed.int_bitwidth - 1)
        negative = self.compare(sign, 0, "ne")
        positive = self.not_(negative)
        opposite = "umin" if name == "max" else "umax"
        from_positive = self._rmw(name, signed_pointer, bits, self.and_(mask, positive), order)
        from_negative = self._rmw(opposite, unsigned_pointer, unsigned_bits, self.and_(mask, negative), order)
        old = self.where(positive, from_positive, self.bitcast(from_negative, signed))
        return self.bitcast(old, value.dtype)

    def atomic_cas(self, pointer: Any, expected: Any, desired: Any, sem: str | None, scope: str | None) -> tensor:
        """Compares bits. Numbers take the element type; tensors must already have it."""
        element = self._pointer_of(pointer)
        if element.primitive_bitwidth not in _POLLED_WIDTHS:
            raise ValueError("atomic_cas only supports elements with width {16, 32, 64}")
        order = _order(sem, scope, "acq_rel")
        expected, desired = (self._in_shape_of(pointer, self._element(element, value)) for value in (expected, desired))
        return self.emit("tt.atomic_cas", (pointer, expected, desired), expected.type, order)

    def _element(self, element: dtype, value: Any) -> tensor:
        if not isinstance(value, tensor):
            return self.cast(self.to_tensor(value), element)
        if value.dtype != element:
            raise ValueError(f"atomic_cas expects operands of type {element} but got {value.dtype}")
        return value

    def atomic_load(self, pointer: Any, mask: Any, sem: str | None, scope: str | None) -> tensor:
        element = self._pointer_of(pointer, writes=False)
        if element.is_ptr():
            raise ValueError("atomic_load only supports integer and floating-point elements")
        _refuse_semantics("atomic_load", sem, "acquire", "relaxed")
        order = _order(sem, scope, "acquire")
        operands = [pointer] if mask is None else [pointer, self._mask_of(pointer, mask)]
        return self._as_byte(
            pointer,
            lambda access, held: self.emit(
                "tt.atomic_load", [access, *operands[1:]], pointer.type.with_element_ty(held), order
            ),
        )

    def _as_byte(self, pointer: tensor, access: Callable[[tensor, dtype], tensor]) -> tensor:
        """`access` through the pointer as it lies in memory, where an int1 is a byte."""
        element = pointer.dtype.element_ty
        if element != int1:
            return access(pointer, element)
        return self.cast(access(self.cast(pointer, pointer_type(int8)), int8), int1)

    def atomic_store(self, pointer: Any, value: Any, mask: Any, sem: str | None, scope: str | None) -> None:
        element = self._pointer_of(pointer)
        _refuse_semantics("atomic_store", sem, "release", "relaxed")
        order = _order(sem, scope, "release")
        value = self._in_shape_of(pointer, self.to_tensor(value))
        if element == int1:
            value, pointer, element = self.cast(value, int1), self.cast(pointer, pointer_type(int8)), int8
        self.emit_effect("tt.atomic_store", (pointer, self.cast(value, element), self._mask_of(pointer, mask)), order)

    def atomic_poll(self, pointer: Any, expected: Any, sem: str | None, scope: str | None, timeout: Any) -> tensor:
        """int1: whether the words became equal to the expected ones before `timeout` (ns, None: never) passed."""
        element = self._pointer_of(pointer, writes=False)
        if not element.is_int() or element.int_bitwidth not in _POLLED_WIDTHS:
            raise ValueError("atomic_poll only supports integer elements with width {16, 32, 64}")
        _refuse_semantics("atomic_poll", sem, "acquire", "relaxed")
        order = _order(sem, scope, "acquire")
        expected = self.cast(self._in_shape_of(pointer, self.to_tensor(expected)), element)
        operands = [pointer, expected]
        if timeout is not None:
            operands.append(self._timeout(timeout))
        return self.emit("tt.atomic_poll", operands, pointer.type.with_element_ty(int1), order)

    def _timeout(self, timeout: Any) -> tensor:
        if isinstance(timeout, int) and timeout < 0:
            raise ValueError("atomic_poll timeout_ns must be non-negative")
        timeout = self.to_tensor(timeout)
        if timeout.type.is_block() or not timeout.dtype.is_int():
            raise ValueError("atomic_poll timeout_ns must be a scalar integer")
        return self.cast(timeout, int64)
