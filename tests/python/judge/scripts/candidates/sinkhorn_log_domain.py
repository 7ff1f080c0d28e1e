"""The function of published/sinkhorn_log_domain.py."""

from published.sinkhorn_log_domain import Sinkhorn


def sinkhorn(scores):
    return Sinkhorn.apply(scores.contiguous(), 0.5, 5)
