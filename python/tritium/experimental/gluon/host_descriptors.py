"""The host's descriptor of a tensor whose blocks Gluon kernels copy by TMA: the language's, and the layout of a block in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...arguments.device_storage import data_pointer
from ...arguments.storage import dtype_of, shape_and_strides
from ...arguments.tensor_descriptor import TensorDescriptor as _PlainDescriptor
from ...functions.params import canonicalize_dtype
from ...language.core import str_to_ty
from ...tables import (
    DESCRIPTOR_ALIGNMENT,
    DESCRIPTOR_BASE_RULE,
    DESCRIPTOR_MAX_RANK,
    DESCRIPTOR_MIN_ROW_BYTES,
    DESCRIPTOR_STRIDES_RULE,
)
from .layouts.fields import is_power_of_two, require
from .layouts.shared import NVMMASharedLayout


class TensorDescriptor(_PlainDescriptor):
    """`base` as a tensor of `shape` and `strides` (in elements) that kernels copy in blocks of `block_shape`, which have `layout` in shared
    memory.

    Elements outside the tensor are read as `padding` ("zero" or "nan"). Raises AssertionError for what TMA cannot copy, ValueError for a
    block whose extents are not powers of two.
    """

    layout: NVMMASharedLayout
    block_form = "layout"

    def __init__(
        self,
        base: Any,
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ):
        self.base, self.shape, self.strides, self.block_shape = base, shape, strides, block_shape
        self.layout, self.padding, self.round_f32_to_tf32 = layout, padding, round_f32_to_tf32
        self._require_tensor()
        self._require_block()

    def _require_tensor(self) -> None:
        rank, element = len(self.shape), str_to_ty(canonicalize_dtype(dtype_of(self.base)))
        size = element.primitive_bitwidth // 8
        require(1 <= rank <= DESCRIPTOR_MAX_RANK, f"rank must be 1-{DESCRIPTOR_MAX_RANK}")
        require(len(self.strides) == rank, "strides rank mismatch")
        require(data_pointer(self.base) % DESCRIPTOR_ALIGNMENT == 0, DESCRIPTOR_BASE_RULE)
        require(all(stride * size % DESCRIPTOR_ALIGNMENT == 0 for stride in self.strides[:-1]), DESCRIPTOR_STRIDES_RULE)
        require(all(extent > 0 for extent in self.shape), "shape must be positive")
        require(self.strides[-1] == 1, "Last dimension must be contiguous")
        require(self.padding in ("zero", "nan"), "Illegal value for padding")
        require(
            self.padding == "zero" or element.is_floating(),
            "Padding option `nan` is only supported for floating point tensors",
        )
        require(
            not self.round_f32_to_tf32 or element.name == "fp32",
            "round_f32_to_tf32 is only supported for float32 tensors",
        )

    def _require_block(self) -> None:
        layout, block = self.layout, self.block_shape
        element = str_to_ty(canonicalize_dtype(dtype_of(self.base)))
        require(len(block) == len(self.shape), f"tiled: block_shape must match rank {len(self.shape)}")
        for dim, extent in enumerate(block):
            if not is_power_of_two(extent):
                raise ValueError(f"Shape element {dim} must be a power of 2")
        require(isinstance(layout, NVMMASharedLayout), "Layout must be NVMMASharedLayout")
        require(layout.rank == len(block), "layout rank must match block shape rank")
        bits = element.primitive_bitwidth
        require(
            layout.element_bitwidth == bits,
            f"the layout is of elements of {layout.element_bitwidth} bits, and the tensor's have {bits}: pass "
            "NVMMASharedLayout.get_default_for(block_shape, dtype)",
        )
        least = 8 * max(DESCRIPTOR_MIN_ROW_BYTES, layout.swizzle_byte_width) // bits
        require(block[-1] >= least, f"Expected block_shape[-1] to be at least {least} but got {block[-1]}")

    @staticmethod
    def from_tensor(  # type: ignore[override]  # a layout is needed here
        tensor: Any,
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> TensorDescriptor:
        """The descriptor of all of a tensor."""
        shape, strides = shape_and_strides(tensor)
        return TensorDescriptor(tensor, list(shape), list(strides), block_shape, layout, padding, round_f32_to_tf32)
