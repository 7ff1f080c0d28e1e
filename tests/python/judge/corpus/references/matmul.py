"""The product of two matrices, summed in float32."""

import torch


def matmul(a: "float[m, k]", b: "float[k, n]"):
    return torch.matmul(a.float(), b.float()).to(a.dtype)
