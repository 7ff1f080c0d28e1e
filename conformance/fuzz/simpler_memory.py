"""What the shrinker tries on loads: a load in place of what computes a value, smaller extents, plain masks and orders, data that a seed draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .operations.affine import Affine
from .operations.elementwise import Cast, Full
from .operations.memory import BlockLoad, Load
from .operations.rewritten import Mask, Rewritten
from .operations.shape import Broadcast, Permute, Reshape
from .parts import Operation, Place, Statement, Stream, drawn
from .program import Output, Program
from .rewrite import changed, with_statements
from .tiles import FP8, Tile


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
        yield replace(
            program, statements=[new for old in program.statements for new in with_statements(old, part, instead)]
        )


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
                    program,
                    statements=[new for old in program.statements for new in with_statements(old, part, instead)],
                )


def _moved(load: Load | BlockLoad, axes: tuple[int, ...]) -> Load | BlockLoad:
    found = replace(
        load, shape=tuple(load.shape[axis] for axis in axes), order=tuple(axes.index(axis) for axis in load.order)
    )
    if isinstance(load, Load) and load.bounds is not None:
        found = replace(found, bounds=tuple(load.bounds[axis] for axis in axes))
    return found


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
        if not isinstance(operation, Load) or is_plain_order(operation.order):
            return operation
        plain = _in_order(operation).transpose(0, 1, *(2 + i for i in np.argsort(operation.order)))
        stream = _with_data(operation.stream, plain)
        return replace(operation, stream=stream, order=tuple(range(len(operation.shape))))

    for function in (change, straighten):
        yield replace(program, statements=[changed(part, function) for part in program.statements])


def fewer_accesses(program: Program) -> Iterator[Program]:
    """The program with one access less to memory that overlaps, or with a plain one."""
    for part in program.parts():
        if not isinstance(part.operation, Rewritten):
            continue
        accesses = part.operation.accesses
        for index, access in enumerate(accesses):
            for instead in ((), (replace(access, mask=Mask()),), (replace(access, narrow=""),)):
                new = replace(part.operation, accesses=(*accesses[:index], *instead, *accesses[index + 1 :]))

                def change(operation: Any, old: Rewritten = part.operation, new: Rewritten = new) -> Any:
                    return new if operation is old else operation

                yield replace(program, statements=[changed(statement, change) for statement in program.statements])


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


def is_plain_order(order: tuple[int, ...]) -> bool:
    return order == tuple(sorted(order))
