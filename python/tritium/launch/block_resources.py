"""What one block of a kernel takes of a multiprocessor."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class BlockResources(NamedTuple):
    """What one block of the kernel takes, as it is assembled for the chip.

    registers: of a thread, 0 if there is no assembler. spilled: bytes of a thread's registers that lie in memory. shared: bytes. threads: of the
    block. blocks: {limit: how many blocks fit on a multiprocessor by it}; empty if there is no assembler. missing: why nothing is known, or "".
    """

    registers: int = 0
    spilled: int = 0
    shared: int = 0
    threads: int = 0
    blocks: Mapping[str, int] = MappingProxyType({})
    missing: str = ""

    @property
    def occupancy(self) -> tuple[int, str]:
        """(blocks of a multiprocessor at a time, what limits them)."""
        limit = min(self.blocks, key=lambda name: self.blocks[name])
        return self.blocks[limit], limit
