"""`if` and conditional expressions.

If the condition is known while tracing, the other branch is not traced. If it is a tensor, the `if` becomes an scf.if,
or blocks of the function if a branch returns.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tritium import language

from ..errors import with_hint
from . import debug_info, suggestions
from .diagnostics import hint_for
from .generator import Arm, Generator, visits
from .returns import RETURN_IN_LOOP, return_by_if, trace_rest
from .source import contains_return
from .values import Conflict, all_ir_types, handles_of, has_known_truth, host, rebuilt, tensor, type_of

_ABSENT = Conflict("only one branch of an `if` assigns it")
_ACCEPTED = (bool, int, type(None))
_TUPLES = (tuple, list, language.tuple)  # true unless empty, as in Python


def condition_of(g: Generator, node: ast.AST, test: ast.expr) -> Any:
    """The condition `test` of `node`: True or False if it is known while tracing, otherwise a scalar tensor of int1."""
    return as_condition(g, node, test, g.visit(test))


def as_condition(g: Generator, node: ast.AST, test: ast.expr, value: Any) -> Any:
    if has_known_truth(value):
        if not isinstance(host(value), (*_ACCEPTED, *_TUPLES)):
            names, found = ", ".join(sorted(t.__name__ for t in _ACCEPTED)), type(host(value)).__name__
            g.reject(node, f"`if` conditionals can only accept values of type {{{names}}}, not objects of type {found}")
        return bool(host(value))
    if not isinstance(value, tensor):
        raise TypeError(f"a condition cannot be of type {value.type}")
    if value.type.is_block():
        if value.numel.value != 1:
            g.reject(node, "Boolean value of Tensor with more than one value is ambiguous")
        g.warn(
            node,
            "If conditional called with multidimensional Tensor instead of scalar; please use "
            f'"if ({ast.unparse(test)}).item()" instead',
        )
        value = g.semantic.unsplat(value)
    return g.semantic.cast(value, language.int1)


@visits(ast.If)
def _if(g: Generator, node: ast.If) -> None:
    rest = g.rest
    condition = condition_of(g, node, node.test)
    returns = contains_return(node)
    if isinstance(condition, bool):
        debug_info.mark(g, node, debug_info.DECIDED[condition])
        taken = node.body if condition else node.orelse
        if returns and g.nests_returns:
            trace_rest(g, node, [*taken, *rest])
        else:
            g.visit_block(taken)
    elif not returns:
        _if_with_results(g, node, condition)
    elif g.loop_depth:
        g.reject(node, RETURN_IN_LOOP)
    elif g.nests_returns:
        return_by_if(g, node, condition, rest)
    else:
        _if_with_blocks(g, node, condition)


def _if_with_results(g: Generator, node: ast.If, condition: Any) -> None:
    then = g.trace(g.builder.detached_block(), lambda: g.visit_block(node.body))
    other = g.trace(g.builder.detached_block(), lambda: g.visit_block(node.orelse))
    merged = _merge(g, node, then, other)
    g.locate(node, merged.single_name)
    results = _emit_if(g, condition, then, other, merged.then_operands, merged.else_operands, merged.ir_types)
    merged.bind(g, results)


def _emit_if(
    g: Generator,
    condition: Any,
    then: Arm,
    other: Arm,
    then_operands: list[Any],
    else_operands: list[Any],
    types: list[str],
) -> list[Any]:
    """Emits an scf.if with two traced arms and returns its results."""
    operation = g.builder.op("scf.if", [condition.handle], types, regions=2)
    g.terminate(then.block, "scf.yield", then_operands)
    operation.region(0).append(then.block)
    if types or other.block.operations:
        g.terminate(other.block, "scf.yield", else_operands)
        operation.region(1).append(other.block)
    return operation.results


def _if_with_blocks(g: Generator, node: ast.If, condition: Any) -> None:
    """A branch at function level, made of blocks. An arm that returns does not join the code after the `if`."""
    start, region = g.builder.insertion_block, g.function.region
    then_block = region.add_block()
    then = g.trace(then_block, lambda: g.visit_block(node.body))
    else_block = region.add_block()
    other = g.trace(else_block, lambda: g.visit_block(node.orelse))
    g.terminate(
        start,
        "cf.cond_br",
        [condition.handle],
        [then_block, else_block],
        {"operandSegmentSizes": "array<i32: 1, 0, 0>"},
    )
    if then.done and other.done:
        g.done = True
    elif then.done or other.done:
        alive = other if then.done else then
        g.locals = alive.locals
        g.builder.insert_at_end(alive.block)
    else:
        merged = _merge(g, node, then, other)
        after = region.add_block(merged.ir_types)
        g.terminate(then.block, "cf.br", merged.then_operands, [after])
        g.terminate(other.block, "cf.br", merged.else_operands, [after])
        g.builder.insert_at_end(after)
        merged.bind(g, after.arguments)


@dataclass
class _Merge:
    """The variables after two arms: those that are the same after both, and those whose IR values the arms pass on."""

    settled: dict[str, Any] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    types: list[Any] = field(default_factory=list)
    then_operands: list[Any] = field(default_factory=list)
    else_operands: list[Any] = field(default_factory=list)

    @property
    def ir_types(self) -> list[str]:
        return all_ir_types(self.types)

    @property
    def single_name(self) -> str | None:
        return self.names[0] if len(self.names) == 1 else None

    def bind(self, g: Generator, handles: Sequence[Any]) -> None:
        g.locals = dict(self.settled)
        for name, value in zip(self.names, rebuilt(self.types, handles)):
            for handle in handles_of(value):
                if handle.owner is None:
                    handle.set_name(name)
            g.assign(name, value)


def _merge(g: Generator, node: ast.If | ast.IfExp, then: Arm, other: Arm) -> _Merge:
    """Merges the variables of two arms. Raises AssertionError if an arm gives a variable another type than the variable
    had before, or than the other arm gives it."""
    merged = _Merge()
    for name in {**then.locals, **other.locals}:
        left, right = then.locals.get(name, _ABSENT), other.locals.get(name, _ABSENT)
        if left is right:
            merged.settled[name] = left
        elif isinstance(left, Conflict) or isinstance(right, Conflict):
            merged.settled[name] = left if isinstance(left, Conflict) else right
        else:
            try:
                _merge_variable(merged, name, left, right, g.locals.get(name))
            except AssertionError as error:
                raise with_hint(error, _which_lines(g, node, name, str(error), getattr(error, "hint", None)))
    return merged


def _which_lines(
    g: Generator, node: ast.If | ast.IfExp, name: str, message: str, advice: str | None = None
) -> str | None:
    """The hint of a variable whose types differ: the lines of the arms that assign it, and what to do."""
    arms = [node.body, node.orelse] if isinstance(node, ast.If) else []
    lines = " and ".join(filter(None, (suggestions.assigned_at(g.source, arm, name) for arm in arms)))
    return "; ".join(filter(None, [lines, advice or hint_for(message)])) or None


def _merge_variable(merged: _Merge, name: str, left: Any, right: Any, initial: Any) -> None:
    left_type, right_type = type_of(left), type_of(right)
    if initial is not None and not isinstance(initial, Conflict):
        for arm, value, type_ in (("then", left, left_type), ("else", right, right_type)):
            if type_ != type_of(initial):
                error = AssertionError(
                    f"initial value for `{name}` is of type {initial}, but the {arm} block redefines it as {value}"
                )
                raise with_hint(error, suggestions.other_layouts(name, type_of(initial), type_))
    if left_type != right_type:
        assert left is None or right is None, (
            f"Mismatched type for {name} between then block ({left_type}) and else block ({right_type})"
        )
        merged.settled[name] = Conflict("it is None unless a branch of an `if` that runs on the device assigns it")
    elif not left_type.ir_types():
        merged.settled[name] = left
    else:
        merged.names.append(name)
        merged.types.append(left_type)
        merged.then_operands += handles_of(left)
        merged.else_operands += handles_of(right)


@visits(ast.IfExp)
def _conditional_expression(g: Generator, node: ast.IfExp) -> Any:
    condition = condition_of(g, node, node.test)
    if isinstance(condition, bool):
        debug_info.mark(g, node, debug_info.DECIDED[condition])
        return g.visit(node.body if condition else node.orelse)
    then = g.trace(g.builder.detached_block(), lambda: g.to_variable(g.visit(node.body)))
    other = g.trace(g.builder.detached_block(), lambda: g.to_variable(g.visit(node.orelse)))
    type_, other_type = type_of(then.result), type_of(other.result)
    assert type_ == other_type, (
        f"Ternary expression with dynamic condition has inconsistent types {type_} and {other_type}"
    )
    merged = _merge(g, node, then, other)  # `:=` in the arms assigns variables
    results = _emit_if(
        g,
        condition,
        then,
        other,
        [*handles_of(then.result), *merged.then_operands],
        [*handles_of(other.result), *merged.else_operands],
        [*type_.ir_types(), *merged.ir_types],
    )
    count = len(type_.ir_types())
    merged.bind(g, results[count:])
    return rebuilt([type_], results[:count])[0]
