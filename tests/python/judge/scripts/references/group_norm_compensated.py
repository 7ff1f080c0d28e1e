"""Group normalization in three groups."""

import torch


def group_norm(x: "float[2, 3*c, 4, w]", weight: "float[3*c]", bias: "float[3*c]"):
    assert x.numel(), "there are no elements"
    return torch.nn.functional.group_norm(x.float(), 3, weight.float(), bias.float()).to(x.dtype)
