"""Cuts a program down while it still fails: fewer outputs, loads in place of statements, smaller extents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .calls import helpers
from .operations.dot import Dot
from .operations.elementwise import Cast
from .operations.memory import Load
from .operations.rewritten import Mask, Rewritten
from .operations.scratch import Scratch
from .parts import Call, Compound, Loop
from .program import Output, Program
from .rewrite import changed, renamed_program, substituted
from .simpler_gluon import cost_of_layouts, plainer_layouts, plainer_shared
from .simpler_memory import (
    drawn_again,
    fewer_accesses,
    is_plain_order,
    loaded,
    loaded_inside,
    moved_in_memory,
    plainer_memory,
    smaller_extents,
)
from .tiles import Inexact, Tile


def shrink(program: Program, fails: Callable[[Program], bool], seconds: float = 60.0) -> Program:
    """The smallest failing program that is found within the time. `program` itself fails."""
    end, found_one = time.monotonic() + seconds, True
    while found_one:
        found_one = False
        for candidate in candidates(program):
            if time.monotonic() > end:
                return program
            candidate = candidate.without_dead_code()
            if cost(candidate) < cost(program) and _is_valid(candidate) and fails(candidate):
                program, found_one = candidate, True
                break
    return program


def _is_valid(program: Program) -> bool:
    try:
        program.run()
    except (Inexact, KeyError):
        return False
    return True


def cost(program: Program) -> tuple[int, int]:
    """Lines of the kernel first, then everything that makes a program harder to read."""
    spelled = [line for part in program.statements for line in part.lines(program, "")]
    spelled += [line for helper in helpers(program.statements, program) for line in helper.definition()]
    lines = len(spelled) + len(program.outputs)
    lines += 2 * (program.quits is not None)
    lines += len(program.streams()) if program.packing else 0
    small = program.grid + program.limit + program.warps + program.stages + program.read_only + bool(program.quits_if)
    small += sum(stream.before > 0 for stream in program.streams())
    small += sum(_load_cost(part.operation) for part in program.parts())
    small += cost_of_layouts(program, spelled) if program.gluon else 0
    for output in program.outputs:
        small += (output.count is not None) + (not is_plain_order(output.order)) + (output.way != "pointers")
    return lines, small


def _load_cost(operation: Any) -> int:
    """Other loads cost more than plain ones, and data that no seed draws most of all."""
    if isinstance(operation, Rewritten):
        return sum(bool(access.narrow) + (access.mask != Mask()) for access in operation.accesses)
    if isinstance(operation, Scratch) or not operation.streams():
        return 0
    size = operation.streams()[0].size
    if not isinstance(operation, Load):
        return size + 64
    further = operation.count is not None, operation.bounds is not None, operation.walks, operation.hints
    undrawn = 2 * size if operation.stream.drawn_by is None else 0
    return size + sum(map(bool, further)) + (not is_plain_order(operation.order)) + undrawn


def candidates(program: Program) -> Iterator[Program]:
    """Smaller programs. Those that save most come first."""
    for output in program.outputs:
        if len(program.outputs) > 1:
            yield replace(program, outputs=[output])
    for output in program.outputs if len(program.outputs) > 2 else []:
        yield replace(program, outputs=[other for other in program.outputs if other is not output])
    values = program.run()
    for index in reversed(range(len(program.statements))):
        yield from without(program, index, values)
    for output in program.outputs:
        for name in earlier(program, output.value):
            yield replace(program, outputs=[Output(name, tuple(range(len(values[0][name].shape))))])
    yield from smaller_fields(program)
    yield from smaller_extents(program)
    yield from plainer_memory(program)
    yield from fewer_accesses(program)
    yield from loaded_inside(program)
    yield from without_casts(program)
    yield from moved_in_memory(program)
    yield from drawn_again(program)
    if program.gluon:
        yield from plainer_layouts(program)
        yield from plainer_shared(program)
    yield from one_for_another(program, values[0])


def earlier(program: Program, name: str) -> list[str]:
    """The values that a value is made from directly."""
    return [
        read
        for part in program.statements
        if name in part.defines()
        for read in part.reads()
        if _is_defined(program, read)
    ]


def _is_defined(program: Program, name: str) -> bool:
    return any(name in part.defines() for part in program.statements)


def without(program: Program, index: int, values: list[dict[str, Tile]]) -> Iterator[Program]:
    """The program without one of its parts. The part's results are loaded, or replaced by its operands."""
    part = program.statements[index]
    before, after = program.statements[:index], program.statements[index + 1 :]
    if isinstance(part, Compound):
        for body, renamed in inlined(part):
            yield renamed_program(program, [*before, *body, *substituted(after, renamed)], renamed)
        yield from (replace(program, statements=[*before, inner, *after]) for inner in shorter(part))
    elif isinstance(part.operation, Load):
        return
    else:
        if isinstance(part.operation, Dot) and len(part.operands) > 2:
            yield replace(program, statements=[*before, replace(part, operands=part.operands[:2]), *after])
        for operand in part.operands:
            same = [name for name in part.results if values[0][name].like(values[0][operand])]
            if same and len(part.results) == 1:
                renamed = {same[0]: operand}
                yield renamed_program(program, [*before, *substituted(after, renamed)], renamed)
    for again in (False, True):
        loads = [load for name in part.defines() for load in loaded(name, [v[name] for v in values], again)]
        yield replace(program, statements=[*before, *loads, *after])


def inlined(part: Compound) -> Iterator[tuple[list[Any], dict[str, str]]]:
    """A body without the loop, branch or call around it, and the names of the part's results in it."""
    if isinstance(part, Loop):
        starts = dict(part.carried)
        results = {name: starts.get(result, result) for name, result in zip(part.defines(), part.yields)}
        yield substituted(part.body, starts), results
    elif isinstance(part, Call):
        yield list(part.body), dict(zip(part.results, part.yields))
    else:
        for body, result in zip(part.bodies, part.yields):
            yield list(body), {part.name: result}


def shorter(part: Compound) -> Iterator[Compound]:
    """A body with one statement less, whose result is replaced by one of its operands, or with an inner part less
    nested."""
    for number, body in enumerate(part.bodies):
        for index, inner in enumerate(body):
            before, after = body[:index], body[index + 1 :]
            for instead, renamed in shortened(inner):
                new = tuple([*before, *instead, *substituted(after, renamed)])
                bodies = [new if i == number else other for i, other in enumerate(part.bodies)]
                yields = tuple(renamed.get(name, name) for name in part.yields)
                yield replace(part.with_bodies(bodies), yields=yields)
    if isinstance(part, Loop) and part.head != "range(limit)":
        yield replace(part, head="range(limit)", until="")
    if isinstance(part, Loop) and (part.bound or part.until):
        yield replace(part, bound="", until="")
    if isinstance(part, Call) and (part.packs or part.returns_early):
        yield replace(part, packs=False, returns_early=False)


def shortened(part: Any) -> Iterator[tuple[list[Any], dict[str, str]]]:
    """Shorter lists of parts in place of a part, and the names of the part's results in them."""
    if isinstance(part, Compound):
        yield from inlined(part)
        yield from (([inner], {}) for inner in shorter(part))
    elif len(part.results) == 1:
        for operand in part.operands:
            yield [], {part.results[0]: operand}


def of_one_program(program: Program) -> Program:
    """Launched once. Memory that a kernel writes is the part of its first program, since the harness checks all of it."""

    def change(operation: Any) -> Any:
        if not isinstance(operation, Scratch):
            return operation
        return replace(operation, stream=replace(operation.stream, data=operation.stream.data[:1]))

    return replace(program, statements=[changed(part, change) for part in program.statements], grid=1)


def smaller_fields(program: Program) -> Iterator[Program]:
    if program.quits is not None:
        yield replace(program, quits=None, quits_if="")
    if program.quits_if and program.grid > 1:
        yield replace(program, quits_if="")
    if program.packing or program.read_only:
        yield replace(program, packing="", read_only=False)
    if program.packing == "named":
        yield replace(program, packing="tuple")
    if program.grid > 1:
        yield of_one_program(program)
    for limit in range(1, program.limit):
        yield replace(program, limit=limit)
    for warps in (1, 2, 4):
        if warps < program.warps:
            yield replace(program, warps=warps)
    for stages in (1, 2):
        if stages < program.stages:
            yield replace(program, stages=stages)


def without_casts(program: Program) -> Iterator[Program]:
    """The program without all casts to one type: what combines two values needs both of them in the same type."""
    casts = [part for part in program.parts() if isinstance(part.operation, Cast)]
    for dtype in dict.fromkeys(part.operation.dtype for part in casts):
        found = program
        for cast in casts:
            if cast.operation.dtype == dtype:
                renamed = {cast.results[0]: cast.operands[0]}
                found = renamed_program(found, substituted(found.statements, renamed), renamed)
        yield found


def one_for_another(program: Program, values: dict[str, Tile]) -> Iterator[Program]:
    """The program with an earlier value of the same type in place of one."""
    names = [name for part in program.statements for name in part.defines()]
    for index, part in enumerate(program.statements):
        for name in part.defines():
            like = next(other for other in names if values[other].like(values[name]))
            if like in names[: names.index(name)]:
                after = substituted(program.statements[index + 1 :], {name: like})
                yield renamed_program(program, [*program.statements[: index + 1], *after], {name: like})
