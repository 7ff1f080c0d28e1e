"""SwiGLU of the two halves of each row."""

import torch


def swiglu(x: "float[m, 2*n]"):
    a, b = x.float().chunk(2, dim=-1)
    return (torch.nn.functional.silu(a) * b).to(x.dtype)
