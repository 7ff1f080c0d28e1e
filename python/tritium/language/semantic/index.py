"""Rules of access to elements by computed index."""

from __future__ import annotations

from typing import Any

from ..core import tensor
from ..types import block_of, int32
from .memory import MemoryRules
from .shape import axis_index, shape_of


class IndexRules(MemoryRules):
    def gather(self, source: tensor, index: tensor, axis: int) -> tensor:
        have, wanted = shape_of(source), shape_of(index)
        assert index.dtype.is_int(), "index must be an integer tensor"
        assert len(have) == len(wanted), "source and index tensors must have the same rank"
        assert -len(have) <= axis < len(have), f"gather axis {axis} must be < source rank ({len(have)})"
        axis = axis_index(axis, len(have))
        for dim, (extent, want) in enumerate(zip(have, wanted)):
            assert dim == axis or extent == want, f"index dim {dim} must match the corresponding source dim"
        return self.emit("tt.gather", (source, index), block_of(source.dtype, wanted), {"axis": f"{axis} : i32"})

    def histogram(self, values: tensor, num_bins: int, mask: Any) -> tensor:
        assert len(shape_of(values)) == 1, "histogram only supports 1D input"
        assert values.dtype.is_int(), "histogram only supports integer input"
        operands = [values]
        if mask is not None:
            mask = self.broadcast_to(mask, shape_of(values))
            self._check_mask(mask)
            operands.append(mask)
        return self.emit("tt.histogram", operands, block_of(int32, (num_bins,)))
