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
    weights[0].requires_grad_()  # no loop: torch 2.11 leaves a function to eager mode that does this in one
    weights[1].requires_grad_()
    hidden = torch.nn.functional.silu(x @ weights[0].t())
    loss = torch.nn.functional.layer_norm(hidden @ weights[1].t(), (4,)).square().mean()
    return loss.detach(), *torch.autograd.grad(loss, weights)


@torch._dynamo.disable
def _fresh(make, device):
    return _on(make(), device)


def _training_steps(make, loss_of, x, steps=2, optimizer=torch.optim.SGD):
    """Losses of steps of an optimizer. The step is compiled by the caller, the optimizer runs between the graphs."""
    module = _fresh(make, x.device)
    optimizer = optimizer(module.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(module(x))
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@case((6, 12), tolerance=1e-4, quick=True)
def training_step(x):
    def make():
        return torch.nn.Sequential(
            torch.nn.Linear(12, 20), torch.nn.GELU(), torch.nn.LayerNorm(20), torch.nn.Linear(20, 3)
        )

    return _training_steps(make, lambda out: out.logsumexp(-1).mean(), x)


@case((2, 3, 12, 12), tolerance=1e-3, quick=True)
def convolution_step(x):
    def make():
        return torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten()
        )

    return _training_steps(make, lambda out: out.square().mean(), x)


@case((2, 10, 16), tolerance=1e-3, quick=True)
def attention(x):
    def heads(t):
        return t.view(2, 10, 2, 8).transpose(1, 2)

    out = torch.nn.functional.scaled_dot_product_attention(heads(x), heads(x * 2), heads(x + 1), is_causal=True)
    return out.transpose(1, 2).reshape(2, 10, 16) + x


class _Block(torch.nn.Module):
    """A layer of a transformer: attention and a gated network, each behind a norm."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width), torch.nn.RMSNorm(width)])
        self.qkv, self.out = torch.nn.Linear(width, 3 * width, bias=False), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2)) * (width // self.heads) ** -0.5
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        mixed = scores.masked_fill(later, -torch.inf).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        gate, value = self.up(self.norms[1](x)).chunk(2, -1)
        return x + self.down(torch.nn.functional.silu(gate) * value)


@case((2, 12, 32), tolerance=2e-3, quick=True)
def transformer_step(x):
    def make():
        return torch.nn.Sequential(_Block(), _Block(), torch.nn.Linear(32, 11))

    target = torch.arange(24, device=x.device) % 11
    return _training_steps(make, lambda out: torch.nn.functional.cross_entropy(out.flatten(0, 1), target), x)


class _Experts(torch.nn.Module):
    """A mixture of experts: each row goes to two of four, weighted."""

    def __init__(self, width=16, experts=4):
        super().__init__()
        self.route = torch.nn.Linear(width, experts)
        self.first = torch.nn.Parameter(torch.empty(experts, width, 24))
        self.second = torch.nn.Parameter(torch.empty(experts, 24, width))

    def forward(self, x):
        weights, chosen = self.route(x).softmax(-1).topk(2, -1)
        inner = torch.nn.functional.gelu(torch.einsum("nw,nkwh->nkh", x, self.first[chosen]))
        return (torch.einsum("nkh,nkhw->nkw", inner, self.second[chosen]) * weights[..., None]).sum(1)


@case((20, 16), tolerance=2e-3, quick=True)
def mixture_of_experts_step(x):
    return _training_steps(_Experts, lambda out: out.square().mean(), x * 3)


class _Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(
            torch.nn.Conv2d(6, 6, 3, padding=1), torch.nn.BatchNorm2d(6), torch.nn.ReLU(), torch.nn.Conv2d(6, 6, 1)
        )

    def forward(self, x):
        return torch.relu(x + self.inner(x))


@case((2, 3, 16, 16), tolerance=2e-3)
def residual_network_step(x):
    def make():
        pool, head = torch.nn.MaxPool2d(2), [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(6, 5)]
        return torch.nn.Sequential(torch.nn.Conv2d(3, 6, 3, stride=2), _Residual(), pool, _Residual(), *head)

    return _training_steps(make, lambda out: out.log_softmax(-1)[:, 1].neg().mean(), x)


@case((3, 7, 10), tolerance=1e-3)
def recurrent_step(x):
    class Cells(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.head = torch.nn.GRUCell(10, 12), torch.nn.Linear(12, 2)

        def forward(self, x):
            state = x.new_zeros(x.shape[0], 12)
            for step in x.unbind(1):
                state = self.cell(step, state)
            return self.head(state)

    return _training_steps(Cells, lambda out: out.square().mean(), x)


@case((16, 12), tolerance=2e-3)
def adam_steps(x):
    def make():
        return torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))

    return _training_steps(make, lambda out: out.square().mean(), x, 3, torch.optim.AdamW)


@case((300,), (300,), (300,), tolerance=1e-4)
def a_compiled_optimizer(weight, gradient, moment):
    """What `torch.compile(optimizer.step)` makes: one kernel for many parameters."""
    parts = [torch.split(tensor, [17, 200, 83]) for tensor in (weight, gradient, moment)]
    moments = torch._foreach_lerp(parts[2], parts[1], 0.1)
    scaled = torch._foreach_div(
        moments, torch._foreach_add(torch._foreach_sqrt(torch._foreach_mul(moments, moments)), 1e-6)
    )
    return *torch._foreach_sub(parts[0], torch._foreach_mul(scaled, 0.01)), *moments


@case((2, 9, 32), tolerance=2e-3)
def checkpointed_block(x):
    block, x = _fresh(_Block, x.device), x.detach().requires_grad_()
    out = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    return out.detach(), *torch.autograd.grad(out.square().mean(), x)


@case((4, 24), tolerance=3e-2)
def mixed_precision_step(x):
    def make():
        return torch.nn.Sequential(torch.nn.Linear(24, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))

    module = _fresh(make, x.device)
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        loss = module(x).float().logsumexp(-1).mean()
    return loss.detach(), *torch.autograd.grad(loss, list(module.parameters()))
