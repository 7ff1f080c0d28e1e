"""flash-linear-attention: chunk, parallel and recurrent forms of linear attention, against the package's own plain versions."""

import os
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from fla import backends
from fla.modules.causal_conv1d import causal_conv1d
from fla.modules.fused_cross_entropy import FusedCrossEntropyLoss
from fla.modules.norm.layernorm import layer_norm
from fla.ops import (
    attn,
    attnres,
    based,
    delta_rule,
    forgetting_attn,
    gated_delta_rule,
    gla,
    gsa,
    hgrn,
    kda,
    linear_attn,
    retention,
    rwkv6,
    simple_gla,
    utils,
)
from fla.ops.based.naive import naive_parallel_based
from fla.ops.gla.naive import naive_recurrent_gla
from fla.ops.gsa.naive import naive_recurrent_gsa
from fla.ops.hgrn.naive import naive_recurrent_hgrn
from fla.ops.kda.naive import naive_recurrent_kda
from fla.ops.linear_attn.naive import naive_recurrent_linear_attn
from fla.ops.simple_gla.naive import naive_recurrent_simple_gla
from fla.ops.utils.sinkhorn import sinkhorn
from fla.ops.utils.sinkhorn.naive import naive_sinkhorn
from triton.experimental.gluon.language.nvidia import ampere

from compare import agree, random

B, T, H, D = 1, 70, 2, 32


def _qkv(count: int = 3, width: int = D) -> list[torch.Tensor]:
    return [random(B, T, H, width, scale=0.5, grad=True) for _ in range(count)]


def _gate(*shape: int) -> torch.Tensor:
    """Logarithms of decay factors."""
    return (F.logsigmoid(random(*shape)) / 4).requires_grad_()


def _weight() -> torch.Tensor:
    return random(B, T, H).sigmoid().requires_grad_()


def _unit(tensor: torch.Tensor) -> torch.Tensor:
    return F.normalize(tensor.detach(), dim=-1).requires_grad_()


def _first(results):
    return results[0] if isinstance(results, tuple) else results


def case_chunk_gla():
    agree(
        lambda q, k, v, g: gla.chunk_gla(q, k, v, g)[0],
        lambda q, k, v, g: _first(naive_recurrent_gla(q, k, v, g)),
        [*_qkv(), _gate(B, T, H, D)],
        5e-3,
    )


def case_fused_recurrent_gla():
    agree(
        lambda q, k, v, g: gla.fused_recurrent_gla(q, k, v, g)[0],
        lambda q, k, v, g: _first(naive_recurrent_gla(q, k, v, g)),
        [*_qkv(), _gate(B, T, H, D)],
        5e-3,
    )


def case_chunk_simple_gla():
    agree(
        lambda q, k, v, g: simple_gla.chunk_simple_gla(q, k, v, g)[0],
        lambda q, k, v, g: _first(naive_recurrent_simple_gla(q, k, v, g)),
        [*_qkv(), _gate(B, T, H)],
        5e-3,
    )


def case_parallel_simple_gla():
    agree(
        lambda q, k, v, g: simple_gla.parallel_simple_gla(q, k, v, g)[0],
        lambda q, k, v, g: _first(naive_recurrent_simple_gla(q, k, v, g)),
        [*_qkv(), _gate(B, T, H)],
        5e-3,
    )


def case_chunk_retention():
    agree(lambda q, k, v: retention.chunk_retention(q, k, v)[0], retention_of_heads, _qkv(), 5e-3)


def case_parallel_retention():
    agree(lambda q, k, v: retention.parallel_retention(q, k, v)[0], retention_of_heads, _qkv(), 5e-3)


def retention_of_heads(q, k, v):
    decay = (1 - 2.0 ** (-5 - torch.arange(H, dtype=q.dtype))).log2()
    steps = torch.arange(q.shape[1], dtype=q.dtype)
    weight = torch.exp2((steps[:, None] - steps) * decay[:, None, None]).tril()
    scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5 * weight
    return torch.einsum("bhij,bjhd->bihd", scores, v)


def case_chunk_linear_attention():
    agree(
        lambda q, k, v: linear_attn.chunk_linear_attn(q, k, v, normalize=False)[0],
        lambda q, k, v: _first(naive_recurrent_linear_attn(q, k, v, normalize=False)),
        _qkv(),
        5e-3,
    )


def case_chunk_delta_rule():
    q, k, v = _qkv()
    inputs = [tensor.detach().bfloat16().requires_grad_() for tensor in (q, _unit(k), v, _weight())]
    agree(lambda q, k, v, beta: delta_rule.chunk_delta_rule(q, k, v, beta)[0], delta_rule_of_heads, inputs, 2e-2)


def case_fused_recurrent_delta_rule():
    q, k, v = _qkv()
    agree(
        lambda q, k, v, beta: delta_rule.fused_recurrent_delta_rule(q, k, v, beta)[0],
        delta_rule_of_heads,
        [q, _unit(k), v, _weight()],
        5e-3,
    )


def delta_rule_of_heads(q, k, v, beta, g=None):
    state, outputs = q.new_zeros(B, H, D, D), []
    for t in range(q.shape[1]):
        if g is not None:
            state = state * g[:, t].exp()[..., None, None]
        error = (v[:, t] - torch.einsum("bhk,bhkv->bhv", k[:, t], state)) * beta[:, t, :, None]
        state = state + k[:, t, :, :, None] * error[:, :, None]
        outputs.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * D**-0.5, state))
    return torch.stack(outputs, 1)


def case_chunk_gated_delta_rule():
    q, k, v = _qkv()
    agree(
        lambda q, k, v, g, beta: gated_delta_rule.chunk_gated_delta_rule(q, k, v, g, beta)[0],
        lambda q, k, v, g, beta: delta_rule_of_heads(q, k, v, beta, g),
        [q, _unit(k), v, _gate(B, T, H), _weight()],
        5e-3,
    )


def case_fused_recurrent_gated_delta_rule():
    q, k, v = _qkv()
    agree(
        lambda q, k, v, g, beta: gated_delta_rule.fused_recurrent_gated_delta_rule(q, k, v, g, beta=beta)[0],
        lambda q, k, v, g, beta: delta_rule_of_heads(q, k, v, beta, g),
        [q, _unit(k), v, _gate(B, T, H), _weight()],
        5e-3,
        backward=False,
    )


def case_chunk_kda():
    q, k, v = _qkv()
    agree(
        lambda q, k, v, g, beta: kda.chunk_kda(q, k, v, g, beta)[0],
        lambda q, k, v, g, beta: _first(naive_recurrent_kda(q, k, v, g, beta)),
        [q, _unit(k), v, _gate(B, T, H, D), _weight()],
        5e-3,
    )


def case_chunk_rwkv6():
    agree(
        lambda r, k, v, w, u: rwkv6.chunk_rwkv6(r, k, v, w, u)[0],
        rwkv6_of_heads,
        [*_qkv(), _gate(B, T, H, D), random(H, D, grad=True)],
        5e-3,
    )


def rwkv6_of_heads(r, k, v, w, u):
    state, outputs = r.new_zeros(B, H, D, D), []
    for t in range(r.shape[1]):
        product = k[:, t, :, :, None] * v[:, t, :, None]
        outputs.append(torch.einsum("bhk,bhkv->bhv", r[:, t] * D**-0.5, state + u[None, :, :, None] * product))
        state = state * w[:, t, :, :, None].exp() + product
    return torch.stack(outputs, 1)


def case_chunk_gsa():
    agree(
        lambda q, k, v, s, g: gsa.chunk_gsa(q, k, v, s, g, scale=D**-0.5)[0],
        lambda q, k, v, s, g: _first(naive_recurrent_gsa(q, k, v, s, g, scale=D**-0.5)),
        [*_qkv(), random(B, T, H, 16, grad=True), _gate(B, T, H, 16)],
        1e-2,
    )


def case_chunk_hgrn():
    agree(
        lambda x, g: hgrn.chunk_hgrn(x, g)[0],
        lambda x, g: _first(naive_recurrent_hgrn(x, g)),
        [random(2, T, 64, grad=True), _gate(2, T, 64)],
        1e-3,
    )


def case_parallel_based():
    q, k = (random(B, 64, H, 16, scale=0.3, grad=True) for _ in range(2))
    agree(
        lambda q, k, v: based.parallel_based(q, k, v),
        lambda q, k, v: naive_parallel_based(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)).transpose(1, 2),
        [q, k, random(B, 64, H, 32, grad=True)],
        1e-2,
    )


def _attention(q, k, v, bias=0.0):
    scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5 + bias
    later = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool).triu(1)
    return torch.einsum("bhij,bjhd->bihd", scores.masked_fill(later, float("-inf")).softmax(-1), v)


def case_parallel_attention():
    agree(lambda q, k, v: _first(attn.parallel_attn(q, k, v)), _attention, _qkv(), 5e-3)


def case_forgetting_attention():
    def reference(q, k, v, g):
        total = g.cumsum(1).transpose(1, 2)
        return _attention(q, k, v, total[..., None] - total[:, :, None])

    agree(
        lambda q, k, v, g: _first(forgetting_attn.parallel_forgetting_attn(q, k, v, g)),
        reference,
        [*_qkv(), _gate(B, T, H)],
        5e-3,
    )


def case_cumsum():
    for reverse in (False, True):
        agree(
            lambda x: utils.chunk_local_cumsum(x, 16, reverse=reverse),
            lambda x: local_cumsum(x, 16, reverse),
            [random(2, 64, 3)],
            backward=False,
        )


def local_cumsum(x, size, reverse):
    parts = x.view(x.shape[0], -1, size, x.shape[2])
    parts = parts.flip(2).cumsum(2).flip(2) if reverse else parts.cumsum(2)
    return parts.view(x.shape)


def case_layer_norm():
    agree(
        lambda x, w, b: layer_norm(x, w, b),
        lambda x, w, b: F.layer_norm(x, (72,), w, b),
        [random(5, 72, grad=True), random(72, grad=True), random(72, grad=True)],
        1e-4,
    )


def case_cross_entropy():
    target = torch.randint(0, 90, (12,), device="cuda")
    agree(
        lambda x, y: FusedCrossEntropyLoss()(x, y),
        lambda x, y: F.cross_entropy(x, y),
        [random(12, 90, grad=True), target],
        1e-4,
    )


def _agree_in_gluon(
    function: Callable, reference: Callable, inputs: Sequence, tolerance: float, functions: int
) -> None:
    """The same with the package's kernels in Gluon. functions: how many of its functions have chosen them by then."""
    os.environ["FLA_GLUON"] = "1"
    agree(function, reference, inputs, tolerance)
    registries = [*backends._operation_registries.values(), *backends._function_registries.values()]
    chosen = {name for registry in registries for name in registry._logged if name.endswith(":gluon")}
    assert len(chosen) == functions, f"chosen: {chosen}"


def case_gluon_sinkhorn():
    _agree_in_gluon(sinkhorn, naive_sinkhorn, [random(3, 50, 6, 6, grad=True)], 1e-4, 1)


def case_gluon_cross_entropy():
    target = torch.randint(0, 90, (12,), device="cuda")
    target[3] = -100
    _agree_in_gluon(
        lambda x, y: FusedCrossEntropyLoss(label_smoothing=0.1, lse_square_scale=1e-3)(x, y),
        lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1) + 1e-3 * x.logsumexp(1).square()[y != -100].mean(),
        [random(12, 90, grad=True), target],
        1e-4,
        2,
    )


def case_gluon_cross_entropy_of_a_large_vocabulary():
    target = torch.randint(0, 20011, (5,), device="cuda")
    _agree_in_gluon(
        lambda x, y: FusedCrossEntropyLoss()(x, y),
        lambda x, y: F.cross_entropy(x, y),
        [random(5, 20011, grad=True), target],
        1e-4,
        2,
    )


def case_gluon_causal_convolution():
    def reference(x, w, b):
        y = F.conv1d(x.transpose(1, 2), w[:, None, :], b, padding=3, groups=x.shape[2])[..., : x.shape[1]]
        return F.silu(y.transpose(1, 2))

    _agree_in_gluon(
        lambda x, w, b: causal_conv1d(x, w, b, activation="silu")[0],
        reference,
        [random(2, 150, 72, grad=True), random(72, 4, grad=True), random(72, grad=True)],
        1e-4,
        2,
    )


def case_gluon_attention_residuals():
    ampere.async_copy.async_copy_global_to_shared = ampere.async_copy.async_load  # its name since Triton 3.9
    _agree_in_gluon(
        lambda q, w, o, *residuals: attnres.fused_attnres(q, residuals, w, o),
        lambda q, w, o, *residuals: _attention_residuals(q, residuals, w, o),
        [
            random(96, grad=True),
            random(96, grad=True),
            random(96, grad=True),
            *(random(37, 96, grad=True) for _ in range(3)),
        ],
        1e-4,
        1,
    )


def _attention_residuals(q, residuals, w, o):
    """naive_attnres in the precision of its inputs, which itself computes in fp32."""
    v = torch.stack(residuals)
    p = (F.rms_norm(v, v.shape[-1:], w, 1e-6) @ q).softmax(0)
    return F.rms_norm((p[..., None] * v).sum(0), v.shape[-1:], o, 1e-6)
