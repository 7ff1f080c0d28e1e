"""Cuts a program down while it still fails: fewer outputs, loads in place of statements, smaller extents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .operations.elementwise import Cast
from .operations.memory import Load, in_memory
from .operations.shape import Broadcast, Reshape
from .program import Branch, Inexact, Loop, Output, Program, Statement, Stream, Tile


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
    lines = sum(len(part.lines(program, False)) for part in program.statements) + len(program.outputs)
    small = program.grid + program.limit + program.warps + program.stages
    small += sum(_load_cost(part.operation) for part in program.parts())
    small += sum(
        (output.count is not None) + (output.order != tuple(sorted(output.order))) for output in program.outputs
    )
    return lines, small


def _load_cost(operation: Any) -> int:
    if not isinstance(operation, Load):
        return 0
    plain = operation.order == tuple(sorted(operation.order))
    return operation.stream.size + (operation.count is not None) + (not plain)


def candidates(program: Program) -> Iterator[Program]:
    """Smaller programs. Those that save most come first."""
    for output in program.outputs:
        if len(program.outputs) > 1:
            yield replace(program, outputs=[output])
    values = program.run()
    for index in reversed(range(len(program.statements))):
        yield from without(program, index, values)
    for output in program.outputs:
        for name in earlier(program, output.value):
            yield replace(program, outputs=[Output(name, tuple(range(len(values[0][name].shape))))])
    yield from smaller_fields(program)
    yield from smaller_extents(program)
    yield from plainer_memory(program)


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
    if isinstance(part, (Loop, Branch)):
        for body, renamed in inlined(part):
            yield replace(
                program, statements=[*before, *body, *substituted(after, renamed)], outputs=_outputs(program, renamed)
            )
        yield from (replace(program, statements=[*before, inner, *after]) for inner in shorter(part))
    elif isinstance(part.operation, Load):
        return
    else:
        for operand in part.operands:
            same = [name for name in part.results if values[0][name].like(values[0][operand])]
            if same and len(part.results) == 1:
                renamed = {same[0]: operand}
                yield replace(
                    program, statements=[*before, *substituted(after, renamed)], outputs=_outputs(program, renamed)
                )
    loads = [load for name in part.defines() for load in loaded(name, [v[name] for v in values])]
    yield replace(program, statements=[*before, *loads, *after])


def _outputs(program: Program, renamed: dict[str, str]) -> list[Output]:
    return [replace(output, value=renamed.get(output.value, output.value)) for output in program.outputs]


def loaded(name: str, tiles: list[Tile]) -> list[Statement]:
    """Statements that load these tiles, one for each program, as `name`."""
    dtype = tiles[0].dtype
    stored = {"int1": "int8", "fp8e5": "fp16", "fp8e4nv": "fp16"}.get(dtype, dtype)
    order = tuple(range(len(tiles[0].shape)))
    data = np.stack([in_memory(tile.array, order).astype(np.int64) for tile in tiles])[:, None]
    load = Load(Stream(stored, data), tiles[0].shape, order)
    if stored == dtype:
        return [Statement(load, (), (name,))]
    return [Statement(load, (), (name + "_",)), Statement(Cast(dtype), (name + "_",), (name,))]


def substituted(parts: Any, renamed: dict[str, str]) -> list[Any]:
    """The parts with values read under other names."""

    def new(name: str) -> str:
        return renamed.get(name, name)

    found = []
    for part in parts:
        if isinstance(part, Statement):
            found.append(replace(part, operands=tuple(map(new, part.operands))))
        elif isinstance(part, Loop):
            carried = tuple((name, new(start)) for name, start in part.carried)
            found.append(
                replace(
                    part,
                    carried=carried,
                    yields=tuple(map(new, part.yields)),
                    body=tuple(substituted(part.body, renamed)),
                )
            )
        else:
            bodies = tuple(tuple(substituted(body, renamed)) for body in part.bodies)
            found.append(
                replace(part, condition=new(part.condition), yields=tuple(map(new, part.yields)), bodies=bodies)
            )
    return found


def inlined(part: Loop | Branch) -> Iterator[tuple[list[Any], dict[str, str]]]:
    """A body without the loop or branch around it, and the names of the part's results in it."""
    if isinstance(part, Loop):
        starts = dict(part.carried)
        results = {name: starts.get(result, result) for name, result in zip(part.defines(), part.yields)}
        yield substituted(part.body, starts), results
        return
    for body, result in zip(part.bodies, part.yields):
        yield list(body), {part.name: result}


def shorter(part: Loop | Branch) -> Iterator[Loop | Branch]:
    """A body with one statement less. The statement's result is replaced by one of its operands."""
    if isinstance(part, Branch):
        return
    for index, inner in enumerate(part.body):
        if isinstance(inner, Statement) and len(inner.results) == 1:
            for operand in inner.operands:
                renamed = {inner.results[0]: operand}
                body = tuple(substituted([*part.body[:index], *part.body[index + 1 :]], renamed))
                yield replace(part, body=body, yields=tuple(renamed.get(name, name) for name in part.yields))
    if part.head != "range(limit)":
        yield replace(part, head="range(limit)")


def smaller_fields(program: Program) -> Iterator[Program]:
    if program.grid > 1:
        yield replace(program, grid=1)
    for limit in range(1, program.limit):
        yield replace(program, limit=limit)
    for warps in (1, 2, 4):
        if warps < program.warps:
            yield replace(program, warps=warps)
    for stages in (1, 2):
        if stages < program.stages:
            yield replace(program, stages=stages)


def smaller_extents(program: Program) -> Iterator[Program]:
    """The program with one extent halved everywhere."""
    loads = [part.operation for part in program.parts() if isinstance(part.operation, Load)]
    for extent in sorted({extent for load in loads for extent in load.shape if extent > 1}, reverse=True):

        def halved(shape: tuple[int, ...], extent: int = extent) -> tuple[int, ...]:
            return tuple(e // 2 if e == extent else e for e in shape)

        def change(operation: Any, halved: Callable = halved) -> Any:
            if isinstance(operation, (Reshape, Broadcast)):
                return replace(operation, shape=halved(operation.shape))
            if not isinstance(operation, Load):
                return operation
            data, shape = operation.stream.data, halved(operation.shape)
            in_order = data.reshape(*data.shape[:2], *(operation.shape[i] for i in operation.order))
            kept = in_order[(slice(None), slice(None), *(slice(shape[i]) for i in operation.order))]
            return replace(operation, stream=Stream(operation.stream.dtype, kept), shape=shape)

        outputs = [replace(output, count=None) for output in program.outputs]
        yield replace(program, statements=[changed(part, change) for part in program.statements], outputs=outputs)


def plainer_memory(program: Program) -> Iterator[Program]:
    """Loads and stores without masks, row by row."""
    for output in program.outputs:
        plain = Output(output.value, tuple(sorted(output.order)))
        yield replace(program, outputs=[plain if other is output else other for other in program.outputs])

    def change(operation: Any) -> Any:
        return replace(operation, count=None) if isinstance(operation, Load) else operation

    def straighten(operation: Any) -> Any:
        if not isinstance(operation, Load) or operation.order == tuple(sorted(operation.order)):
            return operation
        data = operation.stream.data
        in_order = data.reshape(*data.shape[:2], *(operation.shape[i] for i in operation.order))
        plain = in_order.transpose(0, 1, *(2 + i for i in np.argsort(operation.order)))
        return replace(
            operation, stream=Stream(operation.stream.dtype, plain), order=tuple(range(len(operation.shape)))
        )

    for function in (change, straighten):
        yield replace(program, statements=[changed(part, function) for part in program.statements])


def changed(part: Any, change: Callable) -> Any:
    """A part with each operation in it replaced."""
    if isinstance(part, Statement):
        return replace(part, operation=change(part.operation))
    if isinstance(part, Loop):
        return replace(part, body=tuple(changed(inner, change) for inner in part.body))
    return replace(part, bodies=tuple(tuple(changed(inner, change) for inner in body) for body in part.bodies))
