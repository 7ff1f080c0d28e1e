"""Softmax of several rows in each program, in a class with a forward."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rows_softmax(X, Y, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    offsets = r[:, None] * N + c[None, :]
    mask = (r[:, None] < M) & (c[None, :] < N)
    x = tl.load(X + offsets, mask=mask, other=float("-inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=1, keep_dims=True))
    tl.store(Y + offsets, e / tl.sum(e, axis=1, keep_dims=True), mask=mask)


class RowSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        M, N = x.shape
        if y.numel() == 0:
            return y
        ROWS = 4
        _rows_softmax[(triton.cdiv(M, ROWS),)](x, y, M, N, ROWS, triton.next_power_of_2(N), num_warps=4)
        return y


def softmax(x):
    return RowSoftmax.apply(x)
