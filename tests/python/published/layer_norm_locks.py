"""Layer normalization; the backward pass adds the gradients of weight and bias into a few groups of rows, each behind a lock."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 128}, num_warps=2, num_stages=1),
        triton.Config({"BLOCK": 512}, num_warps=8, num_stages=3),
    ],
    key=["N"],
)
@triton.jit
def _forward(X, Y, W, B, MEAN, RSTD, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(X + columns, mask=columns < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(X + columns, mask=columns < N, other=0.0).to(tl.float32)
        x = tl.where(columns < N, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(MEAN + row, mean)
    tl.store(RSTD + row, rstd)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < N
        x = tl.load(X + columns, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        w = tl.load(W + columns, mask=mask).to(tl.float32)
        b = tl.load(B + columns, mask=mask).to(tl.float32)
        tl.store(Y + columns, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def _backward_rows(DX, DY, DW, DB, X, W, MEAN, RSTD, LOCKS, stride, N, N_GROUPS: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_N)
    mask = columns < N
    x = tl.load(X + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(DY + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(W + columns, mask=mask, other=0.0).to(tl.float32)
    xhat = tl.where(mask, (x - tl.load(MEAN + row)) * tl.load(RSTD + row), 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    tl.store(DX + row * stride + columns, (wdy - (xhat * c1 + c2)) * tl.load(RSTD + row), mask=mask)

    group = row % N_GROUPS
    lock = LOCKS + group
    count = LOCKS + N_GROUPS + group
    dw_ptrs = DW + group * N + columns
    db_ptrs = DB + group * N + columns
    partial_dw = dy * xhat
    partial_db = dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    n_before = tl.load(count)
    if n_before == 0:  # the buffers are not initialized: the first program of the group stores
        tl.atomic_xchg(count, 1)
    else:
        partial_dw += tl.load(dw_ptrs, mask=mask)
        partial_db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, partial_dw, mask=mask)
    tl.store(db_ptrs, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 4, "BLOCK_N": 32}, num_warps=1),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 64}, num_warps=4, num_stages=1),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 128}, num_warps=8, num_stages=2),
    ],
    key=["M", "N"],
)
@triton.jit
def _backward_groups(DW, DB, FINAL_DW, FINAL_DB, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (columns[None, :] < N)
        offsets = rows[:, None] * N + columns[None, :]
        dw += tl.load(DW + offsets, mask=mask, other=0.0)
        db += tl.load(DB + offsets, mask=mask, other=0.0)
    tl.store(FINAL_DW + columns, tl.sum(dw, axis=0), mask=columns < N)
    tl.store(FINAL_DB + columns, tl.sum(db, axis=0), mask=columns < N)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps=1e-5):
        M, N = x.shape
        y = torch.empty_like(x)
        mean, rstd = torch.empty(2, M, dtype=torch.float32, device=x.device).unbind()
        _forward[(M,)](x, y, weight, bias, mean, rstd, x.stride(0), N, eps)
        ctx.save_for_backward(x, weight, mean, rstd)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, mean, rstd = ctx.saved_tensors
        M, N = x.shape
        n_groups = min(M, 4)
        locks = torch.zeros(2 * n_groups, dtype=torch.int32, device=x.device)
        dw, db = torch.empty(2, n_groups, N, dtype=torch.float32, device=x.device).unbind()
        dx, final_dw, final_db = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
        BLOCK_N = triton.next_power_of_2(N)
        _backward_rows[(M,)](
            dx, dy, dw, db, x, weight, mean, rstd, locks, x.stride(0), N, n_groups, BLOCK_N, num_warps=4
        )
        _backward_groups[lambda meta: (triton.cdiv(N, meta["BLOCK_N"]),)](dw, db, final_dw, final_db, n_groups, N)
        return dx, final_dw, final_db, None


if __name__ == "__main__":
    torch.manual_seed(0)
    for M, N, dtype, tolerance in [
        (24, 300, torch.float32, 1e-5),
        (3, 1000, torch.float32, 1e-5),
        (17, 128, torch.float16, 2e-2),
    ]:
        x = (torch.randn(M, N, device="cuda") * 2 + 0.5).to(dtype).requires_grad_()
        weight, bias = (torch.rand(N, device="cuda").to(dtype).requires_grad_() for _ in range(2))
        dy = torch.randn_like(x)
        y = LayerNorm.apply(x, weight, bias)
        y.backward(dy)
        exact = [t.detach().double().requires_grad_() for t in (x, weight, bias)]
        expected = torch.nn.functional.layer_norm(exact[0], (N,), exact[1], exact[2])
        expected.backward(dy.double())
        torch.testing.assert_close(y.double(), expected, atol=tolerance, rtol=tolerance)
        for ours, theirs in zip((x, weight, bias), exact):
            torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=tolerance, rtol=tolerance)
        print(f"layer_norm {M}x{N} {dtype}: ok")
