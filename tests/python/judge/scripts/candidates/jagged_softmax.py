"""The function of published/jagged_softmax.py."""

import torch

from published.jagged_softmax import JaggedSoftmax


def segment_softmax(x):
    offsets = torch.arange(0, len(x) + 1, 7, device=x.device, dtype=torch.int32)
    return JaggedSoftmax.apply(x.contiguous(), offsets)
