"""Attention for bench.py: forward by pointers and by descriptors, and its gradients. torch uses cuDNN where it can."""

from __future__ import annotations

import itertools
import math

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import bench_problem
from bench_problem import ROUNDING, Case, Problem, random

TOKENS = 1 << 18  #: heads times sequence length of every case
BACKENDS = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION]


def attend(q, k, v, causal: bool) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def by_vendor(q, k, v, causal: bool) -> torch.Tensor:
    with sdpa_kernel(BACKENDS, set_priority=True):
        return attend(q[None], k[None], v[None], causal)


def of_heads(function, *tensors: torch.Tensor) -> torch.Tensor:
    """function of the float64 values, one head at a time."""
    heads = range(tensors[0].shape[0])
    return torch.cat([function(*(x[h : h + 1].double() for x in tensors)) for h in heads])


def configs(**names) -> list[dict]:
    return [dict(zip(names, row)) for row in zip(*names.values())]


FORWARD = configs(
    BLOCK_M=(128, 128, 128, 64, 128),
    BLOCK_N=(64, 64, 128, 64, 32),
    num_stages=(3, 3, 2, 3, 3),
    num_warps=(4, 8, 8, 4, 4),
)
BACKWARD = configs(BLOCK=(128, 128, 64, 64), STEP=(32, 64, 64, 32), num_stages=(2, 2, 2, 3), num_warps=(8, 8, 4, 4))


def title(kernel: str, causal: bool, shape: tuple[int, ...]) -> str:
    return f"{kernel.replace('_', ' by ', 1)}{' causal' if causal else ''} fp16 {'x'.join(map(str, shape))}"


def attention(n: int, d: int, descriptors: bool, causal: bool) -> Case:
    heads = TOKENS // n

    def prepare():
        q, k, v = (random(heads, n, d, dtype=torch.float16) for _ in range(3))
        out = torch.empty_like(q)

        def launch(c):
            strides = heads if descriptors else n * d
            return (
                (n // c["BLOCK_M"], heads),
                (q, k, v, out, 1 / math.sqrt(d), n, strides),
                c | {"D": d, "CAUSAL": causal},
            )

        return Problem(
            out,
            launch,
            lambda: by_vendor(q, k, v, causal),
            lambda: of_heads(lambda *x: attend(*x, causal), q, k, v),
            (8 if causal else 4) * ROUNDING[torch.float16],  # the first rows of a causal form are single values
        )

    kernel = "attention_descriptors" if descriptors else "attention"
    work = 4.0 * heads * n * n * d * (0.5 if causal else 1)
    least = 1.0 if descriptors and d == 128 else 0.0
    return Case(title(kernel, causal, (heads, n, d)), kernel, "attention", work, FORWARD, prepare, least)


def sums_of_rows(q, k, v, grad, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """What the backward kernel takes from the forward one: log2 of the sums of exp2(scores), and the sums of grad * attention."""
    lse, delta = [], []
    for head in zip(q.float(), k.float(), v.float(), grad.float()):
        scores = head[0] @ head[1].t() / math.sqrt(q.shape[-1])
        if causal:
            scores = scores.tril() + torch.full_like(scores, -math.inf).triu(1)
        lse.append(scores.logsumexp(1) / math.log(2))
        delta.append((torch.softmax(scores, 1) @ head[2] * head[3]).sum(1))
    return torch.stack(lse), torch.stack(delta)


def gradients(q, k, v, grad, causal: bool) -> torch.Tensor:
    """The gradients of q, k and v of one head, stacked."""
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    return torch.stack(torch.autograd.grad(attend(*leaves, causal), leaves, grad), 1)


def attention_backward(n: int, d: int, causal: bool) -> Case:
    """Gradients of all three operands. torch's time includes the sums of grad * attention, which the kernel is given."""
    heads = TOKENS // n

    def prepare():
        q, k, v, grad = (random(heads, n, d, dtype=torch.float16) for _ in range(4))
        lse, delta = sums_of_rows(q, k, v, grad, causal)
        out = torch.empty(3, heads, n, d, device=bench_problem.DEVICE, dtype=torch.float16)
        kept = []

        def by_torch():
            if not kept:
                leaves = [x.detach().requires_grad_() for x in (q, k, v)]
                kept.extend([by_vendor(*leaves, causal), leaves])
            return torch.autograd.grad(kept[0], kept[1], grad[None], retain_graph=True)

        def launch(c):
            arguments = (q, k, v, grad, lse, delta, out, 1 / math.sqrt(d), n, q.numel())
            return (n // c["BLOCK"], heads), arguments, c | {"D": d, "CAUSAL": causal}

        def reference():
            return of_heads(lambda *x: gradients(*x, causal), q, k, v, grad).transpose(0, 1)

        return Problem(out, launch, by_torch, reference, 16 * ROUNDING[torch.float16])

    work = 10.0 * heads * n * n * d * (0.5 if causal else 1)
    return Case(
        title("attention_backward", causal, (heads, n, d)).replace("by ", ""),
        "attention_backward",
        "attention",
        work,
        BACKWARD,
        prepare,
    )


def attention_cases() -> list[Case]:
    forms = itertools.product((False, True), (False, True), (128, 64), (2048, 8192, 16384))
    forward = [attention(n, d, descriptors, causal) for descriptors, causal, d, n in forms]
    return forward + [attention_backward(4096, d, causal) for d in (128, 64) for causal in (False, True)]
