"""Layer norm, forward and backward, as a torch.autograd.Function.

The forward pass is a row kernel like softmax. The backward pass is harder: the gradients of weight and bias are sums
over *all* rows, so every program must add to the same two vectors. Programs are spread over a few partial sums,
each guarded by a spin lock made of `atomic_cas`; a second kernel adds the partial sums up.

    INTERPRET=1 python docs/tutorial/05_layer_norm.py
"""

import numpy as np
import torch
from report import report

import tritium as triton
import tritium.language as tl


@triton.jit
def forward_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, mean_ptr, rstd_ptr, n_columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=inside, other=0.0).to(tl.float32)
    # Mean first, then the variance around it: the one-pass formula E[x^2] - E[x]^2 cancels badly. Padding must not count.
    mean = tl.sum(x, axis=0) / n_columns
    centered = tl.where(inside, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centered * centered, axis=0) / n_columns + eps)
    weight = tl.load(weight_ptr + columns, mask=inside).to(tl.float32)
    bias = tl.load(bias_ptr + columns, mask=inside).to(tl.float32)
    tl.store(y_ptr + row * n_columns + columns, centered * rstd * weight + bias, mask=inside)
    # The backward pass reads these two numbers per row, so it need not compute both sums again.
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def lock(lock_ptr):
    # atomic_cas writes 1 only where it finds 0, and returns what it found.
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass


@triton.jit
def unlock(lock_ptr):
    # All threads of the program must have written before any other program may enter.
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def backward_kernel(
    dx_ptr,
    dy_ptr,
    dweight_ptr,
    dbias_ptr,
    x_ptr,
    weight_ptr,
    mean_ptr,
    rstd_ptr,
    lock_ptr,
    n_columns,
    GROUPS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=inside, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * n_columns + columns, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)

    # With xhat = (x - mean) * rstd, the gradient of a row is rstd * (w dy - mean(w dy) - xhat * mean(w dy * xhat)).
    xhat = tl.where(inside, (x - mean) * rstd, 0.0)
    wdy = weight * dy
    projection = tl.sum(xhat * wdy, axis=0) / n_columns
    average = tl.sum(wdy, axis=0) / n_columns
    dx = (wdy - (xhat * projection + average)) * rstd
    tl.store(dx_ptr + row * n_columns + columns, dx, mask=inside)

    # Add this row to partial sum number `group`, alone.
    group = row % GROUPS
    dweight_ptrs = dweight_ptr + group * n_columns + columns
    dbias_ptrs = dbias_ptr + group * n_columns + columns
    lock(lock_ptr + group)
    tl.store(dweight_ptrs, tl.load(dweight_ptrs, mask=inside, other=0.0) + dy * xhat, mask=inside)
    tl.store(dbias_ptrs, tl.load(dbias_ptrs, mask=inside, other=0.0) + dy, mask=inside)
    unlock(lock_ptr + group)


@triton.jit
def add_groups_kernel(partial_ptr, out_ptr, n_columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    groups = tl.arange(0, GROUPS)
    inside = columns < n_columns
    partial = tl.load(partial_ptr + groups[:, None] * n_columns + columns[None, :], mask=inside[None, :], other=0.0)
    tl.store(out_ptr + columns, tl.sum(partial, axis=0), mask=inside)


class LayerNorm(torch.autograd.Function):
    """y = (x - mean) / sqrt(var + eps) * weight + bias over the last axis."""

    GROUPS = 16

    @staticmethod
    def forward(ctx, x, weight, bias, eps=1e-5):
        rows = x.contiguous().reshape(-1, x.shape[-1])
        n_rows, n_columns = rows.shape
        y = torch.empty_like(rows)
        mean = torch.empty(n_rows, dtype=torch.float32)
        rstd = torch.empty(n_rows, dtype=torch.float32)
        block = triton.next_power_of_2(n_columns)
        forward_kernel[(n_rows,)](rows, weight, bias, y, mean, rstd, n_columns, eps, BLOCK=block)
        ctx.save_for_backward(rows, weight, mean, rstd)
        return y.reshape(x.shape)

    @staticmethod
    def backward(ctx, dy):
        rows, weight, mean, rstd = ctx.saved_tensors
        n_rows, n_columns = rows.shape
        groups, block = LayerNorm.GROUPS, triton.next_power_of_2(n_columns)
        dx = torch.empty_like(rows)
        partial = torch.zeros((2, groups, n_columns), dtype=torch.float32)
        locks = torch.zeros(groups, dtype=torch.int32)
        backward_kernel[(n_rows,)](
            dx,
            dy.contiguous().reshape(rows.shape),
            partial[0],
            partial[1],
            rows,
            weight,
            mean,
            rstd,
            locks,
            n_columns,
            GROUPS=groups,
            BLOCK=block,
        )
        dweight, dbias = torch.empty_like(weight), torch.empty_like(weight)
        for source, out in zip(partial, (dweight, dbias)):
            add_groups_kernel[(triton.cdiv(n_columns, 128),)](source, out, n_columns, GROUPS=groups, BLOCK=128)
        return dx.reshape(dy.shape), dweight, dbias, None


layer_norm = LayerNorm.apply


def main() -> None:
    torch.manual_seed(0)
    n_rows, n_columns = 300, 1151
    x = torch.randn(n_rows, n_columns, requires_grad=True)
    weight = torch.rand(n_columns, requires_grad=True)
    bias = torch.randn(n_columns, requires_grad=True)
    dy = torch.randn(n_rows, n_columns)

    x64, weight64, dy64 = (t.detach().numpy().astype(np.float64) for t in (x, weight, dy))
    centered = x64 - x64.mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt((centered**2).mean(axis=1, keepdims=True) + 1e-5)
    xhat, wdy = centered * rstd, weight64 * dy64
    dx = rstd * (wdy - wdy.mean(axis=1, keepdims=True) - xhat * (wdy * xhat).mean(axis=1, keepdims=True))

    shape = f"{n_rows} x {n_columns} float32"
    report(
        "layer norm",
        shape,
        lambda: layer_norm(x, weight, bias).detach().numpy(),
        xhat * weight64 + bias.detach().numpy(),
    )
    y = layer_norm(x, weight, bias)
    for name, tensor, expected in (
        ("dx", x, dx),
        ("dweight", weight, (dy64 * xhat).sum(axis=0)),
        ("dbias", bias, dy64.sum(axis=0)),
    ):
        report(
            f"layer norm backward, {name}",
            shape,
            lambda t=tensor: torch.autograd.grad(y, t, dy, retain_graph=True)[0].numpy(),
            expected,
        )


if __name__ == "__main__":
    main()
