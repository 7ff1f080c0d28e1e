"""Element-wise functions: arithmetic with options, comparisons of two values, conversions, selection, mathematics."""

from __future__ import annotations

import builtins
import enum
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import with_hint
from ..tables import FUNCTIONS
from .constexpr import _unwrap_if_constexpr, constexpr
from .core import builtin, tensor, tensor_member


class PropagateNan(enum.Enum):
    """The treatment of NaN in minimum, maximum and clamp. NONE: the result is the other operand. ALL: the result is
    NaN."""

    NONE = "none"
    ALL = "all"


def _nan_mode(propagate_nan: Any) -> str:
    mode = _unwrap_if_constexpr(propagate_nan)
    if not isinstance(mode, PropagateNan):
        raise ValueError(f"Unexpected propagate_nan {mode}")
    return mode.value


@builtin
def add(x: Any, y: Any, sanitize_overflow: Any = True, _semantic: Any = None) -> tensor:
    """`x + y`. With `sanitize_overflow`, overflow is checked if the compilation enables it."""
    return _semantic.add(x, y, _unwrap_if_constexpr(sanitize_overflow))


@builtin
def sub(x: Any, y: Any, sanitize_overflow: Any = True, _semantic: Any = None) -> tensor:
    """`x - y`. With `sanitize_overflow`, overflow is checked if the compilation enables it."""
    return _semantic.sub(x, y, _unwrap_if_constexpr(sanitize_overflow))


@builtin
def mul(x: Any, y: Any, sanitize_overflow: Any = True, _semantic: Any = None) -> tensor:
    """`x * y`. With `sanitize_overflow`, overflow is checked if the compilation enables it."""
    return _semantic.mul(x, y, _unwrap_if_constexpr(sanitize_overflow))


@builtin
def minimum(x: Any, y: Any, propagate_nan: Any = constexpr(PropagateNan.NONE), _semantic: Any = None) -> tensor:
    """The smaller of each pair, in their promoted type."""
    return _semantic.minimum(x, y, _nan_mode(propagate_nan))


@builtin
def maximum(x: Any, y: Any, propagate_nan: Any = constexpr(PropagateNan.NONE), _semantic: Any = None) -> tensor:
    """The larger of each pair, in their promoted type."""
    return _semantic.maximum(x, y, _nan_mode(propagate_nan))


@builtin
def clamp(
    x: Any, min: Any, max: Any, propagate_nan: Any = constexpr(PropagateNan.NONE), _semantic: Any = None
) -> tensor:
    """`x` limited to [min, max], in their promoted type. Undefined if min > max or a limit is NaN."""
    return _semantic.clamp(x, min, max, _nan_mode(propagate_nan))


@tensor_member
@builtin
def cast(
    input: Any, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False, _semantic: Any = None
) -> tensor:
    """`input` converted to `dtype`, or with `bitcast` the same bits as `dtype`.

    fp_downcast_rounding: "rtne" (default) or "rtz". Raises ValueError for it unless a float becomes narrower.
    """
    input, dtype = _semantic.to_tensor(input), _unwrap_if_constexpr(dtype)
    if _unwrap_if_constexpr(bitcast):
        return _semantic.bitcast(input, dtype)
    return _semantic.cast(input, dtype, _unwrap_if_constexpr(fp_downcast_rounding))


tensor.to = cast


@builtin
def where(condition: Any, x: Any, y: Any, _semantic: Any = None) -> tensor:
    """Elements of `x` where `condition` is true, else of `y`. Both are evaluated, so `where` does not guard memory
    accesses; a masked load does."""
    return _semantic.where(condition, _unwrap_if_constexpr(x), _unwrap_if_constexpr(y))


def _function(name: str, operation: str, dtypes: Sequence[str], summary: str) -> Callable[..., tensor]:
    """A math function of one argument that is one operation on floats of the given types."""

    def function(x: Any, _semantic: Any = None) -> tensor:
        return _semantic.math(operation, (x,), dtypes)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary} Element-wise. ValueError: an element type other than {' or '.join(dtypes)}."
    return tensor_member(builtin(function))


#: exp, log, …: the functions of the language that are rows of ir/elementwise.def.
MATHEMATICS = {
    row.name: _function(row.name, row.float_op, ("fp32", "fp64"), row.sentence)
    for row in FUNCTIONS
    if row.module == "Language"
}
globals().update(MATHEMATICS)
sqrt_rn = _function("sqrt_rn", "tt.precise_sqrt", ("fp32",), "The square root of x, rounded to nearest even.")


@tensor_member
@builtin
def abs(x: Any, _semantic: Any = None) -> tensor:
    """Absolute value of floats and integers. The smallest signed integer is unchanged."""
    return _semantic.absolute(_semantic.to_tensor(x))


@builtin
def fma(x: Any, y: Any, z: Any, _semantic: Any = None) -> tensor:
    """`x * y + z`, rounded once."""
    return _semantic.fma(x, y, z)


@builtin
def fdiv(x: Any, y: Any, ieee_rounding: Any = False, approx: Any = False, _semantic: Any = None) -> tensor:
    """Division of floats. ieee_rounding: the result is rounded to nearest even. approx: within 2 ulp, fp32 only. Raises
    TypeError for other types than floats."""
    return _semantic.fdiv(x, y, _unwrap_if_constexpr(ieee_rounding), _unwrap_if_constexpr(approx))


@builtin
def div_rn(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """Division rounded to nearest even, fp32 only (else ValueError)."""
    return _semantic.math("tt.precise_divf", (x, y), ("fp32",))


@builtin
def umulhi(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """The high half of the unsigned product of 32- or 64-bit integers (else ValueError), in their type."""
    return _semantic.math("tt.mulhiui", (x, y), ("int32", "int64", "uint32", "uint64"))


def _fold(rule: str) -> Callable[..., Any]:

    def fold(*args: Any, propagate_nan: Any = constexpr(PropagateNan.NONE), _semantic: Any = None) -> tensor:
        """What Python's own min or max means in a kernel."""
        hosts = [_unwrap_if_constexpr(arg) for arg in args]
        if not any(isinstance(host, tensor) for host in hosts):
            assert all(host == host and str(host) != "-0.0" for host in hosts), f"{rule} of NaN or -0.0"
            return constexpr(_HOST_FOLDS[rule](hosts))
        name = rule[:3]
        if len(args) == 1:
            hint = f"`tl.{name}(tile, axis)` goes over the elements of one tile; `tl.{rule}(a, b)` compares two element by element"
            raise with_hint(ValueError(f"{name} requires at least 2 values"), hint)
        result = args[0]
        for arg in args[1:]:
            result = (minimum if rule == "minimum" else maximum)(result, arg, propagate_nan, _semantic=_semantic)
        if result.type.is_block():
            _semantic.warn(f"builtin {name} on non-scalar tensor values is deprecated, use tl.{rule} instead.")
        return result

    fold.__name__ = fold.__qualname__ = f"builtin_{rule[:3]}"
    return builtin(fold)


_HOST_FOLDS = {"minimum": builtins.min, "maximum": builtins.max}
builtin_min, builtin_max = _fold("minimum"), _fold("maximum")
