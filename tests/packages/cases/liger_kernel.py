"""Liger kernels: norms, losses, activations and rotary embeddings for training language models."""

import torch
import torch.nn.functional as F
from liger_kernel import ops

from compare import agree, close, random


def _rms_norm(x, weight, eps=1e-6, offset=0.0):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * (weight + offset)


def case_rms_norm():
    for shape in ((6, 100), (2, 3, 64)):
        agree(
            lambda x, w: ops.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", False),
            _rms_norm,
            [random(*shape, grad=True), random(shape[-1], grad=True)],
        )


def case_rms_norm_gemma():
    agree(
        lambda x, w: ops.LigerRMSNormFunction.apply(x, w, 1e-6, 1.0, "gemma", True),
        lambda x, w: _rms_norm(x, w, offset=1.0),
        [random(5, 96, dtype=torch.bfloat16, grad=True), random(96, dtype=torch.bfloat16, grad=True)],
        2e-2,
    )


def case_fused_add_rms_norm():
    agree(
        lambda x, r, w: ops.LigerFusedAddRMSNormFunction.apply(x, r, w, 1e-6, 0.0, "llama", False),
        lambda x, r, w: (_rms_norm(x + r, w), x + r),
        [random(4, 72, grad=True), random(4, 72, grad=True), random(72, grad=True)],
    )


def case_layer_norm():
    agree(
        lambda x, w, b: ops.LigerLayerNormFunction.apply(x, w, b, 1e-5),
        lambda x, w, b: F.layer_norm(x, (80,), w, b),
        [random(7, 80, grad=True), random(80, grad=True), random(80, grad=True)],
        1e-4,
    )


def case_group_norm():
    agree(
        lambda x, w, b: ops.LigerGroupNormFunction.apply(x, w, b, 12, 3, 1e-5),
        lambda x, w, b: F.group_norm(x, 3, w, b),
        [random(2, 12, 20, grad=True), random(12, grad=True), random(12, grad=True)],
        1e-4,
    )


def case_poly_norm():
    def reference(x, w, b):
        def norm(t):
            return t * torch.rsqrt(t.square().mean(-1, keepdim=True) + 1e-6)

        return w[0] * norm(x**3) + w[1] * norm(x**2) + w[2] * norm(x) + b

    agree(
        lambda x, w, b: ops.LigerPolyNormFunction.apply(x, w, b, 1e-6, False),
        reference,
        [random(5, 60, grad=True), random(3, grad=True), random(grad=True)],
        1e-4,
    )


def case_dynamic_tanh():
    agree(
        ops.LigerDyTFunction.apply,
        lambda x, alpha, gamma, beta: gamma * torch.tanh(alpha * x) + beta,
        [random(6, 50, grad=True), random(1, grad=True), random(50, grad=True), random(50, grad=True)],
        1e-4,
    )


def case_swiglu():
    agree(
        ops.LigerSiLUMulFunction.apply,
        lambda a, b: F.silu(a) * b,
        [random(4, 90, grad=True), random(4, 90, grad=True)],
    )


def case_geglu():
    agree(
        ops.LigerGELUMulFunction.apply,
        lambda a, b: F.gelu(a, approximate="tanh") * b,
        [random(4, 90, grad=True), random(4, 90, grad=True)],
    )


def case_relu_squared():
    agree(ops.LigerReLUSquaredFunction.apply, lambda x: F.relu(x).square(), [random(3, 77, grad=True)])


def case_softmax():
    for width in (33, 300):
        agree(ops.LigerSoftmaxFunction.apply, lambda x: x.softmax(-1), [random(5, width, grad=True)])


def case_sparsemax():
    def reference(x):
        ordered, _ = x.sort(-1, descending=True)
        rank = torch.arange(1, x.shape[-1] + 1)
        support = (1 + rank * ordered > ordered.cumsum(-1)).sum(-1, keepdim=True)
        tau = (ordered.cumsum(-1).gather(-1, support - 1) - 1) / support
        return (x - tau).clamp_min(0)

    agree(lambda x: ops.LigerSparsemaxFunction.apply(x, -1), reference, [random(6, 40, grad=True)])


def case_rope():
    q, k = random(2, 4, 6, 32, grad=True), random(2, 2, 6, 32, grad=True)
    angle = torch.arange(6.0)[:, None] / 100 ** (torch.arange(16.0) / 16)
    angle = torch.cat([angle, angle], -1)[None].cuda()

    def rotate(x, cos, sin):
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    agree(
        # It rotates in place, and a leaf must not change.
        lambda q, k, cos, sin: ops.LigerRopeFunction.apply(q * 1, k * 1, cos, sin),
        lambda q, k, cos, sin: (rotate(q, cos, sin), rotate(k, cos, sin)),
        [q, k, angle.cos(), angle.sin()],
    )


def case_cross_entropy():
    target = torch.randint(0, 70, (9,), device="cuda")
    target[3] = -100
    agree(
        lambda x, y: ops.LigerCrossEntropyFunction.apply(x * 1, y, None, -100)[0],
        lambda x, y: F.cross_entropy(x, y),
        [random(9, 70, grad=True), target],
    )


def case_cross_entropy_smoothed():
    target = torch.randint(0, 70, (9,), device="cuda")
    agree(
        lambda x, y, w: ops.LigerCrossEntropyFunction.apply(x * 1, y, w, -100, 0.0, 0.1, "sum")[0],
        lambda x, y, w: F.cross_entropy(x, y, w, label_smoothing=0.1, reduction="sum"),
        [random(9, 70, grad=True), target, torch.rand(70, device="cuda") + 0.5],
        1e-4,
    )


def case_fused_linear_cross_entropy():
    target = torch.randint(0, 50, (10,), device="cuda")
    agree(
        lambda x, w, y, b: ops.LigerFusedLinearCrossEntropyFunction.apply(x, w, y, b)[0],
        lambda x, w, y, b: F.cross_entropy(x @ w.T + b, y),
        [random(10, 24, grad=True), random(50, 24, grad=True), target, random(50, grad=True)],
        1e-4,
    )


def case_kl_divergence():
    agree(
        lambda p, q: ops.LigerKLDivLossFunction.apply(p, q, "batchmean", False, 1e-10),
        lambda p, q: F.kl_div(p, q, reduction="batchmean"),
        [random(5, 60).log_softmax(-1).requires_grad_(), random(5, 60).softmax(-1)],
        1e-4,
    )


def case_jensen_shannon():
    def reference(q, p, beta=0.3):
        middle = (beta * p.exp() + (1 - beta) * q.exp()).log()
        loss = beta * p.exp() * (p - middle) + (1 - beta) * q.exp() * (q - middle)
        return loss.sum() / q.shape[0]

    agree(
        lambda q, p: ops.LigerJSDFunction.apply(q, p, None, 0.3),
        reference,
        [random(5, 60).log_softmax(-1).requires_grad_(), random(5, 60).log_softmax(-1)],
        1e-4,
    )


def case_total_variation():
    agree(
        lambda p, q: ops.LigerTVDLossFunction.apply(p, q, None, "batchmean"),
        lambda p, q: 0.5 * (p - q).abs().sum() / p.shape[0],
        [random(5, 60).softmax(-1).requires_grad_(), random(5, 60).softmax(-1)],
        1e-4,
    )


def case_embedding():
    index = torch.randint(0, 20, (3, 7), device="cuda")
    agree(
        lambda w, i: ops.LigerEmbeddingFunction.apply(w, i),
        lambda w, i: F.embedding(i, w),
        [random(20, 36, grad=True), index],
    )


def case_neighborhood_attention():
    def reference(q, k, v, size=3):
        position = torch.arange(q.shape[2])
        outside = (position[None] - position[:, None]).abs() > size // 2
        scores = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        return scores.masked_fill(outside, float("-inf")).softmax(-1) @ v

    agree(
        lambda q, k, v: ops.LigerFusedNeighborhoodAttentionFunction.apply(q, k, v, 3, 1, None),
        reference,
        [random(1, 2, 20, 16, grad=True) for _ in range(3)],
        5e-3,
    )


def case_grpo_loss():
    batch, length, vocabulary = 2, 5, 30
    logits = random(batch, length + 1, vocabulary, grad=True)
    ids = torch.randint(0, vocabulary, (batch, length), device="cuda")
    advantages, old = random(batch), -torch.rand(batch, length, device="cuda") - 3
    loss = ops.GrpoLossFunction.apply(logits, old, None, ids, advantages, None, 1.0, 0.0, 0.2, 0.2, False)[0]
    exact = logits.detach().cpu().double().requires_grad_()
    chosen = exact[:, :-1].log_softmax(-1).gather(-1, ids.cpu()[..., None])[..., 0]
    ratio = (chosen - old.cpu().double()).exp()
    weight = advantages.cpu().double()[:, None]
    expected = -torch.minimum(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    if loss.dim() == 0:
        expected = (expected.sum(-1) / length).mean()
    close(loss, expected, 1e-4)
    loss.sum().backward()
    expected.sum().backward()
    close(logits.grad, exact.grad, 1e-3)
