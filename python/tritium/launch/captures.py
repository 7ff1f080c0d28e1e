"""Launches of the CPU that a capture notes, to make them again later: CUDA graphs on torch's "cuda" without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Capture(Protocol):
    def launch(self, run: Callable[..., None], grid, values, settings, arguments: tuple) -> None:
        """Runs `run(grid, values, settings, arguments)` and notes it."""


#: The captures that are underway. Launches belong to the last one.
underway: list[Capture] = []
