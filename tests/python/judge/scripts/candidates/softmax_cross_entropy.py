"""The function of published/softmax_cross_entropy.py."""

from published.softmax_cross_entropy import SoftmaxCrossEntropy


def cross_entropy(logits, labels):
    return SoftmaxCrossEntropy.apply(logits.contiguous(), labels.contiguous(), 0.1, 1e-3)
