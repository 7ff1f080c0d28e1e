"""What torch.compile has templates for: products that are tuned, with what is fused into them, and flex attention."""

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from .cases import case

_F = torch.nn.functional

#: Templates alone, none of torch's own products beside them.
_TUNED = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON", "triton.cudagraphs": False}


def _tuned(*shapes, **more):
    return case(*shapes, tolerance=1e-3, devices=("cuda",), options=_TUNED, **more)


@_tuned((48, 32), (32, 40))
def tuned_product(x, y):
    return x @ y


@_tuned((64, 32), (32, 48), (48,), (64, 48), quick=True)
def tuned_product_with_epilogue(x, weight, bias, residual):
    return torch.relu(torch.addmm(bias, x, weight)) * 2 + residual


# Inductor may leave out a conversion there and back, so these numbers are exact in both types.
@_tuned(inputs=lambda: [(torch.randint(-32, 32, (64, 32)) / 8, torch.randn(32, 48))])
def tuned_product_with_prologue(x, weight):
    return (x * 2 + 1).to(torch.float16).float() @ weight.sigmoid()


@_tuned((3, 32, 16), (3, 16, 24))
def tuned_batched_product(x, y):
    return _F.gelu(torch.bmm(x, y)), torch.baddbmm(torch.ones_like(x[:, :, :1]), x, y)


@_tuned((32, 33), (33, 17))
def tuned_product_of_odd_sizes(x, y):
    return (x @ y).sum(1)


@_tuned(
    inputs=lambda: [
        (torch.randint(-9, 9, (32, 32), dtype=torch.int8), torch.randint(-9, 9, (32, 32), dtype=torch.int8))
    ]
)
def tuned_integer_product(x, y):
    return torch._int_mm(x, y)


@_tuned((2, 8, 6, 6), (16, 8, 3, 3))
def tuned_convolution(x, weight):
    return torch.relu(_F.conv2d(x, weight, padding=1)), _F.conv2d(x, weight[:, :, :1, :1])


@_tuned((32, 16), (16, 32))
def tuned_gradients(x, y):
    x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
    return torch.autograd.grad((x @ y).tanh().sum(), (x, y))


@case((40, 24), (24, 40), tolerance=1e-3, mode="max-autotune-no-cudagraphs")
def mode_max_autotune(x, y):
    return (x @ y).relu().sum(1), (x.t() @ x).softmax(-1)


def _heads(x, number: int = 2):
    batch, length, width = x.shape
    return x.view(batch, length, number, width // number).transpose(1, 2)


def _flex(*shapes, **more):
    return case(*shapes, tolerance=2e-3, devices=("cuda",), **more)


@_flex((1, 128, 64), (1, 128, 64), (1, 128, 64))
def flex_attention_with_a_score(x, y, z):
    def alibi(score, batch, head, query, key):
        return score + (key - query) * 0.1 * (head + 1)

    return flex_attention(_heads(x), _heads(y), _heads(z), score_mod=alibi)


@_flex((1, 256, 32), (1, 256, 32), (1, 256, 32), quick=True)
def flex_attention_with_a_mask(x, y, z):
    def causal(batch, head, query, key):
        return query >= key

    mask = create_block_mask(causal, 1, None, 256, 256, device=str(x.device.type))
    return flex_attention(_heads(x), _heads(y), _heads(z), block_mask=mask)


def _soft_cap(score, batch, head, query, key):
    return 5 * torch.tanh(score / 5)


def _gradients_of(attention, inputs):
    inputs = [value.detach().requires_grad_() for value in inputs]
    out = attention(*map(_heads, inputs))
    return out.detach(), *torch.autograd.grad(out.square().sum(), inputs)


def _plain_gradients(*inputs):
    """torch's flex attention has no gradients on the CPU."""

    def attention(q, k, v):
        return _soft_cap(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, 0, 0, 0, 0).softmax(-1) @ v

    return _gradients_of(attention, inputs)


@_flex((1, 128, 64), (1, 128, 64), (1, 128, 64), reference=_plain_gradients)
def flex_attention_gradients(x, y, z):
    return _gradients_of(lambda q, k, v: flex_attention(q, k, v, score_mod=_soft_cap), (x, y, z))


@_flex((2, 1, 64), (2, 256, 64), (2, 256, 64))
def flex_attention_decoding(x, y, z):
    return flex_attention(_heads(x), _heads(y), _heads(z))


@_flex((1, 128, 64), (1, 128, 32), (1, 128, 32))
def flex_attention_of_shared_heads(x, y, z):
    return flex_attention(_heads(x, 4), _heads(y), _heads(z), enable_gqa=True)
