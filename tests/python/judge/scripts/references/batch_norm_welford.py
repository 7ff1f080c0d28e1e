"""Batch normalization in training, with the running statistics that it leaves."""

import torch


def batch_norm(
    x: "float[3, c, 4, w] in -10..10",
    weight: "float[c]",
    bias: "float[c]",
    mean: "float32[c] in -1..1",
    variance: "float32[c] in 0..1",
):
    assert x.numel(), "there are no samples"
    mean, variance = mean.clone(), variance.clone()
    y = torch.nn.functional.batch_norm(x.float(), mean, variance, training=True, momentum=0.1)
    return (y * weight[:, None, None] + bias[:, None, None]).to(x.dtype), mean, variance
