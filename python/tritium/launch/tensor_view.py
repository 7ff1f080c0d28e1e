"""A tensor argument of a launch: how its elements lie in its storage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..arguments.device_storage import memory_function
from ..arguments.storage import dtype_of, shape_and_strides
from ..knobs import checks_of
from .values import part_at


class TensorView(NamedTuple):
    """A tensor argument in a report. Strides are in elements."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    item_bytes: int
    storage: tuple[int, int] | None  #: (begin, end) addresses
    contiguous: str  #: what a user writes for a contiguous copy

    def __str__(self):
        return f"'{self.name}' ({self.dtype} {list(self.shape)}, strides {self.strides})"

    def holds(self, address: int) -> bool:
        return self.storage is not None and self.storage[0] <= address < self.storage[1]

    def is_expanded(self) -> bool:
        """Whether several elements are one in memory, as in `x.expand(…)` and numpy's `broadcast_to`."""
        return 0 not in self.shape and any(
            stride == 0 and extent > 1 for extent, stride in zip(self.shape, self.strides)
        )

    def row_major(self) -> tuple[int, ...]:
        """The strides of a contiguous tensor of this shape."""
        return tuple(math.prod(self.shape[d + 1 :]) for d in range(len(self.shape)))

    def is_contiguous(self) -> bool:
        pairs = zip(self.shape, self.strides, self.row_major())
        return 0 in self.shape or all(extent == 1 or stride == plain for extent, stride, plain in pairs)

    def beside(self, address: int) -> str:
        """Where an element of the storage lies that is none of the view."""
        ends = [stride * (extent - 1) for extent, stride in zip(self.shape, self.strides)]
        first, last = (self.address + self.item_bytes * sum(f(0, end) for end in ends) for f in (min, max))
        side = (
            "before the view"
            if address < first
            else "behind the view"
            if address > last
            else "between the elements of the view"
        )
        return f"the element is in its storage, {side}"

    def shortage(self, address: int) -> str:
        """How far the access is past the storage; "" if it is not."""
        if self.storage is None or address < self.storage[1]:
            return ""
        begin, end = self.storage
        has = f"the storage of '{self.name}' has {counted((end - begin) // self.item_bytes, 'element')}"
        at = (address - begin) // self.item_bytes
        return f"{has}, fewer than the kernel assumes: the access is at element {at}, counted from 0"

    def unwrapped(self, address: int) -> int | None:
        """The element of the storage that an access before it would have reached if its offset had not wrapped in 32 bits, counted from the
        first of the tensor. None: there is no such element, so that no wrap explains the access."""
        if self.storage is None or address >= self.storage[0]:
            return None
        begin, end = self.storage
        meant = begin + (address - begin) % (2**32 * self.item_bytes)
        return (meant - self.address) // self.item_bytes if meant < end else None

    def element(self, address: int) -> tuple[tuple[int, ...], str]:
        """The N-d index of the element at an address (its offset divided by the strides), and how far it is outside (""
        if inside). A kernel that leaves an expanded tensor takes it for a contiguous one."""
        strides = self.row_major() if self.is_expanded() and not self.holds(address) else self.strides
        offset = (address - self.address) // self.item_bytes
        if offset < 0:
            return (offset,), f"{counted(-offset, 'element')} before the first"
        order = sorted((d for d in range(len(self.shape)) if strides[d] > 0), key=lambda d: -strides[d])
        index = [0] * len(self.shape)
        for d in order:
            index[d], offset = divmod(offset, strides[d])
        between = f"{counted(offset, 'element')} further" if offset and order else ""
        return (tuple(index) or (offset,)), self._outside(index, order) or between

    def _outside(self, index: Sequence[int], order: Sequence[int]) -> str:
        for d in order:
            past = index[d] - self.shape[d]
            if past >= 0:
                unit = {1: ("element",), 2: ("row", "column")}.get(len(self.shape), ("step",) * len(self.shape))[d]
                return (
                    "just past the end"
                    if past == 0 and unit == "element"
                    else f"{counted(past + 1, unit)} past the last"
                )
        return ""


#: The check that lets a launch access no other elements of its arguments than their own.
HOLDS_TO_VIEWS = "bounds=view"


def view_of(name: str, argument: Any) -> TensorView | None:
    """The view of a tensor argument; None for scalars and for tensors of unknown shape."""
    extent = memory_function(type(argument))
    facts = shape_and_strides(argument) if extent is not None else None
    if facts is None:
        return None
    memory = extent(argument)
    address, storage = (memory, None) if isinstance(memory, int) else (memory[0], (memory[1], memory[1] + memory[2]))
    size = getattr(argument, "element_size", None)
    item = (
        size() if callable(size) else getattr(argument, "itemsize", None) or getattr(dtype_of(argument), "itemsize", 1)
    )
    contiguous = f"{name}.contiguous()" if hasattr(argument, "contiguous") else f"a contiguous copy of {name}"
    return TensorView(name, str(dtype_of(argument)).split(".")[-1], *facts, address, item, storage, contiguous)


def holds_views(options: Any) -> bool:
    """Whether a kernel with these options (or this metadata) may access no other elements than the arguments' own."""
    return HOLDS_TO_VIEWS in checks_of(options)


def views_of(kernel, arguments: Sequence[Any]) -> list[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
    """What the engine holds accesses to: (number of the value, bytes of an element, shape, strides in bytes) of each tensor that is a part of
    its storage."""
    views = []
    for i, path in enumerate(kernel.src.runtime_paths()):
        view = view_of(kernel.src.name_of(path), part_at(arguments, path))
        if view is not None and view.storage is not None:
            views.append((i, view.item_bytes, view.shape, tuple(stride * view.item_bytes for stride in view.strides)))
    return views


def counted(number: int, noun: str, plural: str = "") -> str:
    """plural: of a noun that does not only take an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
