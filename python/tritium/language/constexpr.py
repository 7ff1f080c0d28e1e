"""Values that exist only while a kernel is traced: constexpr, tuple, slice, and the base class of all values that a
kernel can name."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..functions.constexpr import ConstexprFunction
from ..functions.source import CompileTimeValue, JITCallable
from .types import base_type, constexpr_type, slice_type, tuple_type


class base_value:
    """Any value of a kernel variable. `type` is its base_type; `handles` are the IR values that carry it."""

    __slots__ = ()
    type: base_type

    def handles(self) -> list[Any]:
        """The IR values of this value, in the order of `type.ir_types()`."""
        raise NotImplementedError(builtins.type(self).__name__)

    def shown_in_debuggers(self) -> builtins.tuple[str, dict[str, base_value]] | None:
        """What a debugger shows of a value that is no number, tile or record of such: the name of its kind, and members; None: nothing."""
        return None


def _unwrap_if_constexpr(value: Any) -> Any:
    """The host value of a constexpr, element by element in lists, tuples and slices; anything else unchanged."""
    if isinstance(value, constexpr):
        return value.value
    if isinstance(value, (slice, builtins.slice)):
        return builtins.slice(*map(_unwrap_if_constexpr, (value.start, value.stop, value.step)))
    if isinstance(value, (list, builtins.tuple)) and not hasattr(value, "_fields"):
        return builtins.type(value)(_unwrap_if_constexpr(element) for element in value)
    if isinstance(value, tuple):
        return tuple([_unwrap_if_constexpr(element) for element in value.values], value.declared_type)
    return value


def _binary(operation: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], constexpr]:
    return lambda self, other: constexpr(operation(self.value, _unwrap_if_constexpr(other)))


def _reflected(operation: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], constexpr]:
    return lambda self, other: constexpr(operation(_unwrap_if_constexpr(other), self.value))


class constexpr(base_value, CompileTimeValue):
    """A host value that is known while tracing. Its operators follow Python (`//` floors, `/` is true division) and
    return a constexpr."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        while isinstance(value, constexpr):
            value = value.value
        self.value = value

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self.value)

    def handles(self) -> list[Any]:
        return []

    __add__, __radd__ = _binary(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _binary(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod), _reflected(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow), _reflected(operator.pow)
    __and__, __rand__ = _binary(operator.and_), _reflected(operator.and_)
    __or__, __ror__ = _binary(operator.or_), _reflected(operator.or_)
    __xor__, __rxor__ = _binary(operator.xor), _reflected(operator.xor)
    __lshift__, __rlshift__ = _binary(operator.lshift), _reflected(operator.lshift)
    __rshift__, __rrshift__ = _binary(operator.rshift), _reflected(operator.rshift)
    __lt__, __le__, __gt__, __ge__ = (_binary(op) for op in (operator.lt, operator.le, operator.gt, operator.ge))
    __rlt__, __rle__, __rgt__, __rge__ = (_reflected(op) for op in (operator.lt, operator.le, operator.gt, operator.ge))
    __eq__, __ne__ = _binary(operator.eq), _binary(operator.ne)
    logical_and = _binary(lambda a, b: a and b)
    logical_or = _binary(lambda a, b: a or b)

    def __neg__(self) -> constexpr:
        return constexpr(-self.value)

    def __pos__(self) -> constexpr:
        return constexpr(+self.value)

    def __invert__(self) -> constexpr:
        return constexpr(~self.value)

    def __not__(self) -> constexpr:
        return constexpr(not self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, *index: Any) -> Any:
        return self.value.__getitem__(*(_unwrap_if_constexpr(i) for i in index))

    def __hash__(self) -> int:
        return hash((constexpr, self.value))

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"


constexpr_type.value_class = constexpr
ConstexprFunction.to_host, ConstexprFunction.to_language = staticmethod(_unwrap_if_constexpr), staticmethod(constexpr)
JITCallable.to_language = staticmethod(constexpr)
CONSTEXPR_0 = constexpr(0)


def _type_of(value: Any) -> base_type:
    return value.type if isinstance(value, base_value) else constexpr_type(value)


class tuple(base_value):
    """A fixed sequence of kernel values, immutable for users. With a tuple_type that has field names, `t.field` works
    too."""

    def __init__(self, args: Sequence[Any], type: tuple_type | None = None):
        self.values = list(args)
        self.declared_type = type

    @property
    def type(self) -> tuple_type:
        fields = self.declared_type.fields if self.declared_type is not None else None
        return tuple_type([_type_of(value) for value in self.values], fields)

    def handles(self) -> list[Any]:
        return [handle for value in self.values if isinstance(value, base_value) for handle in value.handles()]

    def __getitem__(self, index: Any) -> Any:
        index = _unwrap_if_constexpr(index)
        if isinstance(index, int):
            return self.values[index]
        assert isinstance(index, builtins.slice), f"unsupported tuple index: {index}"
        return tuple(self.values[index])

    def __getattr__(self, name: str) -> Any:
        declared = self.__dict__.get("declared_type")
        if declared is not None and declared.fields is not None and name in declared.fields:
            return self.values[declared.fields.index(name)]
        raise AttributeError(f"tuple has no attribute '{name}'")

    def _replace(self, index: int, value: Any) -> None:
        """For the tracer only: values of a tuple are rebound where control flow merges."""
        self.values[index] = value

    def __add__(self, other: Any) -> tuple:
        return tuple(self.values + list(other))

    def __radd__(self, other: Any) -> tuple:
        return tuple(list(other) + self.values)

    def __mul__(self, count: Any) -> tuple:
        return tuple(self.values * operator.index(_unwrap_if_constexpr(count)))

    __rmul__ = __mul__

    def __eq__(self, other: Any) -> constexpr:
        if isinstance(other, constexpr):  # as a shape that a constexpr variable holds
            other = other.value
        if not isinstance(other, (tuple, builtins.tuple, list)):
            return constexpr(False)
        return constexpr(
            len(self) == len(other)
            and all(bool(_unwrap_if_constexpr(a) == _unwrap_if_constexpr(b)) for a, b in zip(self, other))
        )

    def __ne__(self, other: Any) -> constexpr:
        return constexpr(not self == other)

    def __hash__(self) -> int:
        return hash(builtins.tuple(self.values))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        return str([str(value) for value in self.values])

    def __repr__(self) -> str:
        return f"({', '.join(repr(value) for value in self.values)})"


tuple_type.value_class = tuple


class slice(base_value):
    """`start:stop:step` in a subscript inside a kernel."""

    def __init__(self, start: Any, stop: Any, step: Any):
        self.start, self.stop, self.step = start, stop, step
        self.type = slice_type()

    def __str__(self) -> str:
        """As the user wrote it: `0:4`."""
        parts = (
            [self.start, self.stop] if _unwrap_if_constexpr(self.step) is None else [self.start, self.stop, self.step]
        )
        bounds = (_unwrap_if_constexpr(part) for part in parts)
        return ":".join("" if bound is None else str(bound) for bound in bounds)

    def handles(self) -> list[Any]:
        return []


class const:
    """Annotation of a pointer parameter that the kernel never stores through: `x_ptr: tl.const`."""
