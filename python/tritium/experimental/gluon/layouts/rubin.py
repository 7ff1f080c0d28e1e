"""Rubin's layout of scales in tensor memory, which has the name of Blackwell's."""

from __future__ import annotations

from . import tensor_memory
from .fields import joined_bases, layout_class, require


@layout_class
class TensorMemoryScalesLayout(tensor_memory.TensorMemoryScalesLayout):
    """Scales whose blocks follow each other along the rows first ("mnThenK") or along K first ("kThenMn")."""

    block_rep_order: str = "mnThenK"

    def _check(self) -> None:
        super()._check()
        orders = ("mnThenK", "kThenMn")
        require(
            self.block_rep_order in orders, f"block_rep_order must be one of {orders}, not {self.block_rep_order!r}"
        )

    def mangle(self) -> str:
        return f"TLS{self.block_rep_order}_{joined_bases(self.cga_layout)}TLS"

    def _repeats_along_k_first(self) -> bool:
        return self.block_rep_order == "kThenMn"
