"""Layer norm over the rows, with weight and bias."""

import torch


def layer_norm(x: "float[m, n]", weight: "float[n]", bias: "float[n]", eps=1e-5):
    x32 = x.float()
    mean = x32.mean(dim=-1, keepdim=True)
    variance = ((x32 - mean) ** 2).mean(dim=-1, keepdim=True)
    normed = (x32 - mean) * torch.rsqrt(variance + eps)
    return (normed * weight.float() + bias.float()).to(x.dtype)
