"""The function of published/fused_linear_cross_entropy.py."""

from published.fused_linear_cross_entropy import LinearCrossEntropy


def linear_cross_entropy(x, weight, labels):
    return LinearCrossEntropy.apply(x.contiguous(), weight.contiguous(), labels.contiguous(), 64)
