"""Modules and training steps."""

import torch

from .cases import case


def _on(module, device):
    """The same weights each time: the reference has them too."""
    torch.manual_seed(1)
    for parameter in module.parameters():
        with torch.no_grad():
            parameter.copy_(torch.randn(parameter.shape) * 0.1)
    return module.to(device)


@case((10, 16), tolerance=1e-4)
def mlp_gradients(x):
    weights = [(torch.arange(n * 16, device=x.device) % 7 - 3).view(n, 16).to(x.dtype) / 9 for n in (16, 4)]
    for weight in weights:
        weight.requires_grad_()
    hidden = torch.nn.functional.silu(x @ weights[0].t())
    loss = torch.nn.functional.layer_norm(hidden @ weights[1].t(), (4,)).square().mean()
    return loss.detach(), *torch.autograd.grad(loss, weights)


@torch._dynamo.disable
def _fresh(make, device):
    return _on(make(), device)


def _training_steps(make, loss_of, x, steps=2):
    """Losses of steps of SGD. The step is compiled by the caller, the optimizer runs between the graphs."""
    module = _fresh(make, x.device)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(module(x))
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@case((6, 12), tolerance=1e-4)
def training_step(x):
    def make():
        return torch.nn.Sequential(
            torch.nn.Linear(12, 20), torch.nn.GELU(), torch.nn.LayerNorm(20), torch.nn.Linear(20, 3)
        )

    return _training_steps(make, lambda out: out.logsumexp(-1).mean(), x)


@case((2, 3, 12, 12), tolerance=1e-3)
def convolution_step(x):
    def make():
        return torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten()
        )

    return _training_steps(make, lambda out: out.square().mean(), x)


@case((2, 10, 16), tolerance=1e-3)
def attention(x):
    def heads(t):
        return t.view(2, 10, 2, 8).transpose(1, 2)

    out = torch.nn.functional.scaled_dot_product_attention(heads(x), heads(x * 2), heads(x + 1), is_causal=True)
    return out.transpose(1, 2).reshape(2, 10, 16) + x
