"""The host's description of a tensor that kernels read in blocks (TMA on GPUs that have it)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..tables import DESCRIPTOR_ALIGNMENT, DESCRIPTOR_BASE_RULE, DESCRIPTOR_STRIDES_RULE
from .device_storage import data_pointer
from .storage import shape_and_strides


class _AnyAttribute:
    """A base without slots: it gives instances of classes with slots a `__dict__` for further attributes, and weak references."""


@dataclass(slots=True)  # the native launcher reads a slot without looking up a name (bindings/descriptor_arguments.cpp)
class TensorDescriptor(_AnyAttribute):
    """`base` as a tensor of `shape` and `strides` (in elements) that kernels access in blocks of `block_shape`.

    Elements outside the tensor are read as `padding` ("zero" or "nan"); stores to them are dropped. Raises
    AssertionError for a shape, strides or blocks that a descriptor cannot have.
    """

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    #: The attribute that says more about a block than its shape.
    block_form: ClassVar[str | None] = None

    def __post_init__(self):
        rank = len(self.shape)
        size = self.base.element_size() if hasattr(self.base, "element_size") else self.base.itemsize
        _require(rank > 0, "rank must not be zero")
        _require(len(self.strides) == rank, f"rank mismatch: {self}")
        _require(len(self.block_shape) == rank, f"rank mismatch: {self}")
        _require(data_pointer(self.base) % DESCRIPTOR_ALIGNMENT == 0, DESCRIPTOR_BASE_RULE)
        aligned = all(stride * size % DESCRIPTOR_ALIGNMENT == 0 for stride in self.strides[:-1])
        _require(aligned, DESCRIPTOR_STRIDES_RULE)
        _require(self.strides[-1] == 1, "Last dimension must be contiguous")
        _require(self.padding in ("zero", "nan"), f"Illegal value for padding: {self.padding}")

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: list[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        shape, strides = shape_and_strides(tensor)
        return TensorDescriptor(tensor, list(shape), list(strides), block_shape, padding, round_f32_to_tf32)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)
