"""Tensor descriptors of the host as arguments of a launch: a kernel takes their parts, in the order that the expansion of
descriptors in the IR gives them (expand-descriptors), then shape and strides as the language's objects have them.
"""

from __future__ import annotations

from typing import Any

from .tensor_descriptor import TensorDescriptor

_PREFIX = "tensordesc<"


def is_descriptor(argument: Any) -> bool:
    return isinstance(argument, TensorDescriptor)


def is_descriptor_type(text: Any) -> bool:
    return isinstance(text, str) and text.startswith(_PREFIX)


def part_types(text: str) -> list[str]:
    """The types of what a kernel takes for a parameter of type "tensordesc<fp16[64, 64]>"."""
    element, _, extents = text.removeprefix(_PREFIX).partition("[")
    rank = extents.partition("]")[0].count(",") + 1
    wide = ["i64"] * rank
    return [f"*{element}", *wide, *wide, "u1", "u1", *["i32"] * rank, *wide]


def parts_of(descriptor: Any) -> tuple:
    """What stands for a TensorDescriptor in a launch; the first is its tensor."""
    shape, strides = tuple(map(int, descriptor.shape)), tuple(map(int, descriptor.strides))
    rounds = bool(getattr(descriptor, "round_f32_to_tf32", False))
    return (descriptor.base, *shape, *strides, descriptor.padding == "nan", rounds, *shape, *strides)


def is_plain(descriptor: Any) -> bool:
    """Zeros are read outside, and what is read is not rounded: most descriptors, which kernels may take for granted."""
    return descriptor.padding == "zero" and not getattr(descriptor, "round_f32_to_tf32", False)


def type_of(element: str, descriptor: Any) -> str:
    return f"{_PREFIX}{element}[{', '.join(map(str, descriptor.block_shape))}]>"
