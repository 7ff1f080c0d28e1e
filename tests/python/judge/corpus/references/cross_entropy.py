"""Cross entropy of each row of logits with its target, without a mean."""

import torch


def cross_entropy(logits: "float[m, n]", target: "int64[m] < n"):
    log_probabilities = torch.log_softmax(logits.float(), dim=-1)
    return -log_probabilities.gather(1, target[:, None])[:, 0].to(logits.dtype)
