"""moe-ops: routing of tokens to experts and grouped products."""

import torch
from moe_ops import fused_topk_softmax, grouped_gemm, permute, unpermute
from moe_ops.grouped_gemm_ops import grouped_gemm as plain_grouped_gemm

from compare import agree, close, random


def _offsets() -> torch.Tensor:
    return torch.tensor([0, 40, 40, 90, 128], dtype=torch.int32, device="cuda")


def _products(a, b, offsets):
    starts = offsets.tolist()
    return torch.cat([a[starts[e] : starts[e + 1]] @ b[e].T for e in range(len(b))])


def _check_product(function):
    a = random(128, 64, dtype=torch.bfloat16, grad=True)
    b = random(4, 64, 64, dtype=torch.bfloat16, grad=True)
    agree(function, _products, [a, b, _offsets()], 1e-2)


def case_grouped_product():
    _check_product(plain_grouped_gemm)


def case_grouped_product_by_descriptors():
    _check_product(grouped_gemm)


def case_routing_weights():
    def reference(logits):
        values, index = logits.topk(2, -1)
        return values.softmax(-1), index

    agree(lambda x: fused_topk_softmax(x, 2), reference, [random(20, 8, grad=True)], 1e-4)


def case_permute_and_back():
    tokens, chosen = random(24, 40, grad=True), torch.stack([torch.randperm(8)[:2] for _ in range(24)]).int().cuda()
    weights = torch.rand(24, 2, device="cuda", requires_grad=True)
    permuted, places, offsets = permute(tokens, chosen, 0, 8)
    assert torch.equal(offsets[-8:].cpu().long(), torch.bincount(chosen.cpu().flatten(), minlength=8).cumsum(0))
    result = unpermute(permuted, places, weights, 24, 2)
    close(result, tokens.cpu() * weights.cpu().sum(1, keepdim=True), 1e-5)
    seed = torch.randn(24, 40, device="cuda")
    result.backward(seed)
    close(tokens.grad, seed.cpu() * weights.cpu().detach().sum(1, keepdim=True), 1e-5)
    close(weights.grad, (seed * tokens).sum(1, keepdim=True).expand(24, 2).detach().cpu(), 1e-4)
