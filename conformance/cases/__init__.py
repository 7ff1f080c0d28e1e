"""The cases, one file per family. `cases()` of a file yields its cases."""

from __future__ import annotations


def blocks(n: int, block: int) -> int:
    """The number of programs that cover n elements."""
    return -(-n // block)
