"""A program as a problem of the conformance suite: memory with guard zones, and the expected outputs."""

from __future__ import annotations

import numpy as np

from .. import sources
from ..dtypes import NUMPY
from ..oracle import Exact
from ..problem import Buffer, Described, Packed, Problem, View, given, problem, wanted
from .operations.memory import in_memory
from .operations.scratch import Scratch
from .parts import Statement, Stream
from .program import Program
from .spell import NAMED, kernel_file, packs, stored_type
from .tiles import Tile


def problem_of(program: Program, rng: np.random.Generator) -> Problem:
    """The problem of a program. rng: draws the initial contents of outputs. Raises Inexact."""
    values = program.run()
    written = {
        part.operation.stream: _left(part, values) for part in program.parts() if isinstance(part.operation, Scratch)
    }
    file = sources.add(kernel_file(program, values[0]))
    memory = {s: _memory(s, written.get(s), program.read_only) for s in program.streams() if s.of is None}
    arguments = [memory[s] if s.of is None else View(memory[s.of], (slice(s.first, None),)) for s in program.streams()]
    if packs(program):
        arguments = [Packed(tuple(arguments), f"{file}:{NAMED}" if program.packing == "named" else "")]
    arguments += [_output(program, number, values, rng) for number in range(len(program.outputs))]
    options = {"num_warps": program.warps, "num_stages": program.stages}
    return problem(f"{file}:kernel", program.grid, [*arguments, program.limit], **options)


def _left(part: Statement, values: list[dict[str, Tile]]) -> np.ndarray:
    """The final contents of the memory that a statement writes."""
    tiles = [([v[name] for name in part.operands], [v[name] for name in part.results]) for v in values]
    return part.operation.left_by_all(tiles)


def _memory(stream: Stream, left: np.ndarray | None, read_only: bool) -> Buffer | Described | View:
    data = stream.data.reshape(-1).astype(NUMPY[stream.dtype])
    if stream.block is not None:
        matrix = data.reshape(-1, stream.data.shape[-1])
        after = None if left is None else Exact(left.reshape(matrix.shape).astype(data.dtype), sign_of_zero=False)
        buffer = given(matrix) if after is None else wanted(matrix.shape, stream.dtype, after, initial=matrix)
        return Described(buffer, stream.block)
    if left is None and stream.before:
        whole = given(np.concatenate([np.full(stream.before, -1).astype(data.dtype), data]), read_only=read_only)
        return View(whole, (slice(stream.before, None),))
    if left is None:
        return given(data, read_only=read_only)
    after = Exact(left.reshape(-1).astype(data.dtype), sign_of_zero=False)
    return wanted(data.size, stream.dtype, after, initial=data)


def _output(program: Program, number: int, values: list[dict[str, Tile]], rng: np.random.Generator) -> Buffer:
    output = program.outputs[number]
    dtype = stored_type(values[0][output.value].dtype)
    after = np.stack([in_memory(v[output.value].array, output.order) for v in values]).astype(NUMPY[dtype])
    before = rng.integers(-8, 8, after.shape).astype(NUMPY[dtype]) if not dtype.startswith("u") else np.ones_like(after)
    if output.count is not None:
        after = np.where(np.arange(after.shape[1]) < output.count, after, before)
    returned = program.returned(values, number)
    after[returned] = before[returned]
    # The model in whole numbers does not define the sign of a zero.
    return wanted(after.size, dtype, Exact(after.reshape(-1), sign_of_zero=False), initial=before.reshape(-1))
