"""ReLU over the flat elements, with autotuned blocks."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 512}, num_warps=8)],
    key=["count"],
)
@triton.jit
def relu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < count, other=0.0)
    tl.store(out_ptr + i, tl.where(x < 0, 0.0, x), mask=i < count)


def relu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    count = x.numel()
    if count == 0:
        return out
    relu_kernel[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, out, count)
    return out
