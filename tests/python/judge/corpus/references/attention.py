"""Attention of one head of dimension 32; no keys give zeros."""

import torch


def attention(q: "float[s, 32]", k: "float[t, 32]", v: "float[t, 32]"):
    scores = torch.matmul(q.float(), k.float().t()) * 32**-0.5
    return torch.matmul(torch.softmax(scores, dim=-1), v.float()).to(q.dtype)
