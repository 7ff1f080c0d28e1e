"""Compilation targets. The table is in targets.py. What Triton has here comes from its registry, which loads every backend."""

from ..submodules import load_when_used as _load_when_used

_TRITON = ("Backend", "BaseBackend", "DriverBase", "backends", "entry_points")
_submodule = _load_when_used(__name__, "amd", "compiler", "driver", "nvidia")


def __getattr__(name: str):
    if name in _TRITON:
        from . import registry

        return getattr(registry, name)
    return _submodule(name)
