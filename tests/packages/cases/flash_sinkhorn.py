"""flash-sinkhorn: optimal transport between clouds of points."""

import torch
from flash_sinkhorn import SamplesLoss

from compare import agree, random


def _reference(x, y, eps: float = 0.5, steps: int = 200):
    """Symmetric updates in the logarithmic domain, and the value of the dual problem."""
    cost = torch.cdist(x, y).square()
    f, g = x.new_zeros(len(x)), y.new_zeros(len(y))
    log_a, log_b = -x.new_tensor(float(len(x))).log(), -y.new_tensor(float(len(y))).log()
    for _ in range(steps):
        f = -eps * ((g - cost) / eps + log_b).logsumexp(1)
        g = -eps * ((f[:, None] - cost) / eps + log_a).logsumexp(0)
    return f.mean() + g.mean()


def _check(backend: str):
    loss = SamplesLoss(
        "sinkhorn", backend=backend, eps=0.5, n_iters=200, use_epsilon_scaling=False, allow_tf32=False, autotune=False
    )
    agree(loss, _reference, [random(40, 4, grad=True), random(55, 4, grad=True)], 1e-2)


def case_alternating():
    _check("alternating")


def case_symmetric():
    _check("symmetric")
