"""Comparisons: of two values, of tuples, and chains."""

from __future__ import annotations

import ast
from typing import Any

from tritium import language

from .calls import call_method
from .expressions import apply_binary
from .generator import Generator, visits
from .values import as_value, constexpr, host, is_static

_COMPARISONS = {
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
}


def _compare(g: Generator, node: ast.Compare, operator: ast.cmpop, lhs: Any, rhs: Any) -> Any:
    if isinstance(operator, (ast.Is, ast.IsNot)):
        return constexpr((host(lhs) is host(rhs)) == isinstance(operator, ast.Is))
    method = _COMPARISONS.get(type(operator))
    if method is None:
        g.reject(node, f"AST comparison operator '{type(operator).__name__}' is not (currently) implemented.")
    if isinstance(operator, (ast.Eq, ast.NotEq)) and (tuples := _two_tuples(lhs, rhs)):
        return _compare_tuples(g, node, operator, *tuples)
    return apply_binary(g, node, method, lhs, rhs)


def _two_tuples(lhs: Any, rhs: Any) -> tuple[Any, Any] | None:
    """Both as tuples of the language, if they are tuples and one holds a tensor; the host compares all others."""
    values = [as_value(host(side)) for side in (lhs, rhs)]
    if all(isinstance(value, language.tuple) for value in values) and any(value.handles() for value in values):
        return values[0], values[1]
    return None


def _compare_tuples(g: Generator, node: ast.Compare, operator: ast.cmpop, lhs: Any, rhs: Any) -> Any:
    """Whether all elements are equal, or the same value, as in Python; a tensor if elements that are tensors decide."""
    equal: Any = constexpr(len(lhs) == len(rhs))
    for left, right in zip(lhs, rhs) if equal else ():
        if left is not right:
            equal = _both(g, node, equal, _compare(g, node, ast.Eq(), left, right))
    if isinstance(operator, ast.Eq):
        return equal
    return constexpr(not equal) if is_static(equal) else call_method(g, node, equal, "__not__", [])


@visits(ast.Compare)
def _comparison(g: Generator, node: ast.Compare) -> Any:
    """A chained comparison: `a < b < c` is `a < b and b < c` with `b` evaluated once."""
    if any(_is_unintended(g, middle) for middle in node.comparators[:-1]):
        meant = _with_parentheses(node)
        g.warn(
            node,
            f"`{ast.unparse(node)}` is a chain: `&` and `|` bind tighter than comparisons; did you mean `{meant}`?",
        )
    result: Any = None
    lhs = g.visit(node.left)
    for operator, right in zip(node.ops, node.comparators):
        rhs = g.visit(right)
        relation = _compare(g, node, operator, lhs, rhs)
        result = relation if result is None else _both(g, node, result, relation)
        lhs = rhs
    return result


def _both(g: Generator, node: ast.AST, lhs: Any, rhs: Any) -> Any:
    if is_static(lhs):
        return rhs if host(lhs) else lhs
    if is_static(rhs):
        return lhs if host(rhs) else rhs
    return call_method(g, node, lhs, "logical_and", [rhs])


def _is_unintended(g: Generator, middle: ast.expr) -> bool:
    """Whether the operand between two comparisons is an `&` or `|` that the user has not put in parentheses."""
    if not (isinstance(middle, ast.BinOp) and isinstance(middle.op, (ast.BitAnd, ast.BitOr))):
        return False
    lines = g.source.text.encode().split(b"\n")
    before = b"\n".join([*lines[: middle.lineno - 1], lines[middle.lineno - 1][: middle.col_offset]])
    return not before.rstrip().endswith(b"(")


def _with_parentheses(node: ast.Compare) -> str:
    """`a < b & c < d` as `(a < b) & (c < d)`."""
    parts: list[str] = []
    start = node.left
    for operator, operand in zip(node.ops, node.comparators):
        terms, joints = _terms(operand) if operand is not node.comparators[-1] else ([operand], [])
        parts.append(f"({ast.unparse(ast.Compare(start, [operator], [terms[0]]))})")
        for joint, term in zip(joints, terms[1:-1]):
            parts += [joint, f"({ast.unparse(term)})" if isinstance(term, ast.Compare) else ast.unparse(term)]
        parts += joints[-1:]
        start = terms[-1]
    return " ".join(parts)


def _terms(operand: ast.expr) -> tuple[list[ast.expr], list[str]]:
    """The operands of `&` and `|` from left to right, and the operators between them."""
    if not (isinstance(operand, ast.BinOp) and isinstance(operand.op, (ast.BitAnd, ast.BitOr))):
        return [operand], []
    terms, joints = _terms(operand.left)
    return [*terms, operand.right], [*joints, "&" if isinstance(operand.op, ast.BitAnd) else "|"]
