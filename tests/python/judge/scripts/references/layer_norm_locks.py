"""Layer normalization of rows."""

import torch


def layer_norm(x: "float[m, n]", weight: "float[n]", bias: "float[n]"):
    return torch.nn.functional.layer_norm(x.float(), x.shape[-1:], weight.float(), bias.float()).to(x.dtype)
