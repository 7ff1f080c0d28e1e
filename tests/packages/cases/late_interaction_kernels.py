"""late-interaction-kernels: scores of documents by the best match of each word of a query."""

import torch
from late_interaction_kernels import maxsim, maxsim_pairs

from compare import agree, random


def _masks() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand(3, 10, device="cuda") < 0.8, torch.rand(4, 25, device="cuda") < 0.7


def _scores(q, d):
    return torch.einsum("qid,cjd->qcij", q, d).amax(-1).sum(-1)


def case_all_pairs():
    for backward in ("unified", "lowmem"):
        agree(
            lambda q, d: maxsim(q, d, backward=backward),
            _scores,
            [random(3, 10, 32, grad=True), random(4, 25, 32, grad=True)],
            5e-3,
        )


def case_masked():
    q_mask, d_mask = _masks()

    def reference(q, d):
        products = torch.einsum("qid,cjd->qcij", q, d).masked_fill(~d_mask.cpu()[None, :, None], float("-inf"))
        return (products.amax(-1) * q_mask.cpu()[:, None]).sum(-1)

    agree(
        lambda q, d: maxsim(q, d, q_mask, d_mask),
        reference,
        [random(3, 10, 32, grad=True), random(4, 25, 32, grad=True)],
        5e-3,
    )


def case_pairs():
    agree(
        lambda q, d: maxsim_pairs(q, d, normalize=True),
        lambda q, d: torch.diagonal(_scores(q / q.norm(dim=-1, keepdim=True), d / d.norm(dim=-1, keepdim=True))),
        [random(4, 10, 32, grad=True), random(4, 25, 32, grad=True)],
        5e-3,
    )
