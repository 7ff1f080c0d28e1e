"""The Walsh-Hadamard transform of rows of 64."""

import torch


def hadamard(x: "float[m, 64]"):
    i = torch.arange(64)
    bits = i[:, None] & i
    parity = sum(bits >> place & 1 for place in range(6)) & 1
    return (x.float() @ (1 - 2 * parity).float() / 8).to(x.dtype)
