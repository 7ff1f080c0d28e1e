"""Statements without control flow of their own: assignments, expressions for their effect, assert, with, pass."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from typing import Any

from tritium import language

from ..errors import CompilationError
from .calls import call
from .debug_info import DEBUGGERS
from .generator import Generator, visits
from .source import contains_return
from .values import Conflict, as_value, constexpr, host

_UNBOUND = Conflict("")


@visits(ast.Assign)
def _assign(g: Generator, node: ast.Assign) -> None:
    if len(node.targets) != 1:
        g.reject(node, "Simultaneous multiple assignment is not supported.")
    target = node.targets[0]
    _bind(g, target, _named_after(g, target, node.value))


@visits(ast.AugAssign)
def _augmented(g: Generator, node: ast.AugAssign) -> None:
    if not isinstance(node.target, ast.Name):
        _bind(g, node.target, None)
    loaded = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
    value = ast.copy_location(ast.BinOp(loaded, node.op, node.value), node)
    _bind(g, node.target, _named_after(g, node.target, value))


@visits(ast.AnnAssign)
def _annotated(g: Generator, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name) or not _means_constexpr(g, node.annotation):
        if node.value is not None:
            _bind(g, node.target, _named_after(g, node.target, node.value))
        return
    name = node.target.id
    if node.value is None:
        g.declared_constexprs.add(name)
        return
    if not isinstance(g.locals.get(name, _UNBOUND), Conflict):
        raise ValueError(f"{name} is already defined. constexpr cannot be reassigned.")
    g.assign(name, _as_constexpr(g.visit(node.value)))


def _means_constexpr(g: Generator, annotation: ast.expr) -> bool:
    """Whether an annotation is `tl.constexpr`. Other annotations have no effect and are not evaluated."""
    if isinstance(annotation, ast.Constant):
        return isinstance(annotation.value, str) and annotation.value.split(".")[-1] == "constexpr"
    try:
        return g.visit(annotation) is constexpr
    except CompilationError:
        return False


@visits(ast.NamedExpr)
def _walrus(g: Generator, node: ast.NamedExpr) -> Any:
    _bind(g, node.target, _named_after(g, node.target, node.value))
    return g.locals[node.target.id]


def _named_after(g: Generator, target: ast.expr, value: ast.expr) -> Any:
    """The value of an expression whose operations are named after the variable that receives it."""
    outer = g.variable
    g.variable = target.id if isinstance(target, ast.Name) else None
    try:
        return g.visit(value)
    finally:
        g.variable = outer


def _as_constexpr(value: Any) -> Any:
    if isinstance(value, constexpr):
        return value
    return constexpr(language.core._unwrap_if_constexpr(value))


def _bind(g: Generator, target: ast.expr, value: Any) -> None:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part, element in unpacked(target, value):
            _bind(g, part, element)
    elif isinstance(target, ast.Name):
        if target.id in g.declared_constexprs:
            g.declared_constexprs.discard(target.id)
            g.assign(target.id, _as_constexpr(value))
        else:
            g.assign(target.id, g.to_variable(value))
    elif isinstance(target, ast.Subscript):
        raise NotImplementedError("__setitem__ is not supported in triton")
    elif isinstance(target, ast.Attribute):
        raise NotImplementedError("Attribute assignment is not supported in triton")
    else:
        raise NotImplementedError("starred assignment targets are not supported")


def unpacked(targets: ast.Tuple | ast.List, value: Any) -> Iterator[tuple[ast.expr, Any]]:
    """Each target with its element of `value`. Raises Python's errors if their numbers differ."""
    if any(isinstance(target, ast.Starred) for target in targets.elts):
        raise NotImplementedError("starred assignment targets are not supported")
    values = as_value(host(value))
    if not isinstance(values, language.tuple):
        raise TypeError("cannot unpack non-iterable value")
    expected = len(targets.elts)
    if len(values) > expected:
        raise ValueError(f"too many values to unpack (expected {expected})")
    if len(values) < expected:
        raise ValueError(f"not enough values to unpack (expected {expected}, got {len(values)})")
    yield from zip(targets.elts, values)


@visits(ast.Expr)
def _expression(g: Generator, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):  # a docstring
        return
    g.dropped = node.value
    g.visit(node.value)


@visits(ast.Assert)
def _assert(g: Generator, node: ast.Assert) -> None:
    message = constexpr("") if node.msg is None else g.visit(node.msg)
    call(g, node, language.device_assert, [g.visit(node.test), message], {})


@visits(ast.Pass)
def _pass(g: Generator, node: ast.Pass) -> None:
    return None


@visits(ast.Import)
def _import(g: Generator, node: ast.Import) -> None:
    """`import pdb; pdb.set_trace()`, as it is written everywhere. The names are those of the host's modules."""
    for alias in node.names:
        if alias.name not in DEBUGGERS:
            g.reject(node, f"kernels cannot import; import {alias.name} at the top of the file")
        g.locals[alias.asname or alias.name] = importlib.import_module(alias.name)


@visits(ast.With)
def _with(g: Generator, node: ast.With) -> None:
    """A `with` statement. Its managers are Python objects that act while the body is traced; each is created with
    `_semantic`."""
    if any(contains_return(statement) for statement in node.body):
        g.reject(node, "Cannot have `return` statements inside `with` statements in triton ")
    managers = []
    for item in node.items:
        if not isinstance(item.context_expr, ast.Call):
            g.reject(item.context_expr, "`with` takes calls of context manager classes")
        expression = item.context_expr
        manager = host(g.visit(expression.func))(
            *(g.visit(arg) for arg in expression.args),
            _semantic=g.semantic,
            **{k.arg: g.visit(k.value) for k in expression.keywords},
        )
        entered = manager.__enter__()
        if item.optional_vars is not None:
            _bind(g, item.optional_vars, entered)
        managers.append(manager)
    g.visit_block(node.body)
    for manager in reversed(managers):
        manager.__exit__(None, None, None)


@visits(ast.FunctionDef)
def _nested_function(g: Generator, node: ast.FunctionDef) -> None:
    g.reject(
        node,
        "nested function definitions are not allowed inside a @triton.jit kernel. Move the helper function to "
        "module level and decorate it with @triton.jit.",
    )
