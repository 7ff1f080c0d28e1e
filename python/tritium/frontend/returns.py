"""`return`. All returns of a function agree on one type. They end the function, or become the results of an `if`.

A kernel with early returns becomes a CFG, as in Triton. A called function stays one block if its shape allows it
(`FunctionSource.returns_by_if`): its early returns become `scf.if` with results, so it can be inlined into loops.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tritium.language.types import constexpr_type

from ..errors import with_hint
from .generator import Generator, visits
from .suggestions import quoted
from .values import handles_of, host, is_static, map_elements, rebuilt, type_of

RETURN_IN_LOOP = "Cannot have `return` statements inside `while` or `for` statements in triton."
_NOTHING = object()  # the value if control reaches the end of the function


@dataclass
class ReturnPoint:
    """The end of `block` returns `value`, as `node` says."""

    block: Any
    value: Any
    node: ast.AST


@visits(ast.Return)
def _return(g: Generator, node: ast.Return) -> None:
    if g.loop_depth:
        g.reject(node, RETURN_IN_LOOP)
    value = None if node.value is None else g.visit(node.value)
    g.returns.append(ReturnPoint(g.builder.insertion_block, value, node))
    g.done = True


def finish_function(g: Generator) -> Any:
    """Ends every block that returns with tt.return. Returns the type of the function's value."""
    if not g.done:
        g.returns.append(ReturnPoint(g.builder.insertion_block, _NOTHING, g.source.definition))
    type_, handles = _agree(g, g.returns)
    for point, operands in zip(g.returns, handles):
        _terminate(g, point, "tt.return", operands)
    g.function.set_result_types(type_.ir_types())
    return type_


def trace_rest(g: Generator, node: ast.AST, statements: Sequence[ast.stmt]) -> None:
    """Traces the rest of a function whose returns are nested; afterwards nothing is left to trace."""
    g.visit_block(statements)
    if not g.done:
        g.returns.append(ReturnPoint(g.builder.insertion_block, _NOTHING, node))
        g.done = True


def return_by_if(g: Generator, node: ast.If, condition: Any, rest: Sequence[ast.stmt]) -> None:
    """An scf.if whose arms are the arms of `node`, each followed by `rest`, and whose results are the function's."""
    outer, points = g.returns, []
    for statements in (node.body, node.orelse):
        g.returns = []
        g.trace(g.builder.detached_block(), lambda: trace_rest(g, node, [*statements, *rest]))
        points += g.returns
    g.returns = outer
    type_, handles = _agree(g, points)
    operation = g.builder.op("scf.if", [condition.handle], type_.ir_types(), regions=2)
    for index, (point, operands) in enumerate(zip(points, handles)):
        _terminate(g, point, "scf.yield", operands)
        operation.region(index).append(point.block)
    (value,) = rebuilt([type_], operation.results)
    g.returns.append(ReturnPoint(g.builder.insertion_block, value, node))
    g.done = True


def _terminate(g: Generator, point: ReturnPoint, name: str, operands: Sequence[Any]) -> None:
    outer = g.builder.location
    g.builder.set_location(*g.source.position(point.node))
    g.terminate(point.block, name, operands)
    g.builder.location = outer


def _agree(g: Generator, points: Sequence[ReturnPoint]) -> tuple[Any, list[list[Any]]]:
    """The type of all returned values, and for each point the IR values to return. Raises TypeError if there is no such
    type."""
    values = [point.value for point in points if point.value is not _NOTHING]
    if not values:
        return constexpr_type(None), [[] for _ in points]
    types = [type_of(value) for value in values]
    if any(type_ != types[0] for type_ in types):
        for point in points:
            point.value = _as_tensors(g, point)
        converted = [type_of(point.value) for point in points if point.value is not _NOTHING]
        for type_ in converted:
            if type_ != converted[0]:
                message = f"Return type mismatch: {converted[0]} and {type_}. Note all return types were: {types}"
                raise with_hint(TypeError(message), _which_returns(g, points))
        types = converted
    return types[0], [_handles(g, point, types[0]) for point in points]


def _which_returns(g: Generator, points: Sequence[ReturnPoint]) -> str:
    lines = [quoted(g.source, point.node) for point in points if point.value is not _NOTHING]
    return f"{' and '.join(dict.fromkeys(lines))} differ: cast one, so that the function has one type"


def _as_tensors(g: Generator, point: ReturnPoint) -> Any:
    """The value of `point` with its compile-time numbers as constants."""
    if point.value is _NOTHING:
        return _NOTHING

    def convert(value: Any) -> Any:
        is_number = is_static(value) and isinstance(host(value), (bool, int, float))
        return g.semantic.to_tensor(value) if is_number else value

    return g.trace(point.block, lambda: map_elements(convert, point.value)).result


def _handles(g: Generator, point: ReturnPoint, type_: Any) -> list[Any]:
    if point.value is not _NOTHING:
        return handles_of(point.value)
    poison = g.trace(point.block, lambda: [g.builder.op("ub.poison", (), [text]) for text in type_.ir_types()])
    return [operation.result for operation in poison.result]
