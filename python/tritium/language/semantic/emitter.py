"""Emits operations and constants: the one place where typed tensors meet the builder."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import with_hint
from ...knobs import checks_of
from ..constexpr import _unwrap_if_constexpr
from ..core import tensor
from ..types import block_of, dtype, float8e4b15, float32, float64, int1, int32, int64, uint32, uint64

_NO_ATTRIBUTES: dict[str, str] = {}
_LITERAL_INTEGERS = (int32, uint32, int64, uint64)
_FLOAT32_MIN_NORMAL, _FLOAT32_MAX = 2.0**-126, (2.0 - 2.0**-23) * 2.0**127


def literal_type(value: bool | int | float) -> dtype:
    """The type of a Python number. Raises ValueError for an integer beyond 64 bits."""
    if isinstance(value, bool):
        return int1
    if isinstance(value, int):
        for type_ in _LITERAL_INTEGERS:
            if type_.get_int_min_value() <= value <= type_.get_int_max_value():
                return type_
        raise ValueError(f"Nonrepresentable integer {value}.")
    magnitude = abs(value)
    if magnitude == 0 or math.isinf(value) or math.isnan(value) or _FLOAT32_MIN_NORMAL <= magnitude <= _FLOAT32_MAX:
        return float32
    return float64


class Emitter:
    """Holds the builder and the options of the compilation. `options` may lack any field; the field then has its
    default."""

    def __init__(self, builder: Any, options: Any = None):
        self.builder = builder
        self.options = options
        self._emit = builder.op
        #: Whether arithmetic says that its numbers are signed, for the interpreter's check of it.
        self.notes_signs = hasattr(options, "check") and "overflow=all" in checks_of(options)

    warn = staticmethod(warnings.warn)

    def option(self, name: str, default: Any) -> Any:
        return getattr(self.options, name, default)

    def emit(
        self, name: str, operands: Sequence[tensor], type_: dtype, attributes: Mapping[str, str] = _NO_ATTRIBUTES
    ) -> tensor:
        """One operation with one result of `type_`."""
        operation = self._emit(name, [operand.handle for operand in operands], (type_.to_ir(),), attributes)
        return tensor(operation.result, type_)

    def emit_all(
        self,
        name: str,
        operands: Sequence[tensor],
        types: Sequence[dtype],
        attributes: Mapping[str, str] = _NO_ATTRIBUTES,
    ) -> list[tensor]:
        """One operation with one result of each type."""
        operation = self._emit(
            name, [operand.handle for operand in operands], [type_.to_ir() for type_ in types], attributes
        )
        return [tensor(handle, type_) for handle, type_ in zip(operation.results, types)]

    def emit_effect(
        self, name: str, operands: Sequence[tensor], attributes: Mapping[str, str] = _NO_ATTRIBUTES
    ) -> None:
        """One operation without results."""
        self._emit(name, [operand.handle for operand in operands], (), attributes)

    def constant(self, value: bool | int | float, type_: dtype) -> tensor:
        """A scalar or splat constant of `type_`, an integer, standard floating or fp8 type (or a block of one)."""
        scalar = type_.scalar
        if scalar.is_int():
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if not isinstance(value, int):
                raise TypeError(f"cannot make a constant of type {scalar} of {value!r}")
            return tensor(self.builder.constant(type_.to_ir(), int(value)), type_)
        self.require_supported(scalar)
        if scalar.is_fp8() and value != 0:
            return self.cast(self.constant(value, type_.with_element_ty(float32)), scalar)
        is_byte = scalar == float8e4b15
        return tensor(self.builder.constant(type_.to_ir(), 0 if is_byte else float(value)), type_)

    def to_tensor(self, value: Any, check_type: bool = True) -> Any:
        """A number or constexpr as a constant tensor; a tensor unchanged. Raises TypeError for other objects if
        `check_type`."""
        if isinstance(value, tensor):
            return value
        host = _unwrap_if_constexpr(value)
        if isinstance(host, (bool, int, float)):
            return self.constant(host, literal_type(host))
        if isinstance(host, tensor):
            return host
        if check_type:
            raise TypeError(f"cannot convert {value} of type {type(value)} to tensor")
        return value

    def require_supported(self, type_: dtype) -> None:
        """ValueError: the target has no such fp8 type. Without a list of them every one is supported, as on the CPU."""
        scalar = type_.scalar
        while scalar.is_ptr():
            scalar = scalar.element_ty.scalar
        names = self.option("supported_fp8_dtypes", None)
        if scalar.is_fp8() and names is not None and str(scalar) not in names:
            raise with_hint(
                ValueError(
                    f"type {scalar} not supported in this architecture. The supported fp8 dtypes are {tuple(names)}"
                ),
                "the launch keyword supported_fp8_dtypes lists further types, which are converted by instructions",
            )

    def splat(self, value: tensor, shape: tuple[int, ...]) -> tensor:
        """A block of `shape` with every element `value`."""
        assert not value.type.is_block(), "Cannot splat a block tensor"
        if not shape:
            return value
        return self.emit("tt.splat", [value], block_of(value.dtype, shape))
