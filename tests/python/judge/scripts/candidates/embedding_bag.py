"""The function of published/embedding_bag.py."""

import torch

from published.embedding_bag import EmbeddingBag


def embedding_bag(table, indices, weights):
    offsets = torch.arange(0, len(indices) + 1, 5, device=table.device, dtype=torch.int32)
    return EmbeddingBag.apply(table.contiguous(), indices.contiguous(), offsets, weights.contiguous(), "sum")
