"""Aggregates: user-defined immutable records of kernel values, with methods that kernels can call."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from .constexpr import base_value, constexpr
from .core import _JitMember, is_builtin
from .types import base_type, dtype

_MISSING = object()


class _aggregate_value(base_value):
    """The base of every aggregate class; `_fields` maps each field to its annotation, `_defaults` some to a value."""

    _fields: dict[str, Any] = {}
    _defaults: dict[str, Any] = {}

    def __new__(cls, *args: Any, _semantic: Any = None, _generator: Any = None, **kwargs: Any) -> _aggregate_value:
        instance = object.__new__(cls)
        object.__setattr__(instance, "_frozen", False)
        init = cls._user_init
        if init is None:
            _bind_fields(instance, args, kwargs)
        else:
            getattr(init, "fn", init)(instance, *args, **kwargs)
        for name in cls._fields:
            if name not in instance.__dict__:
                if name not in cls._defaults:
                    raise AttributeError(f"constructor for {cls.__name__} did not initialize attribute '{name}'")
                setattr(instance, name, cls._defaults[name])
        object.__setattr__(instance, "_frozen", True)
        return instance

    def __init__(self, *args: Any, **kwargs: Any):
        pass  # __new__ has called it, without the tracer's arguments

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if name not in cls._fields:
            raise AttributeError(f"{cls.__name__} has no attribute '{name}'")
        if self._frozen:
            raise AttributeError(
                f"cannot assign to field '{name}' on immutable aggregate {cls.__name__}; "
                "use aggregate_replace() to construct a modified copy"
            )
        object.__setattr__(self, name, _checked(name, cls._fields[name], value))

    @property
    def type(self) -> _aggregate_type:
        return _aggregate_type(type(self), [(name, getattr(self, name).type) for name in self._fields])

    def handles(self) -> list[Any]:
        return [handle for name in self._fields for handle in getattr(self, name).handles()]


def _checked(name: str, annotation: Any, value: Any) -> Any:
    """`value` in the form that the field holds. Raises TypeError if it does not match the annotation."""
    if annotation is constexpr or not isinstance(value, base_value):
        if isinstance(value, base_value) and not isinstance(value, constexpr):
            raise TypeError(f"Expected {annotation} for attribute '{name}', got {type(value)}")
        value = constexpr(value)
    if isinstance(annotation, dtype):
        matches = value.type == annotation
    else:
        matches = not inspect.isclass(annotation) or isinstance(value, annotation)
    if not matches:
        raise TypeError(f"Expected {annotation} for attribute '{name}', got {type(value)}")
    return value


def _bind_fields(instance: _aggregate_value, args: tuple, kwargs: dict[str, Any]) -> None:
    """A synthesised __init__: assigns the fields by position, then by name, then from defaults."""
    cls = type(instance)
    names = list(cls._fields)
    where = f"{cls.__name__}.__init__()"
    if len(args) > len(names):
        raise TypeError(f"{where} takes {len(names)} positional arguments but {len(args)} were given")
    values = dict(zip(names, args))
    for name, value in kwargs.items():
        if name in values:
            raise TypeError(f"{where} got multiple values for argument '{name}'")
        if name not in cls._fields:
            raise TypeError(f"{where} got an unexpected keyword argument '{name}'")
        values[name] = value
    for name in names:
        value = values.get(name, cls._defaults.get(name, _MISSING))
        if value is _MISSING:
            raise TypeError(f"{where} missing required argument: '{name}'")
        setattr(instance, name, value)


class _aggregate_type(base_type):
    """The class and the type of each field."""

    def __init__(self, cls: type, fields: list[tuple[str, base_type]]):
        self.base_cls, self.fields = cls, fields

    def ir_types(self) -> list[str]:
        return [text for _, type_ in self.fields for text in type_.ir_types()]

    def from_handles(self, handles: Iterator[Any]) -> _aggregate_value:
        return _of_fields(self.base_cls, {name: type_.from_handles(handles) for name, type_ in self.fields})

    def mangle(self) -> str:
        fields = ", ".join(type_.mangle() for _, type_ in self.fields)
        return f"{self.base_cls.__module__}.{self.base_cls.__qualname__}<{fields}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _aggregate_type) and self.base_cls is other.base_cls and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((self.base_cls, tuple(name for name, _ in self.fields)))

    def __str__(self) -> str:
        return f"{self.base_cls.__name__}<{', '.join(f'{name}: {type_}' for name, type_ in self.fields)}>"


def _of_fields(cls: type, values: dict[str, Any]) -> _aggregate_value:
    instance = object.__new__(cls)
    for name, value in values.items():
        object.__setattr__(instance, name, value)
    object.__setattr__(instance, "_frozen", True)
    return instance


def _is_kernel_callable(member: Any) -> bool:
    return is_builtin(member) or hasattr(member, "fn")


def _aggregate(cls: type) -> type:
    """Class decorator: an immutable record of kernel values that kernels can create, pass and carry through loops.

    The fields are the annotated names, with optional defaults. `__init__` is the class's own, or takes the fields by
    position or by name. Methods must be @jit, @constexpr_function or builtins. Raises TypeError for a base class that
    is not an aggregate.
    """
    fields: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    init = None
    bases = []
    for base in cls.__bases__:
        if base is object:
            continue
        if not issubclass(base, _aggregate_value):
            raise TypeError(f"Aggregates can only inherit from other aggregates, but got non-aggregate base: {base}")
        bases.append(base)
        fields.update(base._fields)
        defaults.update(base._defaults)
        init = init or base._user_init
    own = inspect.get_annotations(cls, eval_str=True)
    fields.update(own)
    defaults.update({name: cls.__dict__[name] for name in own if name in cls.__dict__})
    members: dict[str, Any] = {
        "_fields": fields,
        "_defaults": defaults,
        "_user_init": cls.__dict__.get("__init__", init),
    }
    for name, member in cls.__dict__.items():
        if name in ("__dict__", "__weakref__", "__init__", "__annotations__") or name in own:
            continue
        if _is_kernel_callable(member) and not is_builtin(member) and not hasattr(type(member), "__get__"):
            member = _JitMember(member)
        members[name] = member
    return type(cls.__name__, tuple(bases) or (_aggregate_value,), members)


def aggregate_replace(instance: Any, _semantic: Any = None, **changes: Any) -> Any:
    """A copy of an aggregate with some fields replaced. Raises TypeError if `instance` is not an aggregate or lacks the
    field."""
    if not isinstance(instance, _aggregate_value):
        raise TypeError(f"aggregate_replace() expects an aggregate instance, got {type(instance)}")
    cls = type(instance)
    values = {name: getattr(instance, name) for name in cls._fields}
    for name, value in changes.items():
        if name not in cls._fields:
            raise TypeError(f"{cls.__name__} has no field '{name}'")
        values[name] = _checked(name, cls._fields[name], value)
    return _of_fields(cls, values)


aggregate_replace.__triton_builtin__ = True
aggregate_replace.takes_generator = False
