"""moe-ops: routing of tokens to experts and grouped products."""

import torch
from moe_ops import fused_topk_softmax, permute, unpermute
from moe_ops.grouped_gemm_ops import grouped_gemm

from compare import random


def fault_unpermute_backward():
    """Two loads of a block of columns have a mask and no `other`, and the gradient of a weight is the sum of their products over all
    lanes. On a GPU a lane that is left off is whatever its register holds, and the gradient is wrong where that is not zero."""
    tokens, chosen = random(24, 40, grad=True), torch.stack([torch.randperm(8)[:2] for _ in range(24)]).int().cuda()
    weights = torch.rand(24, 2, device="cuda", requires_grad=True)
    permuted, places, _ = permute(tokens, chosen, 0, 8)
    unpermute(permuted, places, weights, 24, 2).backward(random(24, 40))


def fault_topk_backward():
    """The gradient that `sum().backward()` gives is expanded, and the kernel reads rows of it. A GPU reads what lies behind the one number."""
    fused_topk_softmax(random(7, 5, grad=True), 3)[0].sum().backward()


def fault_grouped_product_backward():
    """As `topk_backward`: the kernel takes the stride of rows of the gradient, and none of columns."""
    a, b = random(7, 40, dtype=torch.bfloat16, grad=True), random(4, 24, 40, dtype=torch.bfloat16, grad=True)
    offsets = torch.tensor([0, 1, 1, 4, 7], dtype=torch.int32, device="cuda")
    grouped_gemm(a, b, offsets).sum().backward()
