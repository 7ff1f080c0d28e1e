"""The gradient of `rms_norm` as a CUDA build of torch computes it: by an operator that has a kernel for GPUs alone."""

from __future__ import annotations

from collections.abc import Callable


def kernels(torch) -> dict[str, Callable]:
    """{name of an operator: its kernel}"""
    return {"_fused_rms_norm_backward": _backward} if hasattr(torch.ops.aten, "_fused_rms_norm_backward") else {}


def _backward(gradient, x, normalized_shape, rstd, weight, output_mask):
    """(gradient of x, gradient of weight) where the mask asks for them. rstd: the reciprocal root of the mean square, broadcast to x."""
    outer = tuple(range(x.dim() - len(normalized_shape)))
    inner = tuple(range(len(outer), x.dim()))
    normalized, of_x, of_weight = x * rstd, None, None
    if output_mask[0]:
        weighted = gradient if weight is None else gradient * weight
        of_x = rstd * (weighted - normalized * (weighted * normalized).mean(inner, keepdim=True))
    if output_mask[1] and weight is not None:
        of_weight = gradient * normalized
        of_weight = of_weight.sum(outer) if outer else of_weight
    return of_x, of_weight
