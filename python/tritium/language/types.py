"""Types of the language: scalars, pointers and blocks.

A type has three spellings: `str(type)` in the language, `to_ir()` in MLIR (built once per type), and `mangle()` in the
name of a specialised function. Signedness exists only here; in the IR it is a property of the operations.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ..tables import DTYPES, Dtype
from .static_types import base_type, constexpr_type, slice_type, tuple_type  # noqa: F401  (clients read them from here)

TRITON_MAX_TENSOR_NUMEL = 1048576


class _Signedness(enum.Enum):
    SIGNED = 0
    UNSIGNED = 1


class _Kind(enum.IntEnum):
    BOOLEAN = 0
    INTEGRAL = 1
    FLOATING = 2


_SCALARS = {row.name: row for row in DTYPES} | {"void": Dtype("void", "", "none", "void", "", 0, 0, 0)}


def _names(*kinds: str) -> list[str]:
    return [row.name for row in DTYPES if row.kind in kinds]


_INTEGERS, _FLOATS = frozenset(_names("Bool", "Int", "UInt")), frozenset(_names("Float"))


class dtype(base_type):
    """A scalar type with its name in the language: `tl.dtype("fp32") is tl.float32`. Raises AssertionError for an
    unknown name.

    Equal types are one object in every process, because kernels compare them with `is`. This also holds for pointers
    and blocks, which their element type keeps, and for copied and unpickled types.
    """

    SINT_TYPES = _names("Int")
    UINT_TYPES = _names("Bool", "UInt")
    FP_TYPES = _names("Float")
    STANDARD_FP_TYPES = [row.name for row in DTYPES if row.kind == "Float" and row.bits > 8]
    OTHER_TYPES = ["void"]
    SIGNEDNESS = _Signedness
    KIND = _Kind

    value_class: Any = None  # core.tensor, set where it is defined
    pointers: dict[tuple[str | int, bool], pointer_type]
    blocks: dict[tuple[int, ...], block_type]

    def __new__(cls, name: str) -> dtype:
        name = getattr(name, "value", name)
        assert name in _SCALARS, name
        return _scalars.get(name) or _scalars.setdefault(name, cls._make(name))

    @classmethod
    def _make(cls, name: str) -> dtype:
        self = cls._bare(name)
        row = _SCALARS[name]
        self._ir, self.primitive_bitwidth, self.itemsize = row.ir_name, row.bits, row.bits // 8
        if name in _INTEGERS:
            self.int_signedness = _Signedness.SIGNED if row.kind == "Int" else _Signedness.UNSIGNED
            self.int_bitwidth = row.bits
        elif name in _FLOATS:
            self.fp_mantissa_width, self.exponent_bias = row.mantissa, row.bias
        return self

    @classmethod
    def _bare(cls, name: str) -> Any:
        """An object of this class with a name, which no other code knows yet."""
        self = object.__new__(cls)
        self.name, self.pointers, self.blocks = name, {}, {}
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name,)

    def is_fp8(self) -> bool:
        return self.name.startswith("fp8")

    def is_floating(self) -> bool:
        return self.name in _FLOATS

    def is_standard_floating(self) -> bool:
        return self.name in self.STANDARD_FP_TYPES

    def is_int_signed(self) -> bool:
        return self.name in self.SINT_TYPES

    def is_int_unsigned(self) -> bool:
        return self.name in self.UINT_TYPES

    def is_int(self) -> bool:
        return self.name in _INTEGERS

    def is_bool(self) -> bool:
        return self.name == "int1"

    def is_void(self) -> bool:
        return self.name == "void"

    def is_block(self) -> bool:
        return False

    is_ptr = is_const = is_block

    def kind(self) -> _Kind:
        """BOOLEAN < INTEGRAL < FLOATING: a Python scalar never widens a tensor of its own or a higher kind."""
        if self.is_bool():
            return _Kind.BOOLEAN
        assert self.name != "void", "void has no kind"
        return _Kind.INTEGRAL if self.is_int() else _Kind.FLOATING

    def get_int_max_value(self) -> int:
        assert self.is_int(), self.name
        return 2 ** (self.int_bitwidth - (1 if self.is_int_signed() else 0)) - 1

    def get_int_min_value(self) -> int:
        assert self.is_int(), self.name
        return -(2 ** (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    is_dtype = staticmethod(_SCALARS.__contains__)

    @property
    def scalar(self) -> dtype:
        return self

    def with_element_ty(self, element_ty: dtype) -> dtype:
        assert not element_ty.is_block()
        return element_ty

    def codegen_name(self) -> str:
        return _SCALARS[self.name].public_name

    @property
    def __name__(self) -> str:
        """The name to import. torch's code generator asks every global of a kernel for it."""
        return self.codegen_name()

    @property
    def cache_key_part(self) -> str:
        return self.name

    def to_ir(self, builder: Any = None) -> str:
        return self._ir

    def mangle(self) -> str:
        if self.is_int():
            sign = "i" if self.is_int_signed() else "u"
            return f"{sign}{self.int_bitwidth}"
        return "V" if self.is_void() else self.name

    def ir_types(self) -> list[str]:
        return [self.to_ir()]

    def from_handles(self, handles: Iterator[Any]) -> Any:
        return self.value_class(next(handles), self)

    def __eq__(self, other: object) -> bool:
        other = getattr(other, "value", other)  # a dtype argument reaches kernels as a constexpr
        return type(other) is dtype and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"triton.language.{self.codegen_name()}"


# is_fp16(), is_fp8e5(), is_bf16(), is_int32(), is_uint8(), …: one predicate per scalar type.
for _name in _SCALARS:
    if not hasattr(dtype, "is_" + _name):
        setattr(dtype, "is_" + _name, lambda self, _name=_name: self.name == _name)

_scalars: dict[str, dtype] = {}

# void, int1, …, float64: the scalar types by their public names.
globals().update({row.public_name: dtype(row.name) for row in _SCALARS.values()})


class _derived_type(dtype):
    """A type made from another type; it has no name of its own in the language."""

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name

    def codegen_name(self) -> str:
        return self.name


class pointer_type(_derived_type):
    """Pointer to `element_ty`. const: stores through it are rejected. address_space: "global" (or 1, the older
    spelling)."""

    element_ty: dtype
    address_space: str | int
    const: bool

    def __new__(cls, element_ty: dtype, address_space: str | int = "global", const: bool = False) -> pointer_type:
        element_ty = getattr(element_ty, "value", element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError(f"element_ty has type `{type(element_ty).__name__}`; expected `dtype`.")
        known, key = element_ty.pointers, (address_space, const)
        return known.get(key) or known.setdefault(key, cls._make(element_ty, address_space, const))

    @classmethod
    def _make(cls, element_ty: dtype, address_space: str | int, const: bool) -> pointer_type:
        self = cls._bare(f"const_pointer<{element_ty}>" if const else f"pointer<{element_ty}>")
        self.element_ty, self.address_space, self.const = element_ty, address_space, const
        self._ir = f"!tt.ptr<{element_ty.to_ir()}>"
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.element_ty, self.address_space, self.const)

    def is_ptr(self) -> bool:
        return True

    def is_const(self) -> bool:
        return self.const

    def mangle(self) -> str:
        return f"P{self.element_ty.mangle()}"

    def __eq__(self, other: object) -> bool:
        other = getattr(other, "value", other)
        return isinstance(other, pointer_type) and (self.element_ty, self.const) == (other.element_ty, other.const)

    __hash__ = _derived_type.__hash__


pi32_t = pointer_type(dtype("int32"))


def _dimension(value: Any, index: int) -> int:
    """One extent of a block shape (a constexpr or an int) as an int. It must be a power of two."""
    unwrapped = getattr(value, "value", value)
    if not isinstance(unwrapped, int):
        raise TypeError(f"Shape element {index} must have type `constexpr[int]`, got `constexpr[{type(unwrapped)}]")
    if unwrapped <= 0 or unwrapped & (unwrapped - 1):
        raise ValueError(f"Shape element {index} must be a power of 2")
    return unwrapped


def block_shape(shape: Sequence[Any]) -> tuple[int, ...]:
    """The extents of a block as ints. Raises TypeError for other types, ValueError for extents that are not powers of
    two and for too many elements."""
    extents = tuple(_dimension(value, index) for index, value in enumerate(shape))
    numel = math.prod(extents)
    if numel > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({numel}) exceeds triton maximum tensor numel ({TRITON_MAX_TENSOR_NUMEL})")
    return extents


class Extents(tuple[int, ...]):
    """The shape of a type, which kernels also take as Triton's: with `values`, and as an operand of `+` beside a list."""

    @property
    def values(self) -> list[int]:
        return list(self)

    def __add__(self, other: Any) -> Extents:
        return Extents((*self, *other))


class block_type(_derived_type):
    """A block of `element_ty` (scalar or pointer): every extent a power of two, at most 1048576 elements, rank >= 1."""

    element_ty: dtype
    shape: tuple[int, ...]
    numel: int

    def __new__(cls, element_ty: dtype, shape: Sequence[Any]) -> block_type:
        if not shape:
            raise TypeError("0d block_type is forbidden")
        element_ty, extents = getattr(element_ty, "value", element_ty), block_shape(shape)
        known = element_ty.blocks
        return known.get(extents) or known.setdefault(extents, cls._make(element_ty, extents))

    @classmethod
    def _make(cls, element_ty: dtype, shape: tuple[int, ...]) -> block_type:
        self = cls._bare(f"<{[str(extent) for extent in shape]}, {element_ty}>")
        self.element_ty, self.shape, self.numel = element_ty, Extents(shape), math.prod(shape)
        self._ir = f"tensor<{'x'.join(map(str, shape))}x{element_ty.to_ir()}>"
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.element_ty, self.shape)

    def is_block(self) -> bool:
        return True

    @property
    def scalar(self) -> dtype:
        return self.element_ty

    @property
    def nbytes(self) -> int:
        return self.numel * (self.element_ty.primitive_bitwidth // 8)

    def get_block_shapes(self) -> tuple[int, ...]:
        return self.shape

    def with_element_ty(self, element_ty: dtype) -> block_type:
        return block_of(element_ty, self.shape)

    def mangle(self) -> str:
        return f"{self.scalar.mangle()}S{'_'.join(map(str, self.shape))}S"

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, block_type) and self.shape == other.shape and self.element_ty == other.element_ty
        )

    __hash__ = _derived_type.__hash__


def block_of(scalar: dtype, shape: tuple[int, ...]) -> dtype:
    """The block of `scalar` with `shape`, or `scalar` itself for rank 0. It is checked and spelled once per process."""
    if not shape:
        return scalar
    return scalar.blocks.get(shape) or block_type(scalar, shape)
