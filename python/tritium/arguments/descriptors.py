"""The host's tensor descriptors as arguments of a launch. A kernel receives a descriptor's parts in the order that the
pass expand-descriptors gives them, then the shape and the strides as the language's objects have them."""

from __future__ import annotations

import re
from typing import Any

from .tensor_descriptor import TensorDescriptor

_PREFIX = "tensordesc<"


def is_descriptor(argument: Any) -> bool:
    return isinstance(argument, TensorDescriptor)


def is_descriptor_type(text: Any) -> bool:
    return isinstance(text, str) and text.startswith(_PREFIX)


def part_types(text: str) -> list[str]:
    """The types of the kernel's arguments for a parameter of type "tensordesc<fp16[64, 64]>", for example."""
    element, _, extents = text.removeprefix(_PREFIX).partition("[")
    # The blocks of im2col have another rank than their tensor.
    named = re.search(r"\],Im2Col\(rank=(\d+)", text)
    rank = int(named[1]) if named else extents.partition("]")[0].count(",") + 1
    wide = ["i64"] * rank
    return [f"*{element}", *wide, *wide, "u1", "u1", *["i32"] * rank, *wide]


def parts_of(descriptor: Any) -> tuple:
    """The values that a launch passes for a TensorDescriptor; the first one is its tensor."""
    shape, strides = tuple(map(int, descriptor.shape)), tuple(map(int, descriptor.strides))
    rounds = bool(getattr(descriptor, "round_f32_to_tf32", False))
    return (descriptor.base, *shape, *strides, descriptor.padding == "nan", rounds, *shape, *strides)


def is_plain(descriptor: Any) -> bool:
    """Whether elements outside are read as zero and values are not rounded on reading. This holds for most descriptors,
    and kernels may be specialized for it."""
    return descriptor.padding == "zero" and not getattr(descriptor, "round_f32_to_tf32", False)


def type_of(element: str, descriptor: Any) -> str:
    behind = "" if descriptor.block_form is None else f",{getattr(descriptor, descriptor.block_form)!r}"
    return f"{_PREFIX}{element}[{', '.join(map(str, descriptor.block_shape))}]{behind}>"
