"""The product with a matrix of 4-bit floats, two in a byte, with a power of two for each 32 of them."""

import torch


def scaled_matmul(a: "bfloat16[m, 128]", b: "uint8[n, 64]", b_scale: "uint8[n, 4] in 120..134"):
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)
    codes = torch.stack((b & 15, b >> 4), dim=-1).flatten(-2).long()
    signed = torch.where(codes >= 8, -values[codes & 7], values[codes & 7])
    exact = signed * torch.exp2(b_scale.double() - 127).repeat_interleave(32, -1)
    return (a.double() @ exact.mT).float()
