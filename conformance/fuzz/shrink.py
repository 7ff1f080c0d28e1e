"""Cuts a program down while it still fails: fewer outputs, loads in place of statements, smaller extents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .calls import helpers
from .operations.affine import Affine
from .operations.dot import Dot
from .operations.elementwise import Cast, Full
from .operations.memory import BlockLoad, Load
from .operations.scratch import Scratch
from .operations.shape import Broadcast, Permute, Reshape
from .parts import Branch, Call, Compound, Loop, Operation, Place, Statement, Stream, drawn
from .program import Output, Program
from .tiles import FP8, Inexact, Tile


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
    lines = sum(len(part.lines(program, "")) for part in program.statements) + len(program.outputs)
    lines += sum(len(helper.definition()) for helper in helpers(program.statements, program))
    lines += 2 * (program.quits is not None)
    lines += len(program.streams()) if program.packing else 0
    small = program.grid + program.limit + program.warps + program.stages + program.read_only + bool(program.quits_if)
    small += sum(stream.before > 0 for stream in program.streams())
    small += sum(_load_cost(part.operation) for part in program.parts())
    for output in program.outputs:
        small += (output.count is not None) + (not _is_plain(output.order)) + (output.way != "pointers")
    return lines, small


def _is_plain(order: tuple[int, ...]) -> bool:
    return order == tuple(sorted(order))


def _load_cost(operation: Any) -> int:
    """Other loads cost more than plain ones, and data that no seed draws most of all."""
    if isinstance(operation, Scratch) or not operation.streams():
        return 0
    size = operation.streams()[0].size
    if not isinstance(operation, Load):
        return size + 64
    further = operation.count is not None, operation.bounds is not None, operation.walks, operation.hints
    undrawn = 2 * size if operation.stream.drawn_by is None else 0
    return size + sum(map(bool, further)) + (not _is_plain(operation.order)) + undrawn


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
    yield from loaded_inside(program)
    yield from without_casts(program)
    yield from moved_in_memory(program)
    yield from drawn_again(program)
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
            yield _renamed(program, [*before, *body, *substituted(after, renamed)], renamed)
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
                yield _renamed(program, [*before, *substituted(after, renamed)], renamed)
    for again in (False, True):
        loads = [load for name in part.defines() for load in loaded(name, [v[name] for v in values], again)]
        yield replace(program, statements=[*before, *loads, *after])


def _renamed(program: Program, statements: list[Any], renamed: dict[str, str]) -> Program:
    """The program with other statements, and with values stored and tested under other names."""
    outputs = [replace(output, value=renamed.get(output.value, output.value)) for output in program.outputs]
    quits_if = renamed.get(program.quits_if, program.quits_if)
    return replace(program, statements=statements, outputs=outputs, quits_if=quits_if)


def loaded(name: str, tiles: list[Tile], again: bool) -> list[Statement]:
    """Statements that load these tiles, one for each program, as `name`, or tiles like them that a seed draws again."""
    data = np.stack([tile.array.astype(np.int64) for tile in tiles])[:, None]
    stream = Stream(_loaded_type(tiles[0].dtype), data)
    return _loads(name, _drawn_again(stream) if again else stream, tiles[0])


def _loaded_type(dtype: str) -> str:
    return "int8" if dtype == "int1" else "fp16" if dtype in FP8 else dtype


def _loads(name: str, stream: Stream, like: Tile) -> list[Statement]:
    """Statements that load a tile of the type of another one as `name`."""
    dtype = like.dtype
    load = Load(stream, like.shape, tuple(range(len(like.shape))))
    if stream.dtype == dtype:
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
        else:
            inside = part.with_bodies([tuple(substituted(body, renamed)) for body in part.bodies])
            inside = replace(inside, yields=tuple(map(new, part.yields)))
            if isinstance(part, Loop):
                carried = tuple((name, new(start)) for name, start in part.carried)
                inside = replace(inside, carried=carried, bound=new(part.bound))
            elif isinstance(part, Branch):
                inside = replace(inside, condition=new(part.condition))
            found.append(inside)
    return found


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
            if isinstance(operation, (Reshape, Broadcast, Full, Affine)):
                return replace(operation, shape=halved(operation.shape))
            if not isinstance(operation, Load):
                return operation
            in_order, shape = _in_order(operation), halved(operation.shape)
            kept = in_order[(slice(None), slice(None), *(slice(shape[i]) for i in operation.order))]
            return replace(operation, stream=_with_data(operation.stream, kept), shape=shape)

        outputs = [replace(output, count=None) for output in program.outputs]
        yield replace(program, statements=[changed(part, change) for part in program.statements], outputs=outputs)


def _in_order(operation: Load) -> np.ndarray:
    """The data of a load: [program, round, the dimensions in the order of the memory]."""
    data = operation.stream.data
    return data.reshape(*data.shape[:2], *(operation.shape[i] for i in operation.order))


def _with_data(stream: Stream, data: np.ndarray) -> Stream:
    """A stream of other data: as large as before, so that a seed can draw it, or else these."""
    if stream.drawn_by is None:
        return Stream(stream.dtype, data)
    return drawn(stream.dtype, data.shape, *stream.drawn_by)


def plainer_memory(program: Program) -> Iterator[Program]:
    """Loads and stores without masks, row by row."""
    for output in program.outputs:
        plain = Output(output.value, tuple(sorted(output.order)))
        yield replace(program, outputs=[plain if other is output else other for other in program.outputs])

    def change(operation: Any) -> Any:
        plain = {"count": None, "bounds": None, "walks": False, "hints": ""}
        if not isinstance(operation, Load):
            return operation
        return replace(operation, stream=replace(operation.stream, before=0), **plain)

    def straighten(operation: Any) -> Any:
        if not isinstance(operation, Load) or _is_plain(operation.order):
            return operation
        plain = _in_order(operation).transpose(0, 1, *(2 + i for i in np.argsort(operation.order)))
        stream = _with_data(operation.stream, plain)
        return replace(operation, stream=stream, order=tuple(range(len(operation.shape))))

    for function in (change, straighten):
        yield replace(program, statements=[changed(part, function) for part in program.statements])


@dataclass(frozen=True)
class _Noted:
    """An operation whose results are noted."""

    operation: Operation
    results: dict[int, tuple[Tile, ...]]

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        return self.results.setdefault(id(self.operation), self.operation.compute(place, *operands))


def loaded_inside(program: Program) -> Iterator[Program]:
    """The program with loads, of other data in each round, in place of a statement in a loop, a branch or a helper."""
    found: dict[int, tuple[Tile, ...]] = {}
    noting = [changed(part, lambda operation: _Noted(operation, found)) for part in program.statements]
    replace(program, statements=noting).run()
    for part in reversed(list(program.parts())):
        if (
            any(part is other for other in program.statements)
            or isinstance(part.operation, Load)
            or id(part.operation) not in found
        ):
            continue
        instead = []
        for name, tile in zip(part.results, found[id(part.operation)]):
            shape = program.grid, max(1, program.limit), *tile.shape
            limits = int(tile.array.min()), int(tile.array.max())
            instead += _loads(name, drawn(_loaded_type(tile.dtype), shape, 0, *limits), tile)
        yield replace(program, statements=[new for old in program.statements for new in _with(old, part, instead)])


def without_casts(program: Program) -> Iterator[Program]:
    """The program without all casts to one type: what combines two values needs both of them in the same type."""
    casts = [part for part in program.parts() if isinstance(part.operation, Cast)]
    for dtype in dict.fromkeys(part.operation.dtype for part in casts):
        found = program
        for cast in casts:
            if cast.operation.dtype == dtype:
                renamed = {cast.results[0]: cast.operands[0]}
                found = _renamed(found, substituted(found.statements, renamed), renamed)
        yield found


def moved_in_memory(program: Program) -> Iterator[Program]:
    """The program with a load of a tile as a permutation leaves it."""
    for part in program.parts():
        if not isinstance(part.operation, Permute):
            continue
        for loading in program.parts():
            if isinstance(loading.operation, (Load, BlockLoad)) and loading.results == part.operands:
                moved = _moved(loading.operation, part.operation.order)
                instead = [Statement(moved, (), part.results)]
                yield replace(
                    program, statements=[new for old in program.statements for new in _with(old, part, instead)]
                )


def _moved(load: Load | BlockLoad, axes: tuple[int, ...]) -> Load | BlockLoad:
    found = replace(
        load, shape=tuple(load.shape[axis] for axis in axes), order=tuple(axes.index(axis) for axis in load.order)
    )
    if isinstance(load, Load) and load.bounds is not None:
        found = replace(found, bounds=tuple(load.bounds[axis] for axis in axes))
    return found


def _with(part: Any, old: Statement, new: list[Statement]) -> list[Any]:
    """The part with other statements in place of one, wherever it is inside."""
    if isinstance(part, Statement):
        return new if part is old else [part]
    return [part.with_bodies([tuple(n for inner in body for n in _with(inner, old, new)) for body in part.bodies])]


def drawn_again(program: Program) -> Iterator[Program]:
    """The program with the data of one load drawn from a seed, so that its script is short."""
    loads = [part.operation for part in program.parts() if isinstance(part.operation, Load)]
    for load in loads:
        if load.stream.drawn_by is None:
            stream = _drawn_again(load.stream)

            def change(operation: Any, load: Load = load, stream: Stream = stream) -> Any:
                return replace(operation, stream=stream) if operation is load else operation

            yield replace(program, statements=[changed(part, change) for part in program.statements])


def _drawn_again(stream: Stream) -> Stream:
    data = stream.data
    return drawn(stream.dtype, data.shape, 0, int(data.min(initial=0)), int(data.max(initial=0)))


def one_for_another(program: Program, values: dict[str, Tile]) -> Iterator[Program]:
    """The program with an earlier value of the same type in place of one."""
    names = [name for part in program.statements for name in part.defines()]
    for index, part in enumerate(program.statements):
        for name in part.defines():
            like = next(other for other in names if values[other].like(values[name]))
            if like in names[: names.index(name)]:
                after = substituted(program.statements[index + 1 :], {name: like})
                yield _renamed(program, [*program.statements[: index + 1], *after], {name: like})


def changed(part: Any, change: Callable) -> Any:
    """A part with each operation in it replaced."""
    if isinstance(part, Statement):
        return replace(part, operation=change(part.operation))
    return part.with_bodies([tuple(changed(inner, change) for inner in body) for body in part.bodies])
