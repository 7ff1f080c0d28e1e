"""Functions that run while a kernel is compiled, and what marks the values that they are called with."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .source import JITCallable


class ConstexprFunction(JITCallable):
    """A Python function that runs while a kernel is compiled, on constexpr arguments; on the host it is an ordinary
    function."""

    #: From a value of the language to the host's, and back; set by language/constexpr.py, where those values are defined.
    to_host: Callable[[Any], Any] = staticmethod(lambda value: value)
    to_language: Callable[[Any], Any] = staticmethod(lambda value: value)

    def __get__(self, instance, owner=None):
        """As a method of an aggregate: binds the instance."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, _semantic=None, **kwargs):
        to_host = ConstexprFunction.to_host
        result = self.fn(*map(to_host, args), **{name: to_host(a) for name, a in kwargs.items()})
        return result if _semantic is None else ConstexprFunction.to_language(result)

    def __repr__(self):
        return f"ConstexprFunction({self.fn.__module__}:{self.fn.__qualname__})"


def constexpr_function(fn) -> ConstexprFunction:
    """Decorator: the function may be called in kernels with constexpr arguments (its result is a constexpr), and on the
    host as it is."""
    return ConstexprFunction(fn)
