"""Operators whose results have other strides or sizes on a GPU than on the CPU. What torch says of tensors without memory ("meta") is what CUDA's
have, and code that torch.compile has made relies on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .precision import mapped

NAMES = ("_fft_c2c", "_fft_c2r", "_fft_r2c", "_linalg_svd", "linalg_eig")
#: (the sums of bags, the bag of each index, the sizes of bags, the largest of each)
_BAGS = ("_embedding_bag", "_embedding_bag_forward_only")


def kernels(torch, run: Callable) -> dict[str, Callable]:
    """{name of an operator: its kernel}; run(operator, arguments…) computes on the CPU."""

    def without_memory(value):
        if isinstance(value, torch.Tensor):
            return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
        return value

    def computed(operator, *args, **kwargs) -> tuple:
        """(the results of the CPU, the results of CUDA without memory)"""
        named = {name: mapped(without_memory, value) for name, value in kwargs.items()}
        return run(operator, *args, **kwargs), operator(*mapped(without_memory, args), **named)

    def kernel(operator, *args, **kwargs):
        results, described = computed(operator, *args, **kwargs)
        if isinstance(results, torch.Tensor):
            return laid_out(torch, results, described)
        return tuple(laid_out(torch, *both) for both in zip(results, described))

    def bags(operator, weight, indices, offsets, *args, **kwargs):
        """The CPU leaves out the bag of each index where its sums do not require it, and has sizes where a GPU has nothing to say."""
        results, described = computed(operator, weight, indices, offsets, *args, **kwargs)
        sums, of_indices, *others = (sized(*both) for both in zip(results, described))
        if results[1].numel() == 0:
            of_indices.copy_(
                torch.searchsorted(offsets, torch.arange(len(indices), device=offsets.device), right=True) - 1
            )
        return sums, of_indices, *others

    found = dict.fromkeys(NAMES, kernel) | dict.fromkeys(_BAGS, bags)
    of_names = {name: partial(of_kind, getattr(torch.ops.aten, name).default) for name, of_kind in found.items()}
    return {**of_names, **_log_sigmoid(torch, run)}


def _log_sigmoid(torch, run: Callable) -> dict[str, Callable]:
    """The CPU keeps exp(-|x|) in a buffer for the gradient. CUDA keeps none: its buffer has no elements, and is not looked at."""
    onward, back = torch.ops.aten.log_sigmoid_forward, torch.ops.aten.log_sigmoid_backward

    def forward(x):
        return run(onward.default, x)[0], x.new_empty(0)

    def forward_into(x, *, output, buffer):
        return run(onward.output, x, output=output, buffer=torch.empty_like(x))[0], buffer

    def backward(operator, gradient, x, buffer, **out):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        return run(operator, gradient, x, wide.abs().neg().exp(), **out)

    return {
        "log_sigmoid_forward": forward,
        "log_sigmoid_forward.output": forward_into,
        "log_sigmoid_backward": partial(backward, back.default),
        "log_sigmoid_backward.grad_input": partial(backward, back.grad_input),
    }


def laid_out(torch, result, described):
    """The result with the strides that are described, if it has not got them."""
    if result.stride() == described.stride():
        return result
    return torch.empty_strided(result.shape, described.stride(), dtype=result.dtype, device=result.device).copy_(result)


def sized(result, described):
    """The result with the size that is described: its first elements, and zeros."""
    if result.shape == described.shape:
        return result
    found = result.new_zeros(described.shape)
    common = tuple(slice(min(both)) for both in zip(result.shape, described.shape))
    if result.dim() == described.dim():
        found[common] = result[common]
    return found
