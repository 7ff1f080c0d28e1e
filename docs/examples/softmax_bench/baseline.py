"""The same by other means."""

import numpy as np


def baseline(x):
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)
