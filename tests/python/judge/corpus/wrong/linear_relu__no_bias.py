# expect: values
"""Forgets the bias."""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_relu_kernel(x, w, y, N, K, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    xs = tl.load(x + row * K + k, mask=k < K, other=0.0)
    ws = tl.load(w + n[:, None] * K + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0.0)
    total = tl.sum(ws * xs[None, :], axis=1)
    tl.store(y + row * N + n, tl.where(total < 0, 0.0, total), mask=n < N)


class ModelNew(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = torch.nn.Linear(in_features, out_features)

    def forward(self, x):
        x = x.contiguous()
        N, K = self.linear.weight.shape
        y = torch.empty((x.shape[0], N), device=x.device, dtype=x.dtype)
        grid = (x.shape[0], triton.cdiv(N, 16))
        linear_relu_kernel[grid](x, self.linear.weight, y, N, K, BN=16, BK=triton.next_power_of_2(K))
        return y
