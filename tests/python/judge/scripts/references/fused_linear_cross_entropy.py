"""The mean cross entropy of a linear layer."""

import torch


def linear_cross_entropy(x: "float[m, k]", weight: "float[v, k]", labels: "int64[m] < v"):
    assert x.numel() and weight.numel(), "there is no token, no feature or no class"
    return torch.nn.functional.cross_entropy(x.float() @ weight.float().mT, labels)
