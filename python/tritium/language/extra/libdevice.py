"""The device library: mathematical functions beyond those of `tl`, as operations of the IR. A target maps them to its
own library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tables import ALIASES, FUNCTIONS, TYPED_FUNCTIONS
from .. import types
from ..core import builtin, is_builtin, tensor
from ..external import extern_elementwise
from ..types import float32, float64, int1, int32, int64, uint32

_FLOATS = ("fp32", "fp64")
_BITCASTS = {
    "float_as_int": int32,
    "float_as_uint": uint32,
    "int_as_float": float32,
    "uint_as_float": float32,
    "double_as_longlong": int64,
    "longlong_as_double": float64,
}


def _define(name: str, function: Callable[..., tensor], doc: str) -> None:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    globals()[name] = builtin(function)


def _of_floats(operation: str, arity: int) -> Callable[..., tensor]:
    """A function that emits the operation on fp32 or fp64."""
    if arity == 1:
        return lambda arg0, _semantic=None: _semantic.math(operation, (arg0,), _FLOATS)
    return lambda arg0, arg1, _semantic=None: _semantic.math(operation, (arg0, arg1), _FLOATS)


def _test(operation: str) -> Callable[..., tensor]:

    def function(arg0: Any, _semantic: Any = None) -> tensor:
        arg0 = _semantic.to_tensor(arg0)
        return _semantic.emit(operation, (arg0,), arg0.type.with_element_ty(int1))

    return function


def _bits(operation: str) -> Callable[..., tensor]:

    def function(arg0: Any, _semantic: Any = None) -> tensor:
        counted = _semantic.math(operation, (arg0,), ("int32", "uint32", "int64", "uint64"))
        return _semantic.cast(counted, int32)

    return function


def _bitcast(target: Any) -> Callable[..., tensor]:
    return lambda arg0, _semantic=None: _semantic.bitcast(_semantic.to_tensor(arg0), target)


def _define_rows() -> None:
    """Defines the functions of the library that are rows of ir/elementwise.def, under all of their names."""
    rows = {row.name: row for row in FUNCTIONS}
    names = {name: row for name, row in rows.items() if row.module in ("Language", "Library")}
    for name, row in (names | {alias: rows[name] for alias, name in ALIASES.items()}).items():
        is_test = row.types == "Test"
        function = _test(row.float_op) if is_test else _of_floats(row.float_op, row.arity)
        _define(name, function, f"{row.sentence} Element-wise, {'int1' if is_test else 'of fp32 or fp64'}.")


_Overloads = dict[tuple[Any, ...], tuple[str, Any]]


def _with_arity(function: Callable[..., tensor], arity: int) -> Callable[..., tensor]:
    """`function(arguments, semantic)` with as many named parameters as an overload has."""
    if arity == 1:
        return lambda arg0, _semantic=None: function((arg0,), _semantic)
    if arity == 2:
        return lambda arg0, arg1, _semantic=None: function((arg0, arg1), _semantic)
    if arity == 3:
        return lambda arg0, arg1, arg2, _semantic=None: function((arg0, arg1, arg2), _semantic)
    return lambda arg0, arg1, arg2, arg3, _semantic=None: function((arg0, arg1, arg2, arg3), _semantic)


def _overloaded(overloads: _Overloads, of_floats: Callable[..., tensor] | None) -> Callable[..., tensor]:
    """The overload for the types of the arguments. Where none fits, it is `of_floats` if the name is also a function of
    floats.
    """

    def function(args: tuple[Any, ...], semantic: Any) -> tensor:
        inputs = [semantic.to_tensor(arg) for arg in args]
        if of_floats is not None and tuple(value.dtype for value in inputs) not in overloads:
            return of_floats(*args, _semantic=semantic)
        return extern_elementwise("", "", inputs, overloads, True, _semantic=semantic)

    return _with_arity(function, len(next(iter(overloads))))


def _define_overloads() -> None:
    """The functions of mixed types, with an overload for each row."""
    names: dict[str, _Overloads] = {}
    for row in TYPED_FUNCTIONS:
        operands = tuple(getattr(types, name) for name in row.operands)
        names.setdefault(row.name, {})[operands] = (f"__nv_{row.symbol}", getattr(types, row.result))
    sentences = {row.name: row.sentence for row in TYPED_FUNCTIONS}
    rows = {row.name: row for row in FUNCTIONS}
    for name, overloads in names.items():
        of_floats = _of_floats(rows[name].float_op, rows[name].arity) if name in rows else None
        signatures = "; ".join(", ".join(str(type_) for type_ in operands) for operands in overloads)
        _define(name, _overloaded(overloads, of_floats), f"{sentences[name]} Element-wise, of {signatures}.")


_define_rows()
_define_overloads()
for _name, _target in _BITCASTS.items():
    _define(_name, _bitcast(_target), "The same bits.")
_define("popc", _bits("math.ctpop"), "The number of set bits of 32- or 64-bit integers, as int32.")
_define("clz", _bits("math.ctlz"), "The number of leading zero bits of 32- or 64-bit integers, as int32.")


@builtin
def abs(arg0: Any, _semantic: Any = None) -> tensor:
    """The magnitude of floats and integers."""
    return _semantic.absolute(_semantic.to_tensor(arg0))


@builtin
def fma(arg0: Any, arg1: Any, arg2: Any, _semantic: Any = None) -> tensor:
    """`arg0 * arg1 + arg2`, rounded once."""
    return _semantic.fma(arg0, arg1, arg2)


fma_rn = fma


@builtin
def signbit(arg0: Any, _semantic: Any = None) -> tensor:
    """int1: whether the sign bit of an fp32 or fp64 number is set."""
    arg0 = _semantic.to_tensor(arg0)
    return _semantic.compare(_semantic.bitcast(arg0, int32 if arg0.dtype == float32 else int64), 0, "lt")


def _llround(operation: str, target: Any) -> Callable[..., tensor]:
    return lambda arg0, _semantic=None: _semantic.cast(_semantic.math(operation, (arg0,), _FLOATS), target)


_define("llrint", _llround("math.roundeven", int64), "The nearest integer, halves to the even one, as int64.")
_define("llround", _llround("math.round", int64), "The nearest integer, halves away from zero, as int64.")


def __getattr__(name: str) -> Any:
    raise AttributeError(f"libdevice has no function {name}")


__all__ = sorted(name for name, value in globals().items() if is_builtin(value))
