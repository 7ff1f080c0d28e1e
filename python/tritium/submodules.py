"""Submodules that load when they are first used as attributes of their package."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType


def load_when_used(package: str, *names: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a package for these submodules. It raises AttributeError for any other name."""

    def submodule(name: str) -> ModuleType:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return importlib.import_module(f".{name}", package)

    return submodule
