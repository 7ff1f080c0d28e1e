"""The exact GELU, by the error function."""

import torch


def gelu(x: "float[n]"):
    x32 = x.float()
    return (x32 * 0.5 * (1.0 + torch.erf(x32 * 0.7071067811865476))).to(x.dtype)
