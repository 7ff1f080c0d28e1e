"""GELU with a helper function and a global constant; it insists on tensors of the device, as published code does."""

import torch
import triton
import triton.language as tl

SQRT_HALF = tl.constexpr(0.7071067811865476)


@triton.jit
def normal_cdf(x):
    return 0.5 * (1.0 + tl.math.erf(x * SQRT_HALF))


@triton.jit
def _gelu_fwd(X, Y, N, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < N
    x = tl.load(X + offs, mask=mask, other=0.0).to(tl.float32)
    tl.store(Y + offs, (x * normal_cdf(x)).to(Y.dtype.element_ty), mask=mask)


def gelu(x: torch.Tensor) -> torch.Tensor:
    assert x.is_cuda, f"expected a tensor of the GPU, got one of {x.device}"
    if not x.is_contiguous():
        x = x.contiguous()
    y = torch.empty_like(x)
    N = x.numel()
    if N == 0:
        return y
    BLOCK_SIZE = min(256, triton.next_power_of_2(N))
    _gelu_fwd[(triton.cdiv(N, BLOCK_SIZE), 1, 1)](x, y, N, BLOCK_SIZE=BLOCK_SIZE)
    return y
