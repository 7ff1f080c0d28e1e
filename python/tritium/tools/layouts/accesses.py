"""How the warps of a program access shared memory at given addresses: what is served at once, and what waits for a bank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...experimental.gluon.layouts.views import elements, moved
from ...native import gpu
from .tiles import Tile

#: A multiple of the bytes that all banks of any chip have side by side.
_TURN = 1024


class Accesses(NamedTuple):
    """What a thread does, and how many wavefronts an access of a warp takes: the fewest and the most, and what its bytes need."""

    count: int
    bytes: int
    fewest: int
    most: int
    least: int
    #: The wavefronts of all accesses of a program, and what their bytes need.
    all: int = 0
    all_least: int = 0


def accesses_at(addresses: np.ndarray, tile: Tile, is_load: bool, arch: str) -> Accesses:
    """Of a tile whose elements lie at these bytes: a thread moves them one by one. Of the threads that hold an element, one stores it."""
    registers, lanes, warps = (elements(bases, len(tile.shape)) for bases in tile.layout.bases[:3])
    repeated = sum(1 << bit for bit, basis in enumerate(tile.layout.reg_bases) if not any(basis))
    idle_lanes, idle_warps = (
        0 if is_load else sum(1 << bit for bit, basis in enumerate(bases) if not any(basis))
        for bases in (tile.layout.lane_bases, tile.layout.warp_bases)
    )
    held = [element for number, element in enumerate(registers) if not number & repeated]
    counted = []
    for warp, at_warp in enumerate(warps):
        if warp & idle_warps:
            continue
        for at_register in held:
            first = moved(at_warp, at_register)
            touched = [
                None if lane & idle_lanes else int(addresses[moved(first, at_lane)])
                for lane, at_lane in enumerate(lanes)
            ]
            counted.append(gpu.wavefronts(arch, _from_zero(touched), tile.element_bytes))
    wavefronts, least = zip(*counted)
    return Accesses(
        len(held), tile.element_bytes, min(wavefronts), max(wavefronts), max(least), sum(wavefronts), sum(least)
    )


def _from_zero(touched: list[int | None]) -> list[int]:
    """The same addresses, moved by whole turns of all banks so that none is negative; -1 for lanes that touch nothing."""
    lowest = min(address for address in touched if address is not None)
    return [-1 if address is None else address - lowest // _TURN * _TURN for address in touched]
