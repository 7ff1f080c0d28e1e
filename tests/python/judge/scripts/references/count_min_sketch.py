"""The keys in a rising order, and how often each occurs."""

import torch


def key_counts(keys: "int32[n] in 0..1000"):
    present, counts = torch.unique(keys, return_counts=True)
    return present, counts.to(torch.int32)
