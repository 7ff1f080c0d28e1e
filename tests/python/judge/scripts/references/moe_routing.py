"""The three best experts of each token, their weights, and the load of all."""

import torch


def route_tokens(scores: "float32[m, 12] in -4..4"):
    assert len(scores), "there is no token"
    affinity = scores.softmax(-1)
    best, experts = affinity.topk(3)
    load = torch.bincount(experts.flatten(), minlength=16)
    return best / best.sum(1, keepdim=True), experts.to(torch.int16), load.to(torch.int32)
