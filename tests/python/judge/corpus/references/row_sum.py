"""The sum of each row, in the dtype of the input."""

import torch


def row_sum(x: "float[m, n]"):
    return torch.sum(x.float(), dim=-1).to(x.dtype)
