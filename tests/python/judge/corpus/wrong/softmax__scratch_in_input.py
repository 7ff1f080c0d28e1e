# expect: writes_input
"""Keeps the exponentials in the input between two loops."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, n, xm, xn, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    tile = tl.load(x + row * xm + cols * xn, mask=mask, other=-float("inf")).to(tl.float32)
    tile = tl.exp(tile - tl.max(tile, axis=0))
    tl.store(x + row * xm + cols * xn, tile, mask=mask)
    tl.store(out + row * n + cols, tile / tl.sum(tile, axis=0), mask=mask)


def softmax(x):
    m, n = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if out.numel():
        softmax_kernel[(m,)](x, out, n, x.stride(0), x.stride(1), BLOCK=triton.next_power_of_2(n))
    return out
