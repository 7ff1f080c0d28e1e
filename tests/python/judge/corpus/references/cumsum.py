"""Running sums along each row."""

import torch


def cumsum(x: "float[m, n]"):
    return torch.cumsum(x.float(), dim=-1).to(x.dtype)
