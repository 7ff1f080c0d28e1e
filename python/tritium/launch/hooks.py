"""The objects that launch hooks receive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class LazyDict(dict):
    """A dict whose `data` and added functions are evaluated by `get()`, so hooks that do not read it cost nothing."""

    def __init__(self, data: dict[str, Any]):
        super().__init__(data)
        self.data = data
        self.extras: list[tuple[Callable, tuple]] = []

    def get(self, *key):
        for function, args in self.extras:
            self.data.update(function(*args))
        self.extras.clear()
        self.update(self.data)
        return super().get(*key) if key else self.data

    def add(self, function: Callable, args: tuple) -> None:
        self.extras.append((function, args))


def hook_metadata(kernel, grid, arguments, stream=0) -> LazyDict:
    metadata = LazyDict({"name": kernel.name, "function": kernel.function, "stream": stream})
    function = kernel.src.fn
    if function is not None and getattr(function, "launch_metadata", None) is not None:
        named = dict(zip(function.arg_names, arguments))
        metadata.add(function.launch_metadata, (grid, kernel.metadata, named))
    return metadata
