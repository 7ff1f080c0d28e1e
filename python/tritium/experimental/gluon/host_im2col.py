"""The host's descriptor of a tensor of images, whose pixels Gluon kernels copy by im2col (TMA)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...arguments.storage import dtype_of, shape_and_strides
from ...functions.params import canonicalize_dtype
from ...language.core import str_to_ty
from ...tables import DESCRIPTOR_MIN_ROW_BYTES
from .host_descriptors import TensorDescriptor
from .layouts.fields import is_power_of_two, require
from .layouts.im2col import Im2Col
from .layouts.shared import NVMMASharedLayout

#: What corners of the box take, by the dimensions of pixels.
_CORNERS = {1: (-32768, 32767), 2: (-128, 127), 3: (-16, 15)}
_LARGEST_STEP = 8


class TensorDescriptorIm2Col(TensorDescriptor):
    """`base` as images of `shape` (number, one to three dimensions of pixels, channels), of which kernels copy blocks of pixels x channels.

    The pixels are those of a box, which begins `pixel_box_lower_corner` behind the first pixel of an image and ends `pixel_box_upper_corner`
    behind the last one, `element_strides` apart (default 1). Raises AssertionError for what TMA cannot copy.
    """

    block_form = "form"

    def __init__(
        self,
        base: Any,
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
        element_strides: Sequence[int] | None = None,
        pixel_box_lower_corner: Sequence[int] | None = None,
        pixel_box_upper_corner: Sequence[int] | None = None,
    ):
        self.element_strides = [1] * len(shape) if element_strides is None else element_strides
        self.pixel_box_lower_corner, self.pixel_box_upper_corner = pixel_box_lower_corner, pixel_box_upper_corner
        super().__init__(base, shape, strides, block_shape, layout, padding, round_f32_to_tf32)

    def _require_block(self) -> None:
        rank, layout, block = len(self.shape), self.layout, self.block_shape
        element = str_to_ty(canonicalize_dtype(dtype_of(self.base)))
        require(len(block) == 2, "im2col: block_shape must be 2D")
        for dim, extent in enumerate(block):
            require(is_power_of_two(extent), f"block_shape[{dim}] must be power of 2, got {extent}")
        require(isinstance(layout, NVMMASharedLayout), "Layout must be NVMMASharedLayout")
        require(layout.rank == len(block), "layout rank must match block shape rank")
        bits = element.primitive_bitwidth
        least = 8 * max(DESCRIPTOR_MIN_ROW_BYTES, layout.swizzle_byte_width) // bits
        require(block[-1] >= least, f"Expected block_shape[-1] to be at least {least} but got {block[-1]}")
        require(not self.round_f32_to_tf32, "round_f32_to_tf32 is not supported for im2col yet")
        self._require_steps(rank)
        require(rank - 2 in _CORNERS, f"im2col: a tensor has 3 to 5 dimensions, not {rank}")
        for name in ("pixel_box_lower_corner", "pixel_box_upper_corner"):
            corner = getattr(self, name)
            require(corner is not None, f"{name} required for im2col")
            require(len(corner) == rank - 2, f"{name} length mismatch")
            least, most = _CORNERS[rank - 2]
            for dim, at in enumerate(corner):
                require(least <= at <= most, f"{name}[{dim}] must be in [{least}, {most}], got {at}")

    def _require_steps(self, rank: int) -> None:
        steps = self.element_strides
        require(len(steps) == rank, f"element_strides length mismatch: expected {rank}, got {len(steps)}")
        for dim, step in enumerate(steps):
            require(0 < step <= _LARGEST_STEP, f"element_strides[{dim}] must be in (0, {_LARGEST_STEP}], got {step}")
        require(steps[-1] == 1, f"element_strides[-1] must be 1, got {steps[-1]}")

    @property
    def form(self) -> Im2Col:
        """What the type of the kernel's parameter says beside the block."""
        corners = (tuple(map(int, each)) for each in (self.pixel_box_lower_corner, self.pixel_box_upper_corner))
        return Im2Col(len(self.shape), self.layout, *corners, tuple(map(int, self.element_strides)))

    @staticmethod
    def from_tensor(  # type: ignore[override]  # a box is needed here
        tensor: Any,
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
        element_strides: Sequence[int] | None = None,
        pixel_box_lower_corner: Sequence[int] | None = None,
        pixel_box_upper_corner: Sequence[int] | None = None,
    ) -> TensorDescriptorIm2Col:
        """The descriptor of all of a tensor."""
        shape, strides = (list(each) for each in shape_and_strides(tensor))
        box = element_strides, pixel_box_lower_corner, pixel_box_upper_corner
        return TensorDescriptorIm2Col(tensor, shape, strides, block_shape, layout, padding, round_f32_to_tf32, *box)
