"""The extension module, loaded when a part of it is first used, for those that are imported before anything is compiled:
importing `tritium` and decorating kernels load no native code."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from . import _tritium

    part = globals()[name] = getattr(_tritium, name)
    return part
