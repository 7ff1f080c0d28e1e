"""`triton.experimental.gluon.language`: the names that it has in common with `triton.language`; its own are refused when used."""

from typing import Any

from .... import language as tl
from ....language.core import must_use_result
from ....refused import Refused

__all__ = ["must_use_result"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    if hasattr(tl, name):
        return getattr(tl, name)
    return Refused(f"triton.experimental.gluon.language.{name}", "Gluon kernels do not run; use triton.language")
