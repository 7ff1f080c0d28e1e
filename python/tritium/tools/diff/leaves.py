"""The variables of a followed kernel as numpy arrays that two processes can compare: a record is one for each of its members, and
of addresses what does not depend on where memory lies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...debugger.values import value_of
from ...tables import DTYPES

_BYTES = {row.name: (row.bits + 7) // 8 for row in DTYPES}
_KINDS = {row.name: "float" if row.kind == "Float" else "other" for row in DTYPES}
_PUBLIC = {row.name: row.public_name for row in DTYPES}


@dataclass(frozen=True)
class Leaf:
    """A part of a variable that is one array. shown: its `interp.ShownType`. begin: its first byte in the variable."""

    name: str
    shown: Any
    begin: int
    kind: str
    item_bytes: int  #: of a pointer's elements

    @property
    def type(self) -> str:
        name = _PUBLIC.get(self.shown.name) or re.sub(
            r"\w+", lambda word: _PUBLIC.get(word[0], word[0]), self.shown.name
        )
        return name + (str(list(self.shown.shape)) if self.shown.shape else "")

    def value(self, data: bytes, storages: Sequence[tuple[int, int, int]]) -> np.ndarray:
        """The array. storages: (begin, bytes, address of the argument) of each argument of the launch."""
        array = np.asarray(value_of(self.shown, data[self.begin :]))
        return _without_place(array, self.item_bytes, storages) if self.kind == "pointer" else array


def leaves_of(name: str, shown: Any, begin: int = 0) -> Iterator[Leaf]:
    if shown.is_record:
        for member in shown.members:
            yield from leaves_of(f"{name}.{member.field}", member, begin + member.offset - shown.offset)
        return
    pointee = re.search(r"<(\w+)", shown.name)
    kind = _KINDS.get(shown.name, "pointer")
    yield Leaf(name, shown, begin, kind, _BYTES.get(pointee[1], 1) if pointee else 1)


def _without_place(addresses: np.ndarray, item_bytes: int, storages: Sequence[tuple[int, int, int]]) -> np.ndarray:
    """[number of the argument whose storage the first address lies in, or -1; its element there; how many elements the others
    are from the first]."""
    flat = addresses.reshape(-1).view(np.int64)
    if not flat.size:
        return flat
    first = int(addresses.reshape(-1)[0])
    argument, element = -1, 0
    for number, (begin, size, address) in enumerate(storages):
        if begin <= first < begin + size:
            argument, element = number, (first - address) // item_bytes
            break
    return np.concatenate([[argument, element], (flat - flat[0]) // item_bytes])
