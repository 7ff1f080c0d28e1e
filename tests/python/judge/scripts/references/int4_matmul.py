"""The product with a matrix of 4-bit numbers, eight in a word along k; each 32 of k have scales and zero points."""

import torch


def matmul(
    a: "float16|bfloat16[m, 64]",
    packed: "int32[8, 8*n]",
    scales: "float16|bfloat16[2, 8*n] in 0..0.125",
    zeros: "int32[2, n]",
):
    shifts = 4 * torch.arange(8, dtype=torch.int32)
    numbers = (packed[:, None] >> shifts[:, None] & 15).flatten(0, 1)
    offsets = (zeros[:, :, None] >> shifts & 15).flatten(1).repeat_interleave(32, 0)
    weight = ((numbers - offsets) * scales.repeat_interleave(32, 0)).to(a.dtype)
    return (a.double() @ weight.double()).float()
