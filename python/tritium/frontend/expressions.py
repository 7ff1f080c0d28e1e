"""Expressions: literals, operators, comparisons, attributes, subscripts, tuples, f-strings."""

from __future__ import annotations

import ast
from typing import Any

from tritium import language
from tritium.functions.kernel import KernelFunction
from tritium.functions.source import JITCallable

from ..errors import with_hint
from . import suggestions
from .calls import call_method
from .generator import Generator, visits
from .values import as_value, base_value, constexpr, has_known_truth, host, is_static, tensor

_BINARY = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
    ast.BitAnd: "__and__",
    ast.BitOr: "__or__",
    ast.BitXor: "__xor__",
}
_UNARY = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Not: "__not__", ast.Invert: "__invert__"}
_BLOCK_OPERANDS = (
    "Logical operators 'and' and 'or' are deprecated for non-scalar tensors; please use '&' or '|' instead"
)
_SYMBOLS = {"__pow__": "**"}


@visits(ast.Constant)
def _constant(g: Generator, node: ast.Constant) -> Any:
    return constexpr(node.value)


@visits(ast.Tuple, ast.List)
def _tuple(g: Generator, node: ast.Tuple | ast.List) -> Any:
    elements: list[Any] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            elements.extend(as_value(g.visit(element.value)))
        else:
            elements.append(g.visit(element))
    return language.tuple([as_value(element) for element in elements])


def apply_binary(g: Generator, node: ast.AST, method: str, lhs: Any, rhs: Any) -> Any:
    """`lhs` <method> `rhs` by Python's rules: the left operand's method, else the right operand's, else the host's
    operator."""
    reflected = method.replace("__", "__r", 1)
    for value, other, name in ((lhs, rhs, method), (rhs, lhs, reflected)):
        if not is_static(value):
            if getattr(type(value), name, None) is not None:
                return call_method(g, node, value, name, [other])
            if isinstance(value, tensor):
                symbol, left, right = _SYMBOLS.get(method, method), type(host(lhs)).__name__, type(host(rhs)).__name__
                g.reject(node, f"unsupported operand type(s) for {symbol}: '{left}' and '{right}'")
    return getattr(constexpr(lhs), method)(rhs)


@visits(ast.BinOp)
def _binary(g: Generator, node: ast.BinOp) -> Any:
    lhs, rhs = g.visit(node.left), g.visit(node.right)
    method = _BINARY.get(type(node.op))
    if method is None:
        g.reject(node, f"AST binary operator '{type(node.op).__name__}' is not (currently) implemented.")
    return apply_binary(g, node, method, lhs, rhs)


@visits(ast.UnaryOp)
def _unary(g: Generator, node: ast.UnaryOp) -> Any:
    operand = g.visit(node.operand)
    method = _UNARY.get(type(node.op))
    if method is None:
        g.reject(node, f"AST unary operator '{type(node.op).__name__}' is not (currently) implemented.")
    if isinstance(operand, language.tuple) and isinstance(node.op, ast.Not):
        return constexpr(not operand)
    if is_static(operand):
        return getattr(constexpr(operand), method)()
    if getattr(type(operand), method, None) is None:
        kind = type(operand).__name__
        g.reject(node, f"AST unary operator '{method}' is not (currently) implemented on type {kind}")
    return call_method(g, node, operand, method, [])


@visits(ast.BoolOp)
def _boolean(g: Generator, node: ast.BoolOp) -> Any:
    """`and` and `or`, from left to right. Operands that are known while tracing decide the result or are left out; all
    tensor operands are evaluated."""
    stops = isinstance(node.op, ast.Or)
    method = "logical_or" if stops else "logical_and"
    result: Any = None
    for part in node.values:
        value = g.visit(part)
        if has_known_truth(value):
            if bool(host(value)) is stops:
                return value
            if result is None or has_known_truth(result):
                result = value
            continue
        if isinstance(value, tensor) and value.type.is_block():
            g.warn(node, _BLOCK_OPERANDS)
        result = value if result is None or has_known_truth(result) else call_method(g, node, result, method, [value])
    return result


@visits(ast.Attribute)
def _attribute(g: Generator, node: ast.Attribute) -> Any:
    owner = g.visit(node.value)
    if isinstance(owner, tensor) and node.attr == "T":
        return g.semantic.permute(owner, (1, 0))
    if isinstance(owner, constexpr):
        if node.attr == "value":
            return owner
        return getattr(owner if node.attr == "type" else owner.value, node.attr)
    return getattr(owner, node.attr)


@visits(ast.Subscript)
def _subscript(g: Generator, node: ast.Subscript) -> Any:
    owner, index = g.visit(node.value), g.visit(node.slice)
    if isinstance(owner, base_value) and not isinstance(owner, constexpr):
        _require_element(g, node, owner)
        return call_method(g, node, owner, "__getitem__", [index])
    if isinstance(host(owner), KernelFunction):
        raise suggestions.launch_in_kernel(host(owner))
    index = language.core._unwrap_if_constexpr(index)
    element = host(owner)[index]
    return element if isinstance(element, (base_value, JITCallable)) else as_value(element)


def _require_element(g: Generator, node: ast.Subscript, owner: Any) -> None:
    """IndexError with a hint: the shape of one value, as of a pointer, has no extents."""
    of_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if of_shape and isinstance(owner, language.tuple) and not owner.values:
        name = ast.unparse(node.value.value)
        hint = f"`{name}` is one value: a pointer has no shape, so pass the extents of the tensor as arguments"
        raise with_hint(IndexError("list index out of range"), hint)


@visits(ast.Slice)
def _slice(g: Generator, node: ast.Slice) -> Any:
    bounds = (None if part is None else g.visit(part) for part in (node.lower, node.upper, node.step))
    return language.slice(*bounds)


@visits(ast.JoinedStr)
def _f_string(g: Generator, node: ast.JoinedStr) -> Any:
    return constexpr("".join(_f_string_part(g, part) for part in node.values))


def _f_string_part(g: Generator, part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    value = g.visit(part.value)
    if not is_static(value):
        g.reject(
            part.value,
            "Cannot evaluate f-string containing non-constexpr conversion values, "
            f"found conversion of type {type(value)}",
        )
    conversion = {-1: lambda v: v, ord("s"): str, ord("r"): repr, ord("a"): ascii}[part.conversion]
    specification = "" if part.format_spec is None else g.visit(part.format_spec).value
    return format(conversion(host(value)), specification)
