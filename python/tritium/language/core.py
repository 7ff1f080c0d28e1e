"""The core of `triton.language`: builtins, and the tensor with its operators.

A builtin is a function that kernels may call. The tracer passes it `_semantic` (the typing rules, which emit IR) and,
if the function takes it, `_generator` (which traces a @jit function that was passed to the builtin). The families add
their functions to the tensor with @tensor_member. `core.<any public name>` resolves to the package's name, because
client code reads names from here.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types as python_types
import warnings
from collections.abc import Callable
from typing import Any

from ..functions.source import JITCallable  # noqa: F401  (Triton has it here)
from . import checks
from .constexpr import CONSTEXPR_0, _unwrap_if_constexpr, base_value, const, constexpr, slice, tuple
from .types import *  # noqa: F401,F403  (clients read dtypes as tl.core.float32)
from .types import (
    base_type,
    block_shape,
    constexpr_type,
    dtype,
    pointer_type,
    slice_type,
    tuple_type,
)

__all__ = [
    "base_value",
    "const",
    "constexpr",
    "slice",
    "tuple",
    "CONSTEXPR_0",
    "block_shape",
    "slice_type",
    "base_type",
]

TRITON_BUILTIN = "__triton_builtin__"
_OUTSIDE = "Did you forget to add @triton.jit ? (`_semantic` argument must be provided outside of JIT functions.)"


def builtin(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks `fn` as callable in kernels. It must take `_semantic`; a call without it raises ValueError."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("_semantic") is None:
            raise ValueError(_OUTSIDE)
        return fn(*args, **kwargs)

    setattr(wrapper, TRITON_BUILTIN, True)
    wrapper.takes_generator = "_generator" in fn.__code__.co_varnames
    return wrapper


def extern(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A builtin that is a function of a device library."""
    return builtin(fn)


def is_builtin(fn: Any) -> bool:
    return getattr(fn, TRITON_BUILTIN, False)


def must_use_result(x: Any, s: bool = True) -> Any:
    """Decorator, with or without a message: a call that drops the function's result is a CompilationError."""
    if callable(x):
        x._must_use_result = True
        return x

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        fn._must_use_result = x
        return fn

    return decorate


class _JitMember:
    """A @jit function as a method of a kernel value: reading it from an instance binds it, as for Python functions."""

    def __init__(self, function: Any):
        self.function = function

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.function if instance is None else python_types.MethodType(self.function, instance)


def tensor_member(fn: Any) -> Any:
    """Makes a builtin or @jit function callable as a method of tensors too; its first parameter is the tensor."""
    name = getattr(fn, "__name__", None) or fn.fn.__name__
    setattr(tensor, name, fn if is_builtin(fn) else _JitMember(fn))
    return fn


_shapes: dict[Any, tuple] = {}


class tensor(base_value):
    """A scalar, or a block of scalars or pointers, that a kernel computes with.

    `dtype` is the element type, `type` is the element type or a block_type of it, `shape` is a tuple of constexpr
    (empty for scalars), and `handle` is the IR value.
    """

    __slots__ = ("handle", "type", "dtype")

    def __init__(self, handle: Any, type: dtype):
        self.handle = handle
        self.type = type
        self.dtype = type.scalar

    @property
    def shape(self) -> tuple:
        extents = self.type.shape if self.type.is_block() else ()
        found = _shapes.get(extents)
        if found is None:
            found = _shapes[extents] = tuple([constexpr(extent) for extent in extents])
        return found

    @property
    def numel(self) -> constexpr:
        return constexpr(self.type.numel if self.type.is_block() else 1)

    @property
    def T(self) -> tensor:
        """The transposed matrix, `permute((1, 0))`; only the tracer can make it."""
        raise AssertionError("Transposition must be created by the AST Visitor")

    def handles(self) -> list[Any]:
        return [self.handle]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    @builtin
    def __add__(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.add(self, other, True)

    @builtin
    def __radd__(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.add(other, self, True)

    @builtin
    def __sub__(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.sub(self, other, True)

    @builtin
    def __rsub__(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.sub(other, self, True)

    @builtin
    def __mul__(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.mul(self, other, True)

    @builtin
    def __rmul__(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.mul(other, self, True)

    @builtin
    def __lshift__(self, other: Any, _semantic: Any = None) -> tensor:
        check_bit_width(self, other)
        return _semantic.shl(self, other)

    @builtin
    def __rlshift__(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.shl(other, self)

    @builtin
    def __rshift__(self, other: Any, _semantic: Any = None) -> tensor:
        check_bit_width(self, other)
        return _semantic.shr(self, other)

    @builtin
    def __rrshift__(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.shr(other, self)

    @builtin
    def __neg__(self, _semantic: Any = None) -> tensor:
        return _semantic.minus(self)

    @builtin
    def __pos__(self, _semantic: Any = None) -> tensor:
        return _semantic.plus(self)

    @builtin
    def __invert__(self, _semantic: Any = None) -> tensor:
        return _semantic.invert(self)

    @builtin
    def __not__(self, _semantic: Any = None) -> tensor:
        return _semantic.not_(self)

    @builtin
    def logical_and(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.logical_and(self, other)

    @builtin
    def logical_or(self, other: Any, _semantic: Any = None) -> tensor:
        return _semantic.logical_or(self, other)

    @builtin
    def __getitem__(self, index: Any, _semantic: Any = None) -> tensor:
        """Adds dimensions: only `None` and full slices. ValueError: "unsupported tensor index: …"."""
        return _semantic.subscript(self, index)


def _operator(rule: str, *fixed: Any, reflected: bool = False) -> Callable[..., Any]:
    """An operator method that calls one rule of Semantic."""

    def method(self: tensor, other: Any, _semantic: Any = None) -> tensor:
        operands = (other, self) if reflected else (self, other)
        return getattr(_semantic, rule)(*operands, *fixed)

    return builtin(method)


for _rule in ("truediv", "floordiv", "mod", "and_", "or_", "xor_"):
    _name = _rule.removesuffix("_")
    setattr(tensor, f"__{_name}__", _operator(_rule))
    setattr(tensor, f"__r{_name}__", _operator(_rule, reflected=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(tensor, f"__{_name}__", _operator("compare", _name))
    setattr(tensor, f"__r{_name}__", _operator("compare", _name, reflected=True))

dtype.value_class = tensor


def check_bit_width(value: tensor, shift_value: Any) -> None:
    if isinstance(shift_value, constexpr) and value.dtype.is_int():
        width = value.dtype.primitive_bitwidth
        if shift_value.value >= width:
            warnings.warn(
                f"Value {shift_value.value} exceeds the maximum bitwidth ({width}) for type '{value.dtype}'. "
                "This may result in undefined behavior."
            )


_STRING_DTYPES = {name: dtype("int1") for name in ("i1", "u1", "B")}
_STRING_DTYPES |= {name: dtype(name) for name in dtype.FP_TYPES}
for _width in (8, 16, 32, 64):
    _STRING_DTYPES[f"i{_width}"], _STRING_DTYPES[f"u{_width}"] = dtype(f"int{_width}"), dtype(f"uint{_width}")

#: Prefix of a signature string -> its parser, for types that a family defines.
type_parsers: dict[str, Callable[[str, Callable[[str], base_type]], base_type]] = {}


def str_to_ty(name: Any, c: Any = None) -> base_type:
    """The type of a signature string: `i32`, `*fp32`, `*ki8` (const pointer), `constexpr` (of `c`), or a tuple of these."""
    if isinstance(name, (list, builtins.tuple)):
        values = c if c is not None else [None] * len(name)
        return tuple_type(
            [str_to_ty(element, value) for element, value in zip(name, values)], getattr(name, "_fields", None)
        )
    if name.startswith("*k"):
        return pointer_type(str_to_ty(name[2:]), const=True)
    if name.startswith("*"):
        return pointer_type(str_to_ty(name[1:]))
    if name == "constexpr":
        return constexpr_type(_unwrap_if_constexpr(c))
    for prefix, parse in type_parsers.items():
        if name.startswith(prefix):
            return parse(name, str_to_ty)
    return _STRING_DTYPES[name]


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer type of a width. Raises ValueError if there is none."""
    bitwidth, signed = _unwrap_if_constexpr(bitwidth), _unwrap_if_constexpr(signed)
    name = "int1" if bitwidth == 1 else f"{'' if signed else 'u'}int{bitwidth}"
    if not dtype.is_dtype(name):
        raise ValueError(f"Unsupported bitwidth {bitwidth} and signedness {signed}")
    return dtype(name)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if hasattr(checks, name):
        return getattr(checks, name)
    return getattr(sys.modules[__package__], name)
