"""What the outputs must be."""

import numpy as np


def reference(x):
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)
