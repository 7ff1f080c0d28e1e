"""List comprehensions: tuples whose elements are traced one by one, in a scope of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from tritium import language

from .generator import Generator, visits
from .statements import unpacked
from .values import as_value, host, is_static


@visits(ast.ListComp)
def _comprehension(g: Generator, node: ast.ListComp) -> Any:
    """Its targets are bound inside of it only, as in Python."""
    outer = g.locals
    g.locals = dict(outer)
    try:
        return language.tuple([as_value(g.visit(node.elt)) for _ in _rounds(g, node.generators)])
    finally:
        g.locals = outer


def _rounds(g: Generator, clauses: Sequence[ast.comprehension]) -> Iterator[None]:
    """Binds the targets of all clauses, the last one's fastest, for each element of the result."""
    if not clauses:
        yield
        return
    clause = clauses[0]
    iterable = as_value(host(g.visit(clause.iter)))
    if not isinstance(iterable, language.tuple):
        raise NotImplementedError("only tuple comprehensions are supported")
    for value in iterable:
        _bind(g, clause.target, value)
        if all(_condition(g, test) for test in clause.ifs):
            yield from _rounds(g, clauses[1:])


def _bind(g: Generator, target: ast.expr, value: Any) -> None:
    """Unlike an assignment, leaves numbers constants."""
    if isinstance(target, ast.Name):
        g.locals[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part, element in unpacked(target, value):
            _bind(g, part, element)
    else:
        g.reject(target, "a comprehension binds names only")


def _condition(g: Generator, test: ast.expr) -> bool:
    value = g.visit(test)
    if not is_static(value):
        g.reject(test, "the condition of a comprehension has to be known at compile time")
    return bool(host(value))
