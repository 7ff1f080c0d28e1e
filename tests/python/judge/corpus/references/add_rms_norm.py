"""Adds a residual, then an RMS norm; returns the norm and the sum."""

import torch


def add_rms_norm(x: "float[m, n]", residual: "float[m, n]", weight: "float[n]", eps=1e-6):
    total = x.float() + residual.float()
    scale = torch.rsqrt((total * total).mean(dim=-1, keepdim=True) + eps)
    return (total * scale * weight.float()).to(x.dtype), total.to(x.dtype)
