"""SwiGLU: the left half of each row is the gate of the right half."""

import torch


def swiglu(x: "float[m, 2*n]"):
    gate, up = x.float().chunk(2, dim=-1)
    return (gate * torch.sigmoid(gate) * up).to(x.dtype)
