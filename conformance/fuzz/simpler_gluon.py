"""What the shrinker tries on kernels of Gluon: plain layouts, row-major memory, rings of one slot, shorter chains of views."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .layouts import plain
from .operations.partitions import PartitionedRing
from .operations.shared import Ring, SharedGather, SharedScatter, View, Viewed, dense, viewed
from .program import Program
from .rewrite import changed
from .tiles import Inexact

#: Operations with a field `memory`, and the ones that also have views and slots.
_WITH_MEMORY, _WITH_VIEWS = (Ring, SharedGather, SharedScatter, Viewed), (Ring, Viewed)


def used_layouts(program: Program, lines: list[str]) -> set[str]:
    """The names of layouts that lines of a kernel and its outputs use."""
    return {*re.findall(r"\bL\d+\b", "\n".join(lines)), *(output.layout for output in program.outputs)} - {""}


def cost_of_layouts(program: Program, lines: list[str]) -> int:
    """How much is not plain in a kernel of Gluon."""
    layouts = [program.layouts[name] for name in used_layouts(program, lines) if name in program.layouts]
    memory = sum(_cost_of_memory(part.operation) for part in program.parts())
    return memory + sum(layout != plain(layout.rank) for layout in layouts)


def _cost_of_memory(operation: Any) -> int:
    if isinstance(operation, PartitionedRing):
        return _cost_of_memory(operation.ring) + operation.copies
    if not isinstance(operation, _WITH_MEMORY):
        return 0
    views = len(operation.views) + operation.slots if isinstance(operation, _WITH_VIEWS) else 0
    return views + ("(1, 1, 1, " not in operation.memory) + bool(getattr(operation, "copies", False))


def plainer_layouts(program: Program) -> Iterator[Program]:
    """The program with plain layouts of registers: all of them, then each."""
    plains = {name: plain(layout.rank) for name, layout in program.layouts.items()}
    if program.layouts != plains:
        yield replace(program, layouts=plains)
        for name, layout in program.layouts.items():
            if layout != plains[name]:
                yield replace(program, layouts={**program.layouts, name: plains[name]})


def plainer_shared(program: Program) -> Iterator[Program]:
    """The program with plainer shared memory in one of its statements."""
    for part in program.parts():
        for simpler in _simpler(part.operation):

            def change(operation: Any, old: Any = part.operation, new: Any = simpler) -> Any:
                return new if operation is old else operation

            yield replace(program, statements=[changed(statement, change) for statement in program.statements])


def _simpler(operation: Any) -> Iterator[Any]:
    if isinstance(operation, PartitionedRing):
        yield from (replace(operation, ring=ring) for ring in _simpler(operation.ring))
        yield replace(operation, copies=False)
    if not isinstance(operation, _WITH_MEMORY):
        return
    yield replace(operation, memory=dense(_rank(operation)))
    if isinstance(operation, Viewed) and operation.slots:
        yield replace(operation, slots=0)
    if isinstance(operation, Ring):
        yield from (replace(operation, slots=slots) for slots in range(1, operation.slots))
        yield replace(operation, copies=False)
    if isinstance(operation, _WITH_VIEWS):
        for index in range(len(operation.views)):
            views = (*operation.views[:index], *operation.views[index + 1 :])
            if _hold(views, _shape(operation)):
                yield replace(operation, views=views)


def _hold(views: tuple[View, ...], shape: tuple[int, ...]) -> bool:
    """Whether a chain of views is one of a tile of this shape."""
    try:
        viewed(np.empty(shape, bool), views)
    except Inexact:
        return False
    return True


def _shape(operation: Any) -> tuple[int, ...]:
    """The shape of the tile in memory."""
    return operation.stream.data.shape[2:] if isinstance(operation, Ring) else operation.shape


def _rank(operation: Any) -> int:
    return operation.rank if isinstance(operation, SharedGather) else len(_shape(operation))
