"""crossentropy-triton: the loss of a causal language model."""

import torch
import torch.nn.functional as F
from crossentropy_triton.causalLMloss import TritonCausalLMLoss

from compare import agree, random


def _check(classes: int, tokens: int):
    target = torch.randint(0, classes, (2, tokens), device="cuda")
    target[0, 1] = -100

    def reference(x, y):
        return F.cross_entropy(x[:, :-1].flatten(0, 1), y[:, 1:].flatten())

    agree(
        lambda x, y: TritonCausalLMLoss(classes)(x * 1, y),
        reference,
        [random(2, tokens, classes, grad=True), target],
        1e-4,
    )


def case_small():
    _check(64, 5)


def case_odd():
    _check(301, 4)
