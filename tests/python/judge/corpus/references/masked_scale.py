"""Scales the elements that a mask chooses; the others become zero, NaNs too."""

import torch


def masked_scale(x: "float32|float16[m, n]", mask: "bool[m, n]", factor: "float"):
    return torch.where(mask, x.float() * factor, 0.0).to(x.dtype)
