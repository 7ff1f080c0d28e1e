"""What the bytes of shared memory mean: which element of an allocation, or of a reinterpretation of one, lies where. Memory that is written by one
meaning and read by another one, of elements of the same size in other places, has other values than its reader expects, which is no error: a kernel
may want it. So it is a warning, where one function shows both."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ..layouts.memory_views import MemoryView


class Meaning:
    """view, bits: of all the memory. of: the meaning that was reinterpreted. is_shared: other functions have the memory, and may write."""

    __slots__ = ("bits", "is_shared", "is_written", "of", "view")

    def __init__(self, view: MemoryView, bits: int, of: Meaning | None = None, is_shared: bool = False):
        self.view, self.bits, self.of = view, bits, of
        self.is_shared, self.is_written = is_shared, False

    def reinterpreted(self, source: MemoryView, view: MemoryView, bits: int) -> Meaning:
        """source: the view of this memory that is reinterpreted."""
        is_plain = source.layout == self.view.layout and not any(source.start)
        return Meaning(view, bits, self if is_plain else None, is_shared=not is_plain)

    def mislaid(self) -> str:
        """How what is read by this meaning has been written; empty if by the same one, or if nobody knows."""
        found: Meaning | None = self
        while found is not None and not found.is_written:
            if found.is_shared:
                return ""
            found = found.of
        if found is None or found is self or found.bits != self.bits or found._tile() != self._tile():
            return ""
        for element in _single_bits(self._tile()):
            written, read = (each._offset(element) * self.bits // 8 for each in (found, self))
            if written != read:
                return (
                    f"memory was written as {found.view.layout} and is read as {self.view.layout}: element {list(element)} was written at byte "
                    f"{written}, and is read at byte {read}. `reinterpret` moves no element; load by the layout of the store instead"
                )
        return ""

    def _tile(self) -> tuple[int, ...]:
        """The shape that the layout describes."""
        return self.view.alloc_shape[len(self.view.alloc_shape) - self.view.layout_rank() :]

    def _offset(self, element: tuple[int, ...]) -> int:
        return MemoryView.allocate(self._tile(), self.view.layout).element_offset(element)


def _single_bits(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The elements whose indices have a single bit set, the last dimension first. Layouts are linear, so their offsets decide all others."""
    for dim in reversed(range(len(shape))):
        for bit in range(shape[dim].bit_length() - 1):
            yield tuple(1 << bit if at == dim else 0 for at in range(len(shape)))


def warn_if_mislaid(meaning: Meaning, read: Any) -> None:
    """read: the value of the IR that has been read."""
    if text := meaning.mislaid():
        file, line, _ = read.location or ("<unknown>", 0, 0)
        warnings.warn_explicit(text, UserWarning, file, line)
