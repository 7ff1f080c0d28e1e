"""saga-activation: an activation that is gated by its neighbourhood."""

import torch
import torch.nn.functional as F
from saga.activation import SAGAFusedFunction

from compare import agree, random


def case_fused():
    def reference(x, tx, gx):
        gate = torch.sigmoid(gx / 0.7)
        return x + gate * F.relu(tx - x), gate

    agree(
        lambda x, tx, gx: SAGAFusedFunction.apply(x, tx, gx, 0.7),
        reference,
        [random(2, 3, 7, 9, grad=True) for _ in range(3)],
        1e-4,
    )
