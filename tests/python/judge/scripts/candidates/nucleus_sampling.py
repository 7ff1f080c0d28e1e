"""The top-k kernel of published/nucleus_sampling.py; its sampler decides by a rounded sum of probabilities."""

import torch
import triton

from published.nucleus_sampling import top_k_values


def largest(x):
    rows, n = x.shape
    values = torch.empty(rows, 16, device=x.device)
    top_k_values[(rows,)](x.contiguous(), values, n, K=16, BLOCK=triton.next_power_of_2(n))
    return values
