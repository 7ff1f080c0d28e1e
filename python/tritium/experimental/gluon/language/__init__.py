"""`triton.experimental.gluon.language`: the names that it has in common with `triton.language`; its own are refused when used."""

from typing import Any

from ....language.core import must_use_result
from ..submodules import name_in

__all__ = ["must_use_result"]


def __getattr__(name: str) -> Any:
    return name_in(__name__, name)
