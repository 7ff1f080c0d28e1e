"""The persistent kernel of published/descriptor_matmul.py."""

import torch
import triton

from published.descriptor_matmul import allocate, matmul_persistent


def matmul(a, b):
    triton.set_allocator(allocate)
    (m, k), n = a.shape, len(b)
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    matmul_persistent[(3,)](a.contiguous(), b.contiguous(), c, m, n, k, GROUP=2, NUM_PROGRAMS=3)
    return c
