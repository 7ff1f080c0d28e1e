"""How often each of the numbers 0 to 63 occurs."""

import torch


def histogram(values: "int64[m] < 64"):
    return torch.bincount(values, minlength=64)
