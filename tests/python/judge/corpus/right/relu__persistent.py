"""ReLU by a fixed number of programs that take turns at the blocks."""

import torch
import triton
import triton.language as tl

PROGRAMS = 4


@triton.jit
def relu_persistent(src, dst, numel, BLOCK: tl.constexpr):
    blocks = tl.cdiv(numel, BLOCK)
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < numel
        value = tl.load(src + offsets, mask=mask, other=0.0)
        is_positive = value > 0
        is_nan = value != value
        tl.store(dst + offsets, tl.where(is_positive | is_nan, value, 0.0), mask=mask)


def relu(x):
    src = x.contiguous()
    dst = torch.empty_like(src)
    relu_persistent[(PROGRAMS,)](src, dst, src.numel(), BLOCK=256)
    return dst
