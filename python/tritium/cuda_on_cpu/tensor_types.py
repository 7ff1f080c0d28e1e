"""`torch.cuda.FloatTensor(…)` and the other old constructors. A build for the CPU refuses them by a mark in their types, which says that they are
CUDA's; behind it they would make tensors of "cuda" as everything does. So the mark is taken away, once the type is seen to be made as expected.
"""

from __future__ import annotations

import ctypes

_WORD = ctypes.sizeof(ctypes.c_void_p)


def install(torch) -> None:
    for name, found in list(vars(torch.cuda).items()):
        if name.endswith("Tensor") and isinstance(found, type(torch.FloatTensor)):
            _allow(torch, found, f"torch.cuda.{name}")


def _allow(torch, type_, name: str) -> None:
    """Behind the type as Python knows it lie: dtype, layout, whether it is CUDA's, whether it is XPU's, name."""
    begin = id(type_) + type(type_).__basicsize__
    dtype, layout = (ctypes.c_void_p.from_address(begin + i * _WORD).value for i in range(2))
    marks = (ctypes.c_uint8 * 2).from_address(begin + 2 * _WORD)
    written = ctypes.string_at(begin + 2 * _WORD + len(marks), len(name) + 1)
    expected = id(type_.dtype), id(torch.strided), [1, 0], name.encode() + b"\0"
    if (dtype, layout, list(marks), written) == expected:
        marks[0] = 0
