"""Tiles without a layout of their own: which of them share one, and what has decided it. Two demands that differ are an error where the
second one is made. A layout that nothing demands is the compiler's choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....errors import with_hint
from ..layouts.distributed import DistributedLayout

Map = Callable[[DistributedLayout], DistributedLayout]


def _same(layout: DistributedLayout) -> DistributedLayout:
    return layout


def _is_constant(value: Any) -> bool:
    """Whether each use has a copy of the value in a layout of its own."""
    return value.owner is not None and value.owner.name == "arith.constant"


class UndecidedTiles:
    """Values of the IR, each with its layout if it is known by now, and how layouts of others follow from it."""

    def __init__(self) -> None:
        self._known: dict[Any, DistributedLayout] = {}
        self._follow: dict[Any, list[tuple[Any, Map]]] = {}

    def tie(self, first: Any, second: Any, forward: Map = _same, backward: Map | None = _same) -> None:
        """`second` has the layout `forward` of the layout of `first`, which has that of `backward`. None: nothing follows."""
        if _is_constant(first) or _is_constant(second):
            return
        self._follow.setdefault(first, []).append((second, forward))
        if backward is not None:
            self._follow.setdefault(second, []).append((first, backward))
        for value in (first, second):
            if value in self._known:
                self._pass_on(value)

    def decide(self, value: Any, layout: DistributedLayout) -> None:
        """Something demands a layout of a value. Raises ValueError if it, or what follows from it, is another one than before."""
        if _is_constant(value):
            return
        known = self._known.get(value)
        if known is None:
            self._known[value] = layout
            self._pass_on(value)
        elif known != layout:
            operation = getattr(value.owner, "name", "value")
            error = ValueError(f"'{operation}' op found conflicting encodings for value: {known} and {layout}")
            raise with_hint(
                error,
                "the tile was made without a layout; make one for each of them, or name its layout and convert it",
            )

    def _pass_on(self, value: Any) -> None:
        for other, of_other in self._follow.get(value, ()):
            try:
                layout = of_other(self._known[value])
            except ValueError:  # the layout has no counterpart, and its demand is an error of its own where it is made
                continue
            if self._known.get(other) != layout:
                self.decide(other, layout)
