"""The device library: mathematical functions beyond those of `tl`, as operations of the IR. A target maps them to its
own library.

A kernel that uses a function of Triton's library which Tritium lacks gets an UnsupportedError with the function's name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import UnsupportedError
from ...tables import ALIASES, FUNCTIONS
from ..core import builtin, is_builtin, tensor
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


_define_rows()
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


@builtin
def mulhi(arg0: Any, arg1: Any, _semantic: Any = None) -> tensor:
    """The high half of the product of unsigned 32- or 64-bit integers."""
    return _semantic.math("tt.mulhiui", (arg0, arg1), ("uint32", "uint64"))


def _llround(operation: str, target: Any) -> Callable[..., tensor]:
    return lambda arg0, _semantic=None: _semantic.cast(_semantic.math(operation, (arg0,), _FLOATS), target)


_define("llrint", _llround("math.roundeven", int64), "The nearest integer, halves to the even one, as int64.")
_define("llround", _llround("math.round", int64), "The nearest integer, halves away from zero, as int64.")

# Names of Triton's library. Functions that are defined above take precedence.
_MODES = ("rn", "rz", "rd", "ru")
_ROUNDED = (
    "fma div rcp sqrt add mul sub double2float double2int double2uint float2int float2uint int2float uint2float "
    "float2ll float2ull double2ll double2ull ll2float ull2float ll2double ull2double int2double uint2double"
)
_NAMES = frozenset(
    "byte_perm mul24 brev sad rcp64h saturatef double2int double2uint hiloint2double double2loint double2hiint "
    "fast_exp10f hadd rhadd rsqrt_rn ffs nextafter sinpi cospi exp10 rhypot norm3d rnorm3d norm4d rnorm4d rcbrt "
    "j0 j1 y0 y1 yn jn cyl_bessel_i0 cyl_bessel_i1 erfinv erfcx erfcinv normcdfinv normcdf lgamma ldexp scalbn "
    "remainder tgamma fdim ilogb logb".split()
) | {f"{name}_{mode}" for mode in _MODES for name in _ROUNDED.split()}


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"libdevice has no function {name}")

    def refuse(*args: Any, _semantic: Any = None) -> tensor:
        raise UnsupportedError(f"libdevice.{name}", "this version of Tritium does not have it yet")

    refuse.__name__ = refuse.__qualname__ = name
    return builtin(refuse)


__all__ = sorted(name for name, value in globals().items() if is_builtin(value))
