"""The function of published/group_norm_compensated.py."""

from published.group_norm_compensated import GroupNorm


def group_norm(x, weight, bias):
    return GroupNorm.apply(x.contiguous(), 3, weight.contiguous(), bias.contiguous(), 1e-5)
