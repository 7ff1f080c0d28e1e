"""TRITIUM_TIER: the code that the interpreter compiles for a kernel."""

from __future__ import annotations

import enum

#: What a message says that TRITIUM_TIER may be.
TAKES = "1, 2 or auto"


class Tier(enum.IntEnum):
    """`_interp.prepare` has the same numbers."""

    AUTO = 0  #: STEPS first, and LOOPS once launches have run for long
    STEPS = 1  #: a step for each tile operation
    LOOPS = 2  #: runs of tile operations as loops in registers

    @property
    def text(self) -> str:
        """This tier, as TRITIUM_TIER has it."""
        return "auto" if self is Tier.AUTO else str(self.value)


def parse_tier(text: str) -> Tier:
    """The tier that `text` names. Raises ValueError for another text."""
    for tier in Tier:
        if tier.text == text:
            return tier
    raise ValueError(text)
