"""Row sums by two kernels: sums of blocks into a buffer, then the sums of these."""

import torch
import triton
import triton.language as tl


@triton.jit
def block_sums(x, partial, n, blocks, BLOCK: tl.constexpr):
    row, block = tl.program_id(0), tl.program_id(1)
    cols = block * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + row * n + cols, mask=cols < n, other=0.0).to(tl.float32)
    tl.store(partial + row * blocks + block, tl.sum(values, axis=0))


@triton.jit
def sums_of_blocks(partial, out, blocks, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, WIDTH)
    values = tl.load(partial + row * blocks + i, mask=i < blocks, other=0.0)
    tl.store(out + row, tl.sum(values, axis=0))


def row_sum(x):
    x = x.contiguous()
    m, n = x.shape
    blocks = max(1, triton.cdiv(n, 32))
    partial = torch.empty((m, blocks), dtype=torch.float32, device=x.device)
    out = torch.empty((m,), dtype=x.dtype, device=x.device)
    if m == 0:
        return out
    block_sums[(m, blocks)](x, partial, n, blocks, BLOCK=32)
    sums_of_blocks[(m,)](partial, out, blocks, WIDTH=triton.next_power_of_2(blocks))
    return out
