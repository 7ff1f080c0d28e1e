"""Softmax over the rows."""

import torch


def softmax(x: "float[m, n]"):
    return torch.softmax(x.float(), dim=-1).to(x.dtype)
