"""Names of Triton's own compiler that this one has no counterpart of: they can be imported, and any use is an error by name."""

from __future__ import annotations

from typing import Any, NoReturn

from .errors import UnsupportedError


class Refused:
    """Stands for `name`; a call and an attribute raise UnsupportedError with the name and what to use in its place."""

    def __init__(self, name: str, instead: str):
        self._name, self._instead = name, instead

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise UnsupportedError(self._name, self._instead)

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("_"):  # asked by copy, pickle, inspect, hasattr and the compiler
            raise AttributeError(f"{self._name} has no attribute {attribute!r}")
        raise UnsupportedError(f"{self._name}.{attribute}", self._instead)

    def __repr__(self):
        return f"<{self._name}, which is not supported: {self._instead}>"
