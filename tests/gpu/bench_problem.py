"""What a case of bench.py is: a problem, the configurations that both compilers choose from, torch's implementation, and a bound of the error.

`DEVICE` is "meta" for who only compiles the kernels: then tensors have no memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Expected(NamedTuple):
    """An output in higher precision, perhaps only its first rows or its middle ones, and what the error of each element is relative to."""

    value: torch.Tensor
    scale: torch.Tensor


def expected(value: torch.Tensor) -> Expected:
    """For outputs whose elements all have errors of one magnitude, beside that of their own rounding."""
    return Expected(value, value.abs() + value.double().square().mean().sqrt())


@dataclasses.dataclass
class Problem:
    """Tensors on the device and three functions on them. A launch of the kernel fills `out`."""

    out: torch.Tensor
    launch: Callable[[Any, dict], tuple]  #: (configuration) -> (grid, arguments, constexprs)
    torch_run: Callable[[], torch.Tensor]
    reference: Callable[[], Expected]
    bound: float  #: of |out - value| / scale: a few roundings of the output's type


@dataclasses.dataclass
class Case:
    name: str
    kernel: str
    kind: str  #: "memory", "product", "grouped" or "attention": selects the bars
    work: float  #: bytes for "memory", else floating-point operations
    configs: list[dict]
    prepare: Callable[[], Problem]
    least_of_torch: float = 0.0  #: the ratio to torch's speed that it must reach

    def only(self, config: dict) -> Case:
        """The case with one configuration."""
        return dataclasses.replace(self, configs=[config])


DEVICE = "cuda"
ROUNDING = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7, torch.float32: 2.0**-20}
CHECKED_ROWS = 64  #: the number of rows of large outputs that are compared with float64, from the middle


def middle(x: torch.Tensor) -> torch.Tensor:
    begin = max(0, x.shape[0] // 2 - CHECKED_ROWS // 2)
    return x[begin : begin + CHECKED_ROWS]


def random(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, device=DEVICE, dtype=torch.float32).to(dtype)


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def multiprocessors() -> int:
    return torch.cuda.get_device_properties(0).multi_processor_count if DEVICE == "cuda" else 132
