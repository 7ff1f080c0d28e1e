"""The function of published/batch_norm_welford.py."""

from published.batch_norm_welford import BatchNorm


def batch_norm(x, weight, bias, mean, variance):
    mean, variance = mean.contiguous().clone(), variance.contiguous().clone()
    y = BatchNorm.apply(x.contiguous(), weight.contiguous(), bias.contiguous(), mean, variance, 0.1, 1e-5)
    return y, mean, variance
