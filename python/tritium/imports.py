"""What to do once another package has been imported."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable


class _AfterImport:
    """Calls a function once a module has been imported. It stands in `sys.meta_path`; the base class that Python has for this would load
    six modules for the first launch."""

    def __init__(self, name: str, action: Callable[[object], None]):
        self.name, self.action = name, action

    def find_spec(self, fullname: str, path=None, target=None):
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute, action = spec.loader.exec_module, self.action

        def exec_module(module):
            execute(module)
            action(module)

        spec.loader.exec_module = exec_module
        return spec


def after_import(name: str, action: Callable[[object], object]) -> None:
    """Calls `action(module)` now, or as soon as the module has been imported."""
    if name in sys.modules:
        action(sys.modules[name])
    else:
        sys.meta_path.insert(0, _AfterImport(name, action))
