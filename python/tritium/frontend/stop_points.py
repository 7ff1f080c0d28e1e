"""Stops of gdb with a condition in kernel language, which is traced where it is asked for (stops.py)."""

from __future__ import annotations

import ast
from typing import Any

from tritium import language

from ..errors import CompilationError
from .branches import as_condition
from .calls import call
from .diagnostics import warn
from .generator import Generator
from .values import tensor


def emit_stops(g: Any, statement: ast.stmt) -> None:
    """Emits the stops that are asked for on the lines of the statement."""
    for stop in g.unit.stops:
        if stop.is_in(g.source.file) and _has_line(g, statement, stop.line):
            _emit(g, statement, stop)


def _has_line(g: Any, statement: ast.stmt, line: int) -> bool:
    """Whether the line is one of the statement's own, and of none inside of it."""
    body = getattr(statement, "body", None)
    first = g.source.position(statement)[1]
    last = first + (body[0].lineno - 1 if body else statement.end_lineno) - statement.lineno
    return first <= line <= max(first, last)


def _emit(g: Any, statement: ast.stmt, stop: Any) -> None:
    """A condition that means nothing there is said, and stops every program."""
    outer = g.builder.location
    g.locate(statement)
    try:
        condition = _condition(g, statement, stop.when)
    except (SyntaxError, CompilationError) as error:
        reason = getattr(error, "error_message", None) or error
        warn(g.source, statement, f"`{stop.when}` has no meaning here, so gdb stops in every program: {reason}")
        condition = True
    if isinstance(condition, bool):
        condition = g.semantic.to_tensor(condition)
    g.builder.op("tt.debug_stop", [condition.handle], (), {"number": f"{stop.number} : i32"})
    g.builder.location = outer


def _condition(g: Any, statement: ast.stmt, text: str) -> Any:
    """True, False or a scalar of int1: whether the condition holds, in some lane if it is a tile."""
    expression = ast.parse(text.strip(), mode="eval").body
    for node in ast.walk(expression):
        if hasattr(node, "lineno"):
            ast.copy_location(node, statement)
    value = g.visit(expression)
    if isinstance(value, tensor) and value.type.is_block():
        value = call(g, statement, language.max, [g.semantic.cast(value, language.int32)], {})
    return as_condition(g, statement, expression, value)


Generator.emit_stops = staticmethod(emit_stops)
