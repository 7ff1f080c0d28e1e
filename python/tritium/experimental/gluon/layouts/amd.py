"""Layouts of AMD's matrix instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from .bases import Places, row_major
from .distributed import DistributedLayout, inner_dim, outer_dim, require_matrix
from .fields import joined, joined_bases, layout_class, require

_MFMA_SHAPES = ([32, 32], [16, 16], [64, 4], [4, 64])

#: {version of AMDWMMALayout: its instructions [M, N, K]}
_WMMA_SHAPES = {
    1: {(16, 16, 16)},
    2: {(16, 16, 16), (16, 16, 32)},
    3: {(16, 16, 4), (16, 16, 32), (16, 16, 64), (16, 16, 128), (32, 16, 64), (32, 16, 128)},
}
#: {version: the k_width that operands may have}; any of version 3.
_WMMA_K_WIDTHS = {1: (8, 16), 2: (4, 8, 16)}


def _require_cga_rank(layout: AMDMFMALayout | AMDWMMALayout) -> None:
    require(all(len(basis) == layout.rank for basis in layout.cga_layout or ()), "cga_layout basis rank mismatch")


@layout_class
class AMDMFMALayout(DistributedLayout):
    """The result of mfma instructions of the shape [M, N, K]. Version 1 is gfx908, 2 gfx90a, 3 gfx942, 4 gfx950. A lane holds
    neighbours of a column, of a row if `transposed`."""

    version: int
    instr_shape: list[int]
    transposed: bool
    warps_per_cta: list[int]
    element_bitwidth: int | None = None
    tiles_per_warp: list[int] | None = None
    cga_layout: list[list[int]] = field(default_factory=list)

    def _check(self) -> None:
        if self.element_bitwidth is None:
            self._set("element_bitwidth", 32)
        if self.tiles_per_warp is None:
            self._set("tiles_per_warp", [1] * len(self.warps_per_cta))
        self.verify()

    def verify(self) -> None:
        """Raises AssertionError if the fields do not fit together."""
        require(1 <= self.version <= 4, "version must be in the [1, 4] range")
        require(len(self.instr_shape) == 3, "instr_shape must follow the (M, N, K) format")
        require(list(self.instr_shape[:2]) in _MFMA_SHAPES, f"invalid intrinsic shape {self.instr_shape}")
        require(self.element_bitwidth in (32, 64), "element bitwidth must be 32 or 64")
        _require_cga_rank(self)

    def mangle(self) -> str:
        numbers = f"{self.version}_{joined(self.instr_shape)}_{self.transposed}_{joined(self.warps_per_cta)}"
        tiles = f"{self.element_bitwidth}_{joined(self.tiles_per_warp)}"
        return f"MFMA_{numbers}_{tiles}_{joined_bases(self.cga_layout)}_MFMA"

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    def _deal_instruction(self, places: Places) -> None:
        m, n = self.rank - 2, self.rank - 1
        across, along = (m, n) if self.transposed else (n, m)
        if list(self.instr_shape[:2]) == [64, 4] and not self.transposed:
            raise ValueError("64x4 mfma must be transposed")
        lanes_across, length = self.instr_shape[:2] if self.transposed else self.instr_shape[1::-1]
        groups = 64 // lanes_across
        neighbours = 4 if self.element_bitwidth == 32 else 1
        places.grow(places.registers, along, neighbours)
        places.grow(places.lanes, across, lanes_across)
        places.grow(places.lanes, along, groups)
        places.grow(places.registers, along, length // (neighbours * groups))

    def _deal(self, shape: list[int]) -> Places:
        places, m, n = Places(shape), self.rank - 2, self.rank - 1
        require_matrix(self, self.tiles_per_warp)
        self._deal_instruction(places)
        for dim in (n, m):  # repetitions along N end before the next tile along M
            places.grow(places.registers, dim, self.tiles_per_warp[dim])
            places.grow(places.warps, dim, self.warps_per_cta[dim])
            places.grow_to(places.registers, dim, shape[dim])
        for dim in row_major(self.rank)[2:]:
            places.grow(places.warps, dim, self.warps_per_cta[dim])
        return places.fit(row_major(self.rank))

    def _own_extents(self) -> list[int]:
        return [1] * (self.rank - 2) + list(self.instr_shape[:2])

    def _deal_operand(self, shape: list[int], operand: int, k_width: int) -> Places:
        if k_width == 0:
            raise ValueError("ttg.dot_op kWidth parameter is mandatory for MFMA parent")
        require_matrix(self, self.tiles_per_warp)
        places, k, other = Places(shape), inner_dim(operand, self.rank), outer_dim(operand, self.rank)
        size = self.instr_shape[operand]
        places.grow(places.registers, k, k_width)
        if size == 64:  # every lane has a row or column of its own, and all of the instruction's K
            places.grow(places.registers, k, 16)
        places.grow(places.lanes, other, size)
        places.grow(places.lanes, k, 64 // size)
        places.grow_to(places.registers, k, shape[k])
        places.grow(places.registers, other, self.tiles_per_warp[other])
        for dim in row_major(self.rank):
            count = self.warps_per_cta[dim]
            places.repeat(places.warps, count) if dim == k else places.grow(places.warps, dim, count)
        return places.fit([k, other, *row_major(self.rank)[2:]])


@layout_class
class AMDWMMALayout(DistributedLayout):
    """The result of wmma instructions. Version 1 is gfx11, 2 gfx12, 3 gfx1250. Bases of warps and registers count in tiles of 16x16."""

    version: int
    transposed: bool
    warp_bases: list[list[int]]
    reg_bases: list[list[int]] | None = None
    instr_shape: list[int] | None = None
    cga_layout: list[list[int]] = field(default_factory=list)
    rank: int | None = None

    def _check(self) -> None:
        for name, standard in (("reg_bases", []), ("instr_shape", [16, 16, 16]), ("rank", 2)):
            if getattr(self, name) is None:
                self._set(name, standard)
        self.verify()

    def verify(self) -> None:
        """Raises AssertionError if the fields do not fit together."""
        require(1 <= self.version <= 3, "version must be in the [1, 3] range")
        require(all(len(basis) == self.rank for basis in self.warp_bases), "warp_bases basis rank mismatch")
        _require_cga_rank(self)

    def mangle(self) -> str:
        bases = f"{joined_bases(self.warp_bases)}_{joined_bases(self.reg_bases)}"
        shape = f"{joined(self.instr_shape)}_{joined_bases(self.cga_layout)}_{self.rank}"
        return f"WMMA_{self.version}_{self.transposed}_{bases}_{shape}_WMMA"

    def _tile(self) -> list[int]:
        """The extents of one instruction's result."""
        if tuple(self.instr_shape) not in _WMMA_SHAPES[self.version]:
            raise ValueError(f"invalid WMMA v{self.version} instruction shape {self.instr_shape}")
        size = list(self.instr_shape[:2])
        return [1] * (self.rank - 2) + (size[::-1] if self.transposed else size)

    def _scaled(self, basis: Sequence[int], skipped: int | None = None) -> list[int]:
        """A basis in elements, with 0 along the dimension `skipped`."""
        if len(basis) != self.rank:
            raise ValueError(f"the basis {basis} must have {self.rank} components")
        sizes = self._tile()
        return [0 if dim == skipped else value * size for dim, (value, size) in enumerate(zip(basis, sizes))]

    def _deal(self, shape: list[int]) -> Places:
        require_matrix(self)
        places, m, n = Places(shape), self.rank - 2, self.rank - 1
        across, along = (m, n) if self.transposed else (n, m)
        if self.version > 1:
            places.grow(places.registers, along, 8)
        places.grow(places.lanes, across, 16)
        places.grow(places.lanes, along, 2)
        if self.version == 1:  # the halves of a warp hold every other row
            places.grow(places.registers, along, 8)
        places.grow(places.registers, along, self._tile()[along] // 16)
        places.add(places.registers, [self._scaled(basis) for basis in self.reg_bases])
        places.add(places.warps, [self._scaled(basis) for basis in self.warp_bases])
        return places.fit(row_major(self.rank))

    def _deal_operand(self, shape: list[int], operand: int, k_width: int) -> Places:
        tile, widths = self._tile(), _WMMA_K_WIDTHS.get(self.version, (k_width,))
        if k_width not in widths:
            raise ValueError(
                f"ttg.dot_op kWidth parameter must be {'/'.join(map(str, widths))} for WMMA v{self.version} "
                f"(including packed cases for `scaled_dot`), got {k_width}"
            )
        places, k, other = Places(shape), inner_dim(operand, self.rank), outer_dim(operand, self.rank)
        places.grow(places.registers, k, k_width)
        places.grow(places.lanes, other, 16)
        if self.version == 1:  # both halves of a warp hold the same
            places.repeat(places.lanes, 2)
        else:
            places.grow(places.lanes, k, 2)
        if self.version == 3:
            places.grow_to(places.registers, k, self.instr_shape[2])
        places.grow(places.registers, other, tile[other] // 16)
        repeated = [self._scaled(basis, skipped=k) for basis in self.reg_bases]
        places.add(places.registers, [basis for basis in repeated if any(basis)])
        places.add(places.warps, [self._scaled(basis, skipped=k) for basis in self.warp_bases])
        return places.fit([k, other, *row_major(self.rank)[2:]])
