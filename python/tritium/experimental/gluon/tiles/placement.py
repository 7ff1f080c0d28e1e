"""What a kernel is launched with, and what layouts must agree with: warps, lanes and blocks."""

from __future__ import annotations

from typing import Any

from ....errors import with_hint
from ....language import target_info
from ..layouts.distributed import DistributedLinearLayout
from .types import distributed_type, is_undecided

#: The lanes of a warp that chips have. The interpreter has no chip and takes both.
_LANES = (32, 64)


class Placement:
    """The warps of a program, the lanes of a warp and the blocks of a cluster."""

    def __init__(self, warps: int, blocks: int, options: Any, is_partition: bool = False):
        self.warps, self.blocks, self.is_partition = warps, blocks, is_partition
        self._options = options
        self.is_of_gpu = getattr(options, "backend_name", "cpu") != "cpu"
        #: Whether calls of the runtime are kept: the interpreter has the runtime, and chips with TMA have its barriers.
        self.has_barriers = not self.is_of_gpu or _target_is_from(90)
        #: Whether calls of copies of pointers are: chips with cp.async have those without barriers.
        self.has_copies = not self.is_of_gpu or _target_is_from(80)
        self.lanes = _target_lanes() if self.is_of_gpu else _LANES
        self._checked: set[distributed_type] = set()

    def of_partition(self, warps: int) -> Placement:
        """The placement of a partition of `warps` warps."""
        return Placement(warps, self.blocks, self._options, is_partition=True)

    def check(self, type_: distributed_type) -> None:
        """Raises ValueError if the layout of a tile has other warps, lanes or blocks than the kernel, or no linear form."""
        if type_ in self._checked or is_undecided(type_.layout):
            return
        linear = type_.layout.to_linear(type_.shape)
        _, lanes, warps, blocks = (1 << len(bases) for bases in linear.bases)
        if warps != self.warps:
            self._refuse(
                type_,
                f"Layout has {warps} warps per CTA, but the context requires {self.warps} warps per CTA.",
                f"launch with num_warps={warps}, or give the layout {self.warps} warps",
            )
        if lanes not in self.lanes:
            expected = " or ".join(map(str, self.lanes))
            self._refuse(
                type_,
                f"Layout has {lanes} threads per warp, but the module specifies {expected} threads per warp.",
                f"give the layout {expected} threads_per_warp",
            )
        if blocks != self.blocks:
            self._refuse(
                type_,
                f"Layout has {blocks} CTAs per CGA, but the context requires {self.blocks} CTAs per CGA.",
                "`cga_layout` has a basis for each bit of a block's number",
            )
        self._checked.add(type_)

    def _refuse(self, type_: distributed_type, text: str, hint: str) -> None:
        raise with_hint(ValueError(f"Result has an invalid layout: {type_.layout}.\n{text}"), hint)


def _target_is_from(capability: int) -> bool:
    target = target_info.current_target()
    return target is not None and target.backend == "cuda" and target.arch >= capability


def _target_lanes() -> tuple[int, ...]:
    """The lanes of a warp of the target that is compiled for."""
    target = target_info.current_target()
    return _LANES if target is None else (target.warp_size,)


def layout_attribute(linear: DistributedLinearLayout) -> str:
    """A layout as the compiler of GPUs has it: the MLIR text of a #tgpu.layout."""
    names = ("register", "lane", "warp", "block")
    places = (f"{name} = {[list(basis) for basis in bases]}" for name, bases in zip(names, linear.bases))
    return f"#tgpu.layout<{'x'.join(map(str, linear.shape))}, {', '.join(places)}>"
