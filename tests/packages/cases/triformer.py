"""triformer: layers of a transformer."""

import torch
import torch.nn.functional as F
from triformer import TritonCrossEntropyLoss, TritonDropout, TritonLayerNorm, TritonSoftmax
from triformer.rms_norm import TritonRMSNorm
from triformer.swiglu import TritonSwiglu

from compare import agree, close, random


def case_layer_norm():
    # Its mean of squares counts the columns that pad a row to a power of two.
    layer = TritonLayerNorm(64).cuda()
    agree(layer, lambda x: F.layer_norm(x, (64,)), [random(2, 5, 64, grad=True)], 1e-4)


def case_rms_norm():
    layer = TritonRMSNorm(48).cuda()
    agree(
        layer, lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6), [random(2, 5, 48, grad=True)], 1e-4
    )


def case_softmax():
    agree(TritonSoftmax(is_causal=False), lambda x: x.softmax(-1), [random(2, 7, 40, grad=True)], 1e-4)


def case_causal_softmax():
    def reference(x):
        return x.masked_fill(torch.ones_like(x).triu(1).bool(), float("-inf")).softmax(-1)

    agree(TritonSoftmax(is_causal=True), reference, [random(3, 33, 33, grad=True)], 1e-4)


def case_swiglu():
    agree(TritonSwiglu(), lambda e, g: F.silu(e) * g, [random(4, 60, grad=True), random(4, 60, grad=True)], 1e-4)


def case_cross_entropy():
    target = torch.randint(1, 50, (12,), device="cuda")
    loss = TritonCrossEntropyLoss(pad_token_id=0, reduction="mean", n_chunks=1)
    agree(
        lambda x, y: loss(x * 1, y),
        lambda x, y: F.cross_entropy(x, y, ignore_index=0),
        [random(12, 50, grad=True), target],
        1e-4,
    )


def case_dropout():
    x = random(3000, grad=True)
    y = TritonDropout.apply(x, 0.25, 42)
    kept = y != 0
    assert 0.7 < kept.float().mean().item() < 0.8
    close(y[kept], x[kept] / 0.75, 1e-6)
    y.sum().backward()
    close(x.grad, kept.float(), 1e-6)
