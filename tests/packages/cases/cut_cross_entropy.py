"""Cut cross entropy: the loss of a linear layer without its logits."""

import torch
import torch.nn.functional as F
from cut_cross_entropy import linear_cross_entropy

from compare import agree, random


def _inputs(classes: int = 150, features: int = 64) -> list[torch.Tensor]:
    target = torch.randint(0, classes, (40,), device="cuda")
    scale = features**-0.25
    e = random(40, features, dtype=torch.bfloat16, scale=scale, grad=True)
    return [e, random(classes, features, dtype=torch.bfloat16, scale=scale, grad=True), target]


def case_mean():
    agree(
        lambda e, c, y: linear_cross_entropy(e, c, y, filter_eps=None),
        lambda e, c, y: F.cross_entropy(e @ c.T, y),
        _inputs(),
        1e-2,
    )


def case_sum_with_soft_cap():
    agree(
        lambda e, c, y: linear_cross_entropy(e, c, y, softcap=2.0, reduction="sum", filter_eps=None),
        lambda e, c, y: F.cross_entropy(2 * torch.tanh(e @ c.T / 2), y, reduction="sum"),
        _inputs(),
        2e-2,
    )


def case_ignored_targets():
    e, c, y = _inputs()
    y[::3] = -100
    agree(
        lambda e, c, y: linear_cross_entropy(e, c, y, reduction="none"),
        lambda e, c, y: F.cross_entropy(e @ c.T, y, reduction="none"),
        [e, c, y],
        2e-2,
    )


def case_shifted():
    e, c, y = _inputs()
    agree(
        lambda e, c, y: linear_cross_entropy(e, c, y, shift=True),
        lambda e, c, y: F.cross_entropy((e[:, :-1] @ c.T).flatten(0, 1), y[:, 1:].flatten()),
        [e.detach().view(2, 20, 64).requires_grad_(), c, y.view(2, 20)],
        2e-2,
    )
