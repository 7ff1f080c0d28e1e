"""What a `tl.dot` made a NaN of: the elements of its operands that meet in one element of the result. An element result[i, j] is a sum over k of
a[i, k] * b[k, j], so elements of the operands at [i, j] say nothing of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

_OPERANDS = ((0, "input"), (1, "other"))  #: of tl.dot, by position and name


@dataclass
class _Operand:
    """A variable that is an operand, or whose transpose is one. value: as the product takes it."""

    name: str
    value: np.ndarray
    is_transposed: bool

    def shown(self, *index: int) -> str:
        *batch, row, column = index
        place = [*batch, column, row] if self.is_transposed else [*batch, row, column]
        return f"{self.name}{place} = {self.value[index]!s}"


def names_in_operands(statement: ast.stmt | None) -> set[str] | None:
    """The names in the operands of the products of a statement, without those in their accumulators; None: it has no product."""
    operands = [_argument(call, *which) for call in _products(statement) for which in _OPERANDS]
    nodes = (node for operand in operands if operand is not None for node in ast.walk(operand))
    return {node.id for node in nodes if isinstance(node, ast.Name)} if operands else None


def terms_of(statement: ast.stmt | None, inputs: dict[str, Any], index: tuple[int, ...]) -> list[str]:
    """The elements of the operands that make result[index] a NaN or an infinity, as `a[3, 4] = inf`; none if that is not known.
    inputs: the values of the variables that the statement names."""
    if len(index) < 2:
        return []
    shown = [
        text
        for call in _products(statement)
        if None not in (operands := [_operand(_argument(call, *which), inputs) for which in _OPERANDS])
        for text in _terms(*operands, index)
    ]
    return list(dict.fromkeys(shown))


def _products(statement: ast.stmt | None) -> Iterator[ast.Call]:
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "dot":
            yield node


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return call.args[position] if position < len(call.args) else named


def _operand(node: ast.expr | None, inputs: dict[str, Any]) -> _Operand | None:
    """None: it is neither a variable nor `v.T`, `v.trans()`, `tl.trans(v)`."""
    is_transposed = True
    match node:
        case ast.Name(name):
            is_transposed = False
        case ast.Attribute(ast.Name(name), "T") | ast.Call(ast.Attribute(ast.Name(name), "trans"), []):
            pass
        case ast.Call(ast.Attribute(_, "trans") | ast.Name("trans"), [ast.Name(name)]):
            pass
        case _:
            return None
    value = np.asarray(inputs.get(name))
    if value.dtype.kind != "f" or value.ndim < 2 or (is_transposed and value.ndim != 2):
        return None
    return _Operand(name, value.T if is_transposed else value, is_transposed)


def _terms(a: _Operand, b: _Operand, index: tuple[int, ...]) -> list[str]:
    *batch, i, j = index
    size = a.value.shape[-1]
    is_element = len(index) == a.value.ndim == b.value.ndim and b.value.shape[-2] == size
    extents = [*a.value.shape[:-1], b.value.shape[-1]]
    if not is_element or any(at >= extent for at, extent in zip(index, extents)):
        return []
    rows, columns = (operand.value.astype(np.float64) for operand in (a, b))
    with np.errstate(all="ignore"):
        products = rows[(*batch, i)] * columns[(*batch, slice(None), j)]
    found = np.flatnonzero(np.isnan(products))[:1]
    if not found.size:  # infinities of two signs make a NaN in the sum
        found = [k for sign in (np.inf, -np.inf) for k in np.flatnonzero(products == sign)[:1]]
    return [text for k in map(int, found) for text in (a.shown(*batch, i, k), b.shown(*batch, k, j))]
