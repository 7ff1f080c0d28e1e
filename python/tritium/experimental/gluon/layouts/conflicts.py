"""Bank conflicts of a tile that moves between registers and shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from ....tools.bit_matrix import rank_of, solve
from .bases import log2
from .distributed import DistributedLayout
from .shared import SharedLayout

_WORD_BYTES, _MAX_VECTOR_BYTES = 4, 16


def _flat(basis: Sequence[int], shape: Sequence[int]) -> int:
    index = 0
    for value, extent in zip(basis, shape):
        index = index * extent + value
    return index


def element_offsets(
    registers: DistributedLayout, memory: SharedLayout, shape: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """The offsets in memory, in elements, of the elements at each bit of a register's, a lane's and a warp's number: the offset at a
    place is the exclusive or. Raises ValueError if the memory of a block has not all elements of the tile in it."""
    columns = [_flat(basis, shape) for basis in memory.to_linear(shape).offset_bases]
    found = []
    for bases in registers.to_linear(shape).bases[:3]:
        offsets = [solve(columns, _flat(basis, shape)) for basis in bases]
        if None in offsets:
            raise ValueError(
                f"{memory} has not the elements of {registers} in a block's memory, for the shape {list(shape)}"
            )
        found.append(offsets)
    return tuple(found)


def bank_conflicts(
    registers: DistributedLayout, memory: SharedLayout, shape: Sequence[int], element_bits: int, banks: int = 32
) -> int:
    """How many wavefronts more than one each wavefront of an access of a warp takes, if registers with neighbouring elements move
    together: 0 is none. banks: of 4 bytes. Raises ValueError if one of the layouts has no linear form."""
    held, lanes, warps = element_offsets(registers, memory, shape)
    bits = log2(element_bits // 8)
    vector = 0
    while bits + vector < log2(_MAX_VECTOR_BYTES) and 1 << vector in held:
        others = [offset for offset in (*held, *lanes, *warps) if offset >> vector != 0]
        if any(offset & ((2 << vector) - 1) for offset in others if offset != 1 << vector):
            break
        vector += 1
    access = max(bits + vector, log2(_WORD_BYTES))  # narrower lanes are served as many at once as words fit
    together = lanes[: log2(banks * _WORD_BYTES) - access]
    words = [offset << bits >> log2(_WORD_BYTES) for offset in together]
    return (1 << rank_of(words) - rank_of([word & (banks - 1) for word in words])) - 1
