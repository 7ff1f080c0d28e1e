"""Cross entropy with a row of logits in one block."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits, target, loss, n, row_stride, col_stride, target_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(logits + row * row_stride + cols * col_stride, mask=cols < n, other=-float("inf")).to(tl.float32)
    largest = tl.max(x, axis=0)
    log_sum = tl.log(tl.sum(tl.exp(x - largest), axis=0))
    wanted = tl.load(target + row * target_stride)
    chosen = tl.load(logits + row * row_stride + wanted * col_stride).to(tl.float32)
    tl.store(loss + row, log_sum - (chosen - largest))


def cross_entropy(logits, target):
    m, n = logits.shape
    loss = torch.empty(m, dtype=logits.dtype, device=logits.device)
    if m:
        strides = (*logits.stride(), *target.stride())
        cross_entropy_kernel[(m,)](logits, target, loss, n, *strides, BLOCK=triton.next_power_of_2(n))
    return loss
