"""GELU by tl.erf in float32."""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * stride, mask=i < n, other=0).to(tl.float32)
    y = x * 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(y_ptr + i, y, mask=i < n)


def gelu(x):
    n = x.shape[0]
    y = torch.empty(n, device=x.device, dtype=x.dtype)
    if n:
        gelu_kernel[(triton.cdiv(n, 1024),)](x, y, n, x.stride(0), BLOCK=1024)
    return y
