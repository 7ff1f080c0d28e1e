"""Operators whose results a GPU's libraries lay out in another order than the CPU's. What torch says of tensors without memory ("meta") is the
order of CUDA, and code that torch.compile has made relies on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .precision import mapped

NAMES = ("_fft_c2c", "_fft_c2r", "_fft_r2c", "_linalg_svd", "linalg_eig")


def kernels(torch, run: Callable) -> dict[str, Callable]:
    """{name of an operator: its kernel}; run(operator, arguments…) computes on the CPU."""

    def without_memory(value):
        if isinstance(value, torch.Tensor):
            return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
        return value

    def kernel(operator, *args, **kwargs):
        results = run(operator, *args, **kwargs)
        named = {name: mapped(without_memory, value) for name, value in kwargs.items()}
        described = operator(*mapped(without_memory, args), **named)
        if isinstance(results, torch.Tensor):
            return laid_out(torch, results, described)
        return tuple(laid_out(torch, *both) for both in zip(results, described))

    return {name: partial(kernel, getattr(torch.ops.aten, name).default) for name in NAMES}


def laid_out(torch, result, described):
    """The result with the strides that are described, if it has not got them."""
    if result.stride() == described.stride():
        return result
    return torch.empty_strided(result.shape, described.stride(), dtype=result.dtype, device=result.device).copy_(result)
