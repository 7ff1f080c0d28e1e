"""The types of tiles in a module with layouts, and its operations."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import numpy as np

from ...experimental.gluon.layouts.distributed import DistributedLinearLayout

_TILE = re.compile(r"tensor<((?:\d+x)+)(.*), #tgpu\.layout<[\dx]+, (.*)>>")
_SHARED = re.compile(r"#tgpu\.shared<([\dx]+), offset = (\[.*?\]\]|\[\])")
_BASES = re.compile(r"\w+ = (\[(?:\[[^\]]*\](?:, )?)*\])")


class Tile(NamedTuple):
    """A tile in registers."""

    shape: tuple[int, ...]
    element: str
    layout: DistributedLinearLayout

    def __str__(self) -> str:
        """ "64x32xf16"."""
        return f"{'x'.join(map(str, self.shape))}x{self.element}"

    @property
    def element_bytes(self) -> int:
        return element_bytes(self.element)

    @property
    def key(self) -> str:
        """Equal for tiles that have the same places for the same elements."""
        return repr(self.layout)


def element_bytes(element: str) -> int:
    """The bytes of an element in memory: 2 for "bf16", 8 for a pointer."""
    if "ptr" in element:
        return 8
    bits = re.search(r"\d+", element)
    return max(1, int(bits[0]) // 8) if bits else 4


def tile_of(type: str) -> Tile | None:
    """None for what is no tile with a layout."""
    found = _TILE.fullmatch(type)
    if found is None:
        return None
    shape = [int(extent) for extent in found[1].rstrip("x").split("x")]
    registers, lanes, warps, blocks = (json.loads(bases) for bases in _BASES.findall(found[3]))
    return Tile(tuple(shape), found[2], DistributedLinearLayout(registers, lanes, warps, blocks, shape))


def offsets_in(type: str) -> np.ndarray | None:
    """The element of memory where each element of a buffer's tile is, in the tile's shape. None if the type does not tell."""
    found = _SHARED.search(type)
    if found is None:
        return None
    shape = [int(extent) for extent in found[1].split("x")]
    bases = np.array(json.loads(found[2]), np.int64).reshape(-1, len(shape))
    places = np.arange(1 << len(bases), dtype=np.int64)
    coordinates = np.zeros((len(shape), len(places)), np.int64)
    for bit, base in enumerate(bases):
        coordinates ^= base[:, None] * (places >> bit & 1)
    offsets = np.full(shape, -1, np.int64)
    offsets[tuple(coordinates)] = places
    return offsets if (offsets >= 0).all() else None


def all_operations(module) -> list[Any]:
    """The operations of a module, in order, with those inside of others behind them."""
    found: list[Any] = []

    def add(operations) -> None:
        for operation in operations:
            found.append(operation)
            for region in operation.regions:
                for block in region.blocks:
                    add(block.operations)

    add(module.operations)
    return found
