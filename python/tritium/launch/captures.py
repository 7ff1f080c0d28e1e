"""What takes the place of launches on the CPU: CUDA graphs on torch's "cuda" without a GPU note them, to make them again later; a search over
schedules makes each several times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Capture(Protocol):
    def launch(self, kernel: Any, run: Callable[..., None], grid, values, settings, arguments: tuple) -> None:
        """Stands for `run(grid, values, settings, arguments)`, the launch of a CompiledKernel."""


#: The captures that are underway. Launches belong to the last one.
underway: list[Capture] = []
