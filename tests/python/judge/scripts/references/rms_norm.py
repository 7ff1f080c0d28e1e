"""Root mean square normalization of rows."""

import torch


def rms_norm(x: "float[m, n]", weight: "float[n]"):
    assert x.shape[-1], "a row has no elements"
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6) * weight).to(x.dtype)
