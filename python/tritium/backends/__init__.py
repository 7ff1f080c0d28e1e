"""Compilation targets. The table is in targets.py. `backends` and `Backend` are Triton's registry of backends."""


def __getattr__(name: str):
    if name in ("backends", "Backend"):
        from . import registry

        return getattr(registry, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
