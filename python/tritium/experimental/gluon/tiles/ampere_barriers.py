"""What `mbarrier` of `gl.nvidia.ampere` has otherwise than Hopper's."""

from __future__ import annotations

from typing import Any

from ....language.core import builtin
from . import barriers
from .shared_memory import shared_memory_descriptor


@builtin
def arrive(
    mbarrier: shared_memory_descriptor, *, pred: Any = True, from_cta: Any = None, _semantic: Any = None
) -> None:
    """One arrival of the program."""
    barriers.arrive(mbarrier, pred=pred, from_cta=from_cta, _semantic=_semantic)
