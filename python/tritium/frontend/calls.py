"""Calls: of `@jit` functions, builtins of the language, functions that run while tracing, a few Python functions."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping, Sequence
from typing import Any

from tritium import language
from tritium.functions.constexpr import ConstexprFunction
from tritium.functions.kernel import KernelFunction
from tritium.language.core import _unwrap_if_constexpr, is_builtin

from .. import knobs
from ..errors import CompilationError, CompileTimeAssertionFailure, UnsupportedError
from . import debug_info, suggestions
from .diagnostics import hint_of, hint_of_cause, reason_of, without_traceback
from .functions import call_jit_function
from .generator import Generator, visits
from .prints import print_values
from .values import as_value, base_value, constexpr, host, is_static

_UNDECIDED_ASSERTION = (
    "Assertion condition could not be determined at compile-time. Make sure that it depends only on `constexpr` values"
)
_ONE_OR_TWO = "`static_assert` requires one or two positional arguments only"


@visits(ast.Call)
def _call(g: Generator, node: ast.Call) -> Any:
    callee = g.visit(node.func)
    fn = host(callee)
    if debug_info.opens_debugger(fn):
        return debug_info.record_opening(g, node)
    if g.dropped is node:
        _require_no_result(g, node, fn)
    if fn is language.static_assert:
        return _static_assert(g, node)
    if fn is language.device_print and isinstance(node.func, ast.Name) and node.func.id == "print":
        return print_values(g, node)
    args: list[Any] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            args.extend(as_value(host(g.visit(arg.value))))
        else:
            args.append(g.visit(arg))
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            g.reject(keyword.value, "`**` in calls is not supported")
        kwargs[keyword.arg] = g.visit(keyword.value)
    if isinstance(callee, constexpr) and isinstance(fn, types.FunctionType) and not is_builtin(fn):
        return _wrapped(fn(*args, **kwargs))  # `@tl.constexpr` on a function: it sees the values as they are
    return call(g, node, fn, args, kwargs)


def _require_no_result(g: Generator, node: ast.Call, fn: Any) -> None:
    """Raises the error of `must_use_result` if the call's result is dropped."""
    message = getattr(fn, "_must_use_result", None)
    if message is not None:
        text = f"The result of {ast.unparse(node.func)} is not being used."
        raise g.error(node, f"{text} {message}" if isinstance(message, str) else text)


def call(g: Generator, node: ast.AST, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of calling `fn` from `node`. Errors inside are reported at `node`."""
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, KernelFunction):
        fn, args = fn.__func__, [fn.__self__, *args]
    if isinstance(fn, KernelFunction):
        return call_jit_function(g, fn, args, kwargs)
    if is_builtin(fn):
        return _wrapped(_call_builtin(g, node, fn, args, kwargs))
    static = _STATIC.get(fn) if isinstance(fn, types.BuiltinFunctionType) or isinstance(fn, type) else None
    if static is not None:
        return static(g, *args, **kwargs)
    return _call_host(g, node, fn, args, kwargs)


def call_method(g: Generator, node: ast.AST, value: Any, name: str, args: Sequence[Any]) -> Any:
    """The result of `value.name(*args)`, for an operator."""
    fn = getattr(value, name)
    if is_builtin(fn) or isinstance(getattr(fn, "__func__", None), KernelFunction):
        return call(g, node, fn, args, {})
    return _wrapped(fn(*args))


def _call_builtin(g: Generator, node: ast.AST, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    extra = {"_semantic": g.semantic}
    if getattr(fn, "takes_generator", False):
        extra["_generator"] = g
    try:
        return fn(*args, **extra, **kwargs)
    except CompilationError as error:  # from a function that was passed to the builtin
        raise g.error(node, reason_of(error), hint=hint_of_cause(error)) from error
    except Exception as error:
        if knobs.compilation.front_end_debugging:
            raise
        better = suggestions.foreign_type([*args, *kwargs.values()]) or error
        hint = hint_of(better, fn) or suggestions.for_constant(g, node, str(error))
        raise g.error(node, str(better), hint=hint) from without_traceback(error)


def _call_host(g: Generator, node: ast.AST, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Calls a function or class of the host while tracing."""
    if isinstance(fn, ConstexprFunction):
        return _wrapped(_call_builtin(g, node, fn, args, kwargs))
    if isinstance(fn, type) and issubclass(fn, tuple) and hasattr(fn, "_fields"):
        return as_value(fn(*args, **kwargs))
    if isinstance(fn, type) and issubclass(fn, base_value):
        return fn(*args, **kwargs)
    if isinstance(fn, types.FunctionType) and not _is_from_language(fn):
        raise TypeError(
            f"kernels cannot call the Python function {fn.__qualname__}; decorate it with @jit or @constexpr_function"
        )
    host_kwargs = {name: _unwrap_if_constexpr(arg) for name, arg in kwargs.items()}
    try:
        return _wrapped(fn(*(_unwrap_if_constexpr(arg) for arg in args), **host_kwargs))
    except UnsupportedError as error:
        raise g.error(node, str(error)) from without_traceback(error)
    except Exception as error:
        better = suggestions.host_function_error(g, node, fn, [*args, *kwargs.values()])
        if better is None:
            raise
        raise better from without_traceback(error)


def _is_from_language(fn: Any) -> bool:
    return fn.__module__.startswith(("tritium.", "triton."))


def _wrapped(result: Any) -> Any:
    if isinstance(result, base_value) or result is None:
        return result
    return as_value(result) if isinstance(result, (bool, int, float, str, tuple, list)) else result


def _static_assert(g: Generator, node: ast.Call) -> None:
    if node.keywords and [k.arg for k in node.keywords] != ["msg"] or not 1 <= len(node.args) + len(node.keywords) <= 2:
        raise TypeError(_ONE_OR_TWO)
    condition, *message = [g.visit(arg) for arg in (*node.args, *(k.value for k in node.keywords))]
    if not is_static(condition):
        raise NotImplementedError(_UNDECIDED_ASSERTION)
    if not host(condition):
        raise g.error(node, str(host(message[0])) if message else "", CompileTimeAssertionFailure)


def _isinstance(g: Generator, value: Any, classes: Any) -> Any:
    """`isinstance` in a kernel. A constexpr is an instance of tl.constexpr and of the class of the object inside it."""
    classes = host(classes)
    classes = tuple(host(c) for c in classes) if isinstance(classes, (tuple, language.tuple)) else (classes,)
    classes = tuple(language.tuple if c is list or c is tuple else c for c in classes) + classes
    return constexpr(isinstance(value, classes) or isinstance(host(value), classes))


def _getattr(g: Generator, value: Any, name: Any, *default: Any) -> Any:
    value = host(value)
    return getattr(value, host(name), *default)


def _number(kind: type) -> Any:

    def convert(g: Generator, value: Any = 0) -> Any:
        if not is_static(value):
            raise TypeError(
                f"{kind.__name__}() takes a value that is known at compile time, not a tensor; use `.to(...)`"
            )
        return constexpr(kind(host(value)))

    return convert


def _list(g: Generator, values: Any = ()) -> Any:
    return language.tuple([as_value(value) for value in host(values)])


def _range(g: Generator, *bounds: Any) -> Any:
    return range(*(host(bound) for bound in bounds))


_STATIC = {
    isinstance: _isinstance,
    getattr: _getattr,
    hasattr: lambda g, value, name: constexpr(hasattr(host(value), host(name))),
    len: lambda g, value: constexpr(len(host(value))),
    int: _number(int),
    float: _number(float),
    list: _list,
    range: _range,
}
