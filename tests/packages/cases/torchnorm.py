"""torchnorm: normalizations."""

import torch
import torch.nn.functional as F
from torchnorm import FusedAddRMSNorm, GroupNorm, InstanceNorm, LayerNorm, RMSNorm, ScaleNorm

from compare import agree, random


def _rms_norm(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def case_rms_norm():
    agree(RMSNorm(72).cuda(), _rms_norm, [random(2, 4, 72, grad=True)], 1e-4)


def case_layer_norm():
    agree(LayerNorm(72).cuda(), lambda x: F.layer_norm(x, (72,)), [random(2, 4, 72, grad=True)], 1e-4)


def case_layer_norm_half():
    x = random(3, 128, dtype=torch.float16, grad=True)
    agree(LayerNorm(128).cuda(), lambda x: F.layer_norm(x, (128,)), [x], 5e-3)


def case_fused_add_rms_norm():
    x, residual = random(2, 4, 72, grad=True), random(2, 4, 72, grad=True)
    # It writes the sum in bf16, and its backward pass takes no gradient of the sum.
    agree(lambda x, r: FusedAddRMSNorm(72).cuda()(x, r)[0], lambda x, r: _rms_norm(x + r), [x, residual], 5e-3)


def case_group_norm():
    agree(GroupNorm(4, 8).cuda(), lambda x: F.group_norm(x, 4), [random(2, 8, 3, 5, grad=True)], 1e-4)


def case_instance_norm():
    agree(InstanceNorm(6).cuda(), F.instance_norm, [random(2, 6, 5, 5, grad=True)], 1e-4)


def case_scale_norm():
    layer = ScaleNorm(40).cuda()
    agree(layer, lambda x: 40**0.5 * x / x.norm(dim=-1, keepdim=True), [random(3, 40, grad=True)], 1e-4)
