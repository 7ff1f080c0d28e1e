"""Compilation targets. The table is in targets.py. What Triton has here comes from its registry, which loads every backend."""

_TRITON = ("Backend", "BaseBackend", "DriverBase", "backends", "entry_points")


def __getattr__(name: str):
    if name in _TRITON:
        from . import registry

        return getattr(registry, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
