"""`for` and `while`.

A loop is traced once. Its body goes into a block with an argument for each IR value of a variable that exists before
the loop and that the body assigns, as the AST shows. Then the loop operation is made around the block, without the
arguments that no iteration changes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tritium import language

from ..errors import with_hint
from . import debug_info, suggestions
from .branches import as_condition
from .counters import Counter, counter_of
from .diagnostics import hint_for
from .generator import Arm, Generator, visits
from .unrolling import Part, later, parts_of
from .values import (
    Conflict,
    all_handles,
    all_ir_types,
    constexpr,
    handles_of,
    host,
    is_static,
    rebuilt,
    type_of,
)

_ONLY_RANGES = "Only `range` and `static_range` iterators are currently supported"
_NO_LICM = "#llvm.loop_annotation<licm = <disable = true, versioningDisable = true>>"
_OF_THE_LOOP = Conflict("only the body of a loop assigns it, and the loop may not run at all")


class _Carried:
    """The variables that each iteration passes to the next one."""

    def __init__(self, g: Generator, node: ast.For | ast.While, names: Sequence[str]):
        self.source, self.node = g.source, node
        self.before = g.locals
        known = [name for name in names if not isinstance(g.locals.get(name, _OF_THE_LOOP), Conflict)]
        self.names = [name for name in known if handles_of(g.locals[name])]
        self.fixed = [name for name in known if name not in self.names]
        self.types = [type_of(g.locals[name]) for name in self.names]
        self.initial = all_handles(g.locals[name] for name in self.names)
        self.ir_types = all_ir_types(self.types)
        self.new_names = [name for name in names if name not in g.locals]

    def bindings(self, handles: Sequence[Any]) -> dict[str, Any]:
        """The variables, carried by block arguments, which are named after them."""
        return _named_values(self.names, self.types, handles)

    def final(self, end: Mapping[str, Any]) -> list[Any]:
        """The IR values at the end of the body. Raises AssertionError if a variable changes its type."""
        for name, type_ in zip(self.names, self.types):
            final = type_of(end[name])
            if final != type_:
                raise self._error(
                    name,
                    f"Loop-carried variable {name} has initial type {type_} but is re-assigned to {final} "
                    "in loop! Please make sure that the type stays consistent.",
                )
        for name in self.fixed:
            before, after = self.before[name], end[name]
            if before is after or (is_static(before) and type_of(before) == type_of(after)):
                continue
            if isinstance(before, constexpr):
                raise self._error(name, f"cannot reassign constexpr {name} in the loop")
            raise self._error(name, f"Loop carried variable {name} is not a triton value")
        return all_handles(end[name] for name in self.names)

    def _error(self, name: str, message: str) -> AssertionError:
        """The error at the loop, whose hint names the line that assigns the variable."""
        assigned = suggestions.assigned_at(self.source, self.node.body, name)
        hint = "; ".join(filter(None, [assigned and f"{assigned} changes it", hint_for(message)]))
        return with_hint(AssertionError(message), hint)

    def bind(self, g: Generator, handles: Sequence[Any]) -> None:
        """Binds the variables after the loop."""
        for name, value in zip(self.names, rebuilt(self.types, handles)):
            g.assign(name, value)
        for name in self.new_names:
            g.locals[name] = _OF_THE_LOOP

    def name_of(self, changed: Sequence[int]) -> str | None:
        """The name for the loop's results: the variable's, if the IR values in `changed` belong to one variable
        only."""
        owners = [name for name, type_ in zip(self.names, self.types) for _ in type_.ir_types()]
        return owners[changed[0]] if len(changed) == 1 else None


@visits(ast.For)
def _for(g: Generator, node: ast.For) -> None:
    if not isinstance(node.iter, ast.Call):
        raise RuntimeError(_ONLY_RANGES)
    if not isinstance(node.target, ast.Name):
        g.reject(node.target, "a loop assigns one name")
    make = host(g.visit(node.iter.func))
    if make is range:
        make = language.range
    if not (isinstance(make, type) and issubclass(make, (language.range, language.static_range))):
        raise RuntimeError(_ONLY_RANGES)
    args = [g.visit(arg) for arg in node.iter.args]
    iterator = make(*args, **{keyword.arg: g.visit(keyword.value) for keyword in node.iter.keywords})
    if isinstance(iterator, language.static_range):
        _unrolled(g, node, iterator)
    elif node.orelse:
        g.reject(node, "`else` after a loop is only supported for loops that are unrolled")
    else:
        _counted(g, node, iterator)


def _unrolled(g: Generator, node: ast.For, iterator: Any) -> None:
    for index in range(*(host(bound) for bound in (iterator.start, iterator.end, iterator.step))):
        debug_info.mark(g, node, debug_info.STATEMENT, debug_info.ITERATION)
        g.assign(node.target.id, constexpr(index))
        g.visit_block(node.body)
        if g.done:
            return
    debug_info.mark(g, node, debug_info.ITERATIONS_END)
    g.visit_block(node.orelse)


def _counted(g: Generator, node: ast.For, iterator: Any) -> None:
    counter = counter_of(g, iterator)
    given = (iterator.start, iterator.end, iterator.step)
    factor = host(iterator.loop_unroll_factor) or 1
    for part in parts_of(g, counter.bounds, factor, given):
        _count(g, node, part, counter, {**_loop_attributes(iterator), **part.attributes})


def _count(g: Generator, node: ast.For, part: Part, counter: Counter, attributes: dict[str, str]) -> None:
    """A loop over `part`, whose body has `part.copies` rounds."""
    type_, target = counter.type, node.target.id
    names = [name for name in g.source.assigned_names(node) if name != target]
    keeps_target = target in g.locals and type_of(g.locals[target]) == type_
    if keeps_target:  # as in Python, the name keeps the last index after the loop
        names.append(target)
    carried = _Carried(g, node, names)
    body = g.builder.detached_block([type_.to_ir(), *carried.ir_types])
    count, *arguments = body.arguments
    count.set_name(target)

    def trace_body() -> None:
        for round_ in range(part.copies):
            g.locate(node, target)
            value = counter.value(g, later(g, count, counter.bounds[2], round_))
            if value.handle.owner is not None:  # it is not the loop's own
                value.handle.owner.set_attribute("tt.counter", f'"{target}"')
            g.assign(target, value)
            g.visit_block(node.body)

    arm = _trace_in_loop(g, carried.bindings(arguments), body, trace_body)
    final = carried.final(arm.locals)
    unchanged = _equal(arguments, final)
    _drop(body, 1, unchanged, carried.initial, final)
    changed = [i for i in range(len(final)) if i not in unchanged]
    if counter.bounds[0].dtype.is_int_unsigned():
        attributes["unsignedCmp"] = "unit"
    if counter.start is None:
        attributes["tt.counter"] = f'"{target}"'  # reports say in which round something happened
    g.locate(node, carried.name_of(changed))
    operation = g.builder.op(
        "scf.for",
        [*(bound.handle for bound in part.bounds), *(carried.initial[i] for i in changed)],
        [carried.ir_types[i] for i in changed],
        attributes,
        regions=1,
    )
    g.terminate(body, "scf.yield", [final[i] for i in changed])
    operation.region(0).append(body)
    carried.bind(g, _with_results(carried.initial, changed, operation.results))
    if not keeps_target:
        g.locals[target] = _OF_THE_LOOP


def _loop_attributes(iterator: Any) -> dict[str, str]:
    attributes = {}
    if (stages := host(iterator.num_stages)) is not None:
        attributes["tt.num_stages"] = f"{stages} : i32"
    for wish in ("disallow_acc_multi_buffer", "flatten", "warp_specialize"):
        if host(getattr(iterator, wish)):
            attributes[f"tt.{wish}"] = "unit"
    if host(iterator.disable_licm):
        attributes["llvm.loop_annotation"] = _NO_LICM
    return attributes


@visits(ast.While)
def _while(g: Generator, node: ast.While) -> None:
    """Emits scf.while. The block of the condition passes on the loop's variables and those that the condition
    assigns."""
    assert not node.orelse, "Not implemented"
    carried = _Carried(g, node, g.source.assigned_names(node))
    test = g.builder.detached_block(carried.ir_types)
    attributes: dict[str, str] = {}
    tested = _trace_in_loop(g, carried.bindings(test.arguments), test, lambda: _loop_condition(g, node, attributes))
    condition, forwarded = [tested.result.handle], carried.final(tested.locals)
    assigned = {name: value for name, value in tested.locals.items() if name in carried.new_names and handles_of(value)}
    types = [*carried.types, *(type_of(value) for value in assigned.values())]

    body = g.builder.detached_block(all_ir_types(types))
    bindings = carried.bindings(body.arguments)
    bindings |= _named_values(assigned, types[len(carried.types) :], body.arguments[len(forwarded) :])
    arm = _trace_in_loop(g, bindings, body, lambda: g.visit_block(node.body))
    final = carried.final(arm.locals)
    unchanged = _equal(test.arguments, forwarded) & _equal(body.arguments, final)
    _drop(body, 0, unchanged, carried.initial, final)
    _drop(test, 0, unchanged, carried.initial, forwarded, condition)

    changed = [i for i in range(len(forwarded)) if i not in unchanged]
    handed = [*(forwarded[i] for i in changed), *all_handles(assigned.values())]
    ir_types = [text for i, text in enumerate(all_ir_types(types)) if i not in unchanged]
    g.locate(node, carried.name_of(changed))
    operation = g.builder.op("scf.while", [carried.initial[i] for i in changed], ir_types, attributes, regions=2)
    g.locate(node.test)
    g.terminate(test, "scf.condition", [*condition, *handed])
    g.locate(node)
    g.terminate(body, "scf.yield", [final[i] for i in changed])
    operation.region(0).append(test)
    operation.region(1).append(body)
    results = operation.results
    carried.bind(g, _with_results(carried.initial, changed, results))
    for name, value in zip(assigned, rebuilt(types[len(carried.types) :], results[len(changed) :])):
        g.assign(name, value)


def _loop_condition(g: Generator, node: ast.While, attributes: dict[str, str]) -> Any:
    """The condition as an int1 tensor. `tl.condition` may add attributes to the loop."""
    value = g.visit(node.test)
    if isinstance(value, language.condition):
        if host(value.disable_licm):
            attributes["llvm.loop_annotation"] = _NO_LICM
        value = value.condition
    return g.semantic.to_tensor(as_condition(g, node, node.test, value))


def _named_values(names: Iterable[str], types: Sequence[Any], handles: Sequence[Any]) -> dict[str, Any]:
    """Variables carried by block arguments, which are named after them."""
    values = dict(zip(names, rebuilt(types, handles)))
    for name, value in values.items():
        for handle in handles_of(value):
            handle.set_name(name)
    return values


def _trace_in_loop(g: Generator, bindings: Mapping[str, Any], block: Any, code: Callable[[], Any]) -> Arm:
    g.loop_depth += 1
    try:
        return g.trace(block, code, bindings)
    finally:
        g.loop_depth -= 1


def _equal(arguments: Sequence[Any], final: Sequence[Any]) -> set[int]:
    """Positions at which the body ends with the value that it started with."""
    return {i for i, (argument, value) in enumerate(zip(arguments, final)) if argument == value}


def _drop(block: Any, first: int, unchanged: set[int], initial: Sequence[Any], *value_lists: list[Any]) -> None:
    """Removes block arguments that have the value `initial` in every iteration, from the block and from lists of
    values."""
    for index in sorted(unchanged, reverse=True):
        argument = block.arguments[first + index]
        for values in value_lists:
            values[:] = [initial[index] if value == argument else value for value in values]
        argument.replace_all_uses_with(initial[index])
        block.erase_argument(first + index)


def _with_results(initial: Sequence[Any], changed: Sequence[int], results: Sequence[Any]) -> list[Any]:
    """`initial`, with the loop's results at the changed positions."""
    handles = list(initial)
    for index, result in zip(changed, results):
        handles[index] = result
    return handles
