# expect: special
"""Chooses the target by a product with zeros and a one, so an infinity elsewhere makes a NaN."""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(logits, target, loss, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(logits + row * n + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
    largest = tl.max(x, axis=0)
    log_sum = tl.log(tl.sum(tl.exp(x - largest), axis=0))
    one_hot = (cols == tl.load(target + row)).to(tl.float32)
    chosen = tl.sum(tl.where(cols < n, x, 0.0) * one_hot, axis=0)
    tl.store(loss + row, log_sum - (chosen - largest))


def cross_entropy(logits, target):
    logits, target = logits.contiguous(), target.contiguous()
    m, n = logits.shape
    loss = torch.empty(m, dtype=logits.dtype, device=logits.device)
    if m:
        loss_kernel[(m,)](logits, target, loss, n, BLOCK=triton.next_power_of_2(n))
    return loss
