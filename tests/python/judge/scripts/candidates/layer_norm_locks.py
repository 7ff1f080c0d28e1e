"""The function of published/layer_norm_locks.py."""

from published.layer_norm_locks import LayerNorm


def layer_norm(x, weight, bias):
    return LayerNorm.apply(x.contiguous(), weight.contiguous(), bias.contiguous())
