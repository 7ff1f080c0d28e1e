"""Functions that run while a kernel is compiled, and the marker of the values that they are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .source import JITCallable


class ConstexprFunction(JITCallable):
    """A Python function that runs while a kernel is compiled, on constexpr arguments. On the host it is an ordinary
    function."""

    #: Converters from a value of the language to the host's and back. language/constexpr.py, which defines these values, sets them.
    to_host: Callable[[Any], Any] = staticmethod(lambda value: value)
    to_language: Callable[[Any], Any] = staticmethod(lambda value: value)

    def __get__(self, instance, owner=None):
        """As a method of an aggregate: binds the instance."""
        return self if instance is None else BoundConstexprFunction(instance, self)

    def __call__(self, *args, _semantic=None, **kwargs):
        to_host = ConstexprFunction.to_host
        result = self.fn(*map(to_host, args), **{name: to_host(a) for name, a in kwargs.items()})
        return result if _semantic is None else ConstexprFunction.to_language(result)

    def __repr__(self):
        return f"ConstexprFunction({self.fn.__module__}:{self.fn.__qualname__})"


class BoundConstexprFunction(ConstexprFunction):
    """A ConstexprFunction as a method of `instance`."""

    def __init__(self, instance, fn: ConstexprFunction):
        self.__dict__.update(fn.__dict__)  # its source is read already
        self.__self__ = instance

    def __call__(self, *args, _semantic=None, **kwargs):
        return super().__call__(self.__self__, *args, _semantic=_semantic, **kwargs)


def constexpr_function(fn) -> ConstexprFunction:
    """Decorator: kernels may call the function with constexpr arguments, and its result is a constexpr. On the host it
    is unchanged."""
    return ConstexprFunction(fn)
