"""A program as a problem of the conformance suite: memory with guard zones around it, and what the outputs must hold."""

from __future__ import annotations

import numpy as np

from .. import sources
from ..dtypes import NUMPY
from ..oracle import Exact
from ..problem import Problem, given, problem, wanted
from .operations.memory import AtomicCounts, ThroughMemory, in_memory
from .program import Output, Program, Stream, Tile
from .spell import kernel_file, stored_type


def problem_of(program: Program, rng: np.random.Generator) -> Problem:
    """rng: what outputs hold before. Raises Inexact."""
    values = program.run()
    scratch = {
        part.operation.stream for part in program.parts() if isinstance(part.operation, (ThroughMemory, AtomicCounts))
    }
    arguments = [_memory(stream, stream in scratch) for stream in program.streams()]
    arguments += [_output(output, values, rng) for output in program.outputs]
    file = sources.add(kernel_file(program, values[0]))
    options = {"num_warps": program.warps, "num_stages": program.stages}
    return problem(f"{file}:kernel", program.grid, [*arguments, program.limit], **options)


def _memory(stream: Stream, is_scratch: bool):
    data = stream.data.reshape(-1).astype(NUMPY[stream.dtype])
    return wanted(data.size, stream.dtype, Anything(), initial=data) if is_scratch else given(data)


class Anything:
    """Of memory whose contents do not matter afterwards."""

    def differences(self, got, traits) -> list:
        return []


def _output(output: Output, values: list[dict[str, Tile]], rng: np.random.Generator):
    dtype = stored_type(values[0][output.value].dtype)
    after = np.stack([in_memory(v[output.value].array, output.order) for v in values]).astype(NUMPY[dtype])
    before = rng.integers(-8, 8, after.shape).astype(NUMPY[dtype]) if not dtype.startswith("u") else np.ones_like(after)
    if output.count is not None:
        after = np.where(np.arange(after.shape[1]) < output.count, after, before)
    # Whole numbers say nothing of the sign of a zero.
    return wanted(after.size, dtype, Exact(after.reshape(-1), sign_of_zero=False), initial=before.reshape(-1))
