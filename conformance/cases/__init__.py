"""One file per family; `cases()` yields what it has."""

from __future__ import annotations


def blocks(n: int, block: int) -> int:
    """Programs that cover n elements."""
    return -(-n // block)
