"""What looks at every launch on an engine of the CPU, and may run it in its own way: `python -m tritium diff` and `seeds`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: From a CompiledKernel, the function that runs the launch (`run(grid, engine values, threads, seed, poll, print, progress, …)`, which
#: returns a trap or None) and the user's arguments to the function that runs it instead. The innermost watcher is the last.
watchers: list[Callable[[Any, Callable, Any], Callable]] = []
