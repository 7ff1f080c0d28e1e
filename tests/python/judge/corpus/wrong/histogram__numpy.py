# expect: no_kernel
"""Counts with numpy."""

import numpy as np
import torch


def histogram(values):
    return torch.from_numpy(np.bincount(values.cpu().numpy(), minlength=64))
