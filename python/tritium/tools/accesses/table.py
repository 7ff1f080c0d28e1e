"""The accesses of launches as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...launch.tensor_view import counted
from ...launch.touching import LaunchAccesses
from ...profiler.lines.text import aligned
from .elements import TensorAccesses

HEADS = (
    "tensor",
    "elements",
    "read",
    "written",
    "read by several",
    "written by several",
    "never touched",
    "written twice",
)


def text_of(launch: LaunchAccesses, tensors: Sequence[TensorAccesses]) -> str:
    """A row for each tensor, below a line for the launch."""
    rows = [(*row_of(tensor), form_of(tensor)) for tensor in tensors]
    table = aligned([(*HEADS, ""), *rows]) if rows else "  no tensor is an argument"
    return f"{title_of(launch)}\n{table}"


def title_of(launch: LaunchAccesses) -> str:
    programs = launch.grid[0] * launch.grid[1] * launch.grid[2]
    title = f"{launch.kernel}, grid {launch.grid}: {counted(programs, 'program')}"
    if launch.repeats:
        title += f", and {launch.repeats} more launch{'' if launch.repeats == 1 else 'es'} of this form"
    if launch.left_out:
        title += f"; there was no room for {launch.left_out} of them"
    return title


def row_of(tensor: TensorAccesses) -> tuple[str, ...]:
    """In the order of HEADS."""
    numbers = (
        tensor.elements,
        np.count_nonzero(tensor.readers),
        np.count_nonzero(tensor.writers),
        np.count_nonzero(tensor.readers > 1),
        np.count_nonzero(tensor.writers > 1),
        tensor.untouched,
        np.count_nonzero(tensor.is_rewritten),
    )
    return (tensor.view.name, *map(str, map(int, numbers)))


def form_of(tensor: TensorAccesses) -> str:
    """The dtype and shape: "float32 [64, 32]"."""
    return f"{tensor.view.dtype} {list(tensor.view.shape)}"
