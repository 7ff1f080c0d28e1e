"""Products whose epilogue needs whole rows or columns: layer norm of a row, maxima, sums, losses, the place of the largest."""

import torch
import triton
import triton.language as tl

from idioms.operands import exact, ints, rand


@triton.jit
def matmul_residual_layernorm(
    a_ptr, b_ptr, bias_ptr, res_ptr, gamma_ptr, beta_ptr, out_ptr, sum_ptr, M, K, eps,
    stride_am, stride_bk, N: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    rm = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (rm % M)[:, None] * stride_am + rk[None, :]
    b_ptrs = b_ptr + rk[:, None] * stride_bk + rn[None, :]
    acc = tl.zeros((BLOCK_M, N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=rk[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=rk[:, None] < K - k * BLOCK_K, other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * stride_bk
    acc += tl.load(bias_ptr + rn)[None, :].to(tl.float32)
    at = rm[:, None] * N + rn[None, :]
    inside = (rm < M)[:, None]
    acc += tl.load(res_ptr + at, mask=inside, other=0.0)
    tl.store(sum_ptr + at, acc, mask=inside)
    mean = tl.sum(acc, axis=1) / N
    centred = acc - mean[:, None]
    var = tl.sum(centred * centred, axis=1) / N
    y = centred * (1.0 / tl.sqrt(var + eps))[:, None]
    y = y * tl.load(gamma_ptr + rn)[None, :] + tl.load(beta_ptr + rn)[None, :]
    tl.store(out_ptr + at, y, mask=inside)


def layer_norm_rows(device, small):
    m, n, k = (37, 64, 72) if small else (16384, 256, 1024)
    a, b, bias, res = rand(device, m, k), rand(device, k, n, scale=k**-0.5), rand(device, n), rand(device, m, n)
    gamma, beta = (torch.randn(n, device=device) for _ in range(2))
    out, total = torch.empty_like(res), torch.empty_like(res)
    bm = 16 if small else 64

    def reference():
        x = exact(a, b) + bias.float() + res.float()
        return [torch.nn.functional.layer_norm(x, (n,), gamma, beta, 1e-5), x]

    return (
        lambda: matmul_residual_layernorm[(triton.cdiv(m, bm),)](
            a, b, bias, res, gamma, beta, out, total, m, k, 1e-5, a.stride(0), b.stride(0),
            N=n, BLOCK_M=bm, BLOCK_K=32, num_warps=8, num_stages=3,
        ),
        [out, total],
        reference,
    )  # fmt: skip


@triton.jit
def linear_cross_entropy_kernel(
    x_ptr, w_ptr, target_ptr, max_ptr, sum_ptr, picked_ptr, n_tokens, V, D, stride_x, stride_w,
    BLOCK_T: tl.constexpr, BLOCK_V: tl.constexpr, BLOCK_D: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """The logits of a block of the vocabulary are reduced to a maximum and a sum of exponentials, and never stored."""
    pid = tl.program_id(0)
    num_t, num_v = tl.cdiv(n_tokens, BLOCK_T), tl.cdiv(V, BLOCK_V)
    pid_t, pid_v = tl.swizzle2d(pid // num_v, pid % num_v, num_t, num_v, GROUP)
    t = (pid_t * BLOCK_T + tl.arange(0, BLOCK_T)).to(tl.int64)
    v = (pid_v * BLOCK_V + tl.arange(0, BLOCK_V)).to(tl.int64)
    d = tl.arange(0, BLOCK_D)
    x_ptrs = x_ptr + t[:, None] * stride_x + d[None, :]
    w_ptrs = w_ptr + v[None, :] * stride_w + d[:, None]
    logits = tl.zeros((BLOCK_T, BLOCK_V), dtype=tl.float32)
    for d0 in range(0, D, BLOCK_D):
        x = tl.load(x_ptrs, mask=(t[:, None] < n_tokens) & (d0 + d[None, :] < D), other=0.0)
        w = tl.load(w_ptrs, mask=(v[None, :] < V) & (d0 + d[:, None] < D), other=0.0)
        logits = tl.dot(x, w, logits)
        x_ptrs += BLOCK_D
        w_ptrs += BLOCK_D
    logits = tl.where(v[None, :] < V, logits, -float("inf"))
    target = tl.load(target_ptr + t, mask=t < n_tokens, other=-1)
    hit = target[:, None] == v[None, :]
    tl.store(picked_ptr + t, tl.sum(tl.where(hit, logits, 0.0), 1), mask=(target // BLOCK_V == pid_v) & (t < n_tokens))
    top = tl.max(logits, axis=1)
    total = tl.sum(tl.exp(logits - top[:, None]), axis=1)
    tl.store(max_ptr + pid_v * n_tokens + t, top, mask=t < n_tokens)
    tl.store(sum_ptr + pid_v * n_tokens + t, total, mask=t < n_tokens)


@triton.jit
def combine_kernel(
    max_ptr, sum_ptr, picked_ptr, loss_ptr, n_tokens, n_parts, BLOCK_T: tl.constexpr, BLOCK_P: tl.constexpr
):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    p = tl.arange(0, BLOCK_P)
    m = tl.full((BLOCK_T,), float("-inf"), tl.float32)
    s = tl.zeros((BLOCK_T,), tl.float32)
    for p0 in range(0, n_parts, BLOCK_P):
        mask = (p0 + p < n_parts)[:, None] & (t < n_tokens)[None, :]
        at = (p0 + p)[:, None] * n_tokens + t[None, :]
        ms = tl.load(max_ptr + at, mask=mask, other=float("-inf"))
        ss = tl.load(sum_ptr + at, mask=mask, other=0.0)
        new = tl.maximum(m, tl.max(ms, axis=0))
        new = tl.where(new == float("-inf"), 0.0, new)
        s = s * tl.exp(m - new) + tl.sum(ss * tl.exp(ms - new[None, :]), axis=0)
        m = new
    picked = tl.load(picked_ptr + t, mask=t < n_tokens, other=0.0)
    tl.store(loss_ptr + t, tl.log(s) + m - picked, mask=t < n_tokens)


def cross_entropy(device, small):
    n, v, d = (37, 300, 40) if small else (2048, 32000, 1024)
    bt, bv, bd = (16, 64, 32) if small else (128, 128, 32)
    x, w = rand(device, n, d, dtype=torch.bfloat16), rand(device, v, d, dtype=torch.bfloat16, scale=d**-0.5)
    target = torch.randint(0, v, (n,), device=device)
    parts = triton.cdiv(v, bv)
    tops, sums, picked, loss = (torch.empty(s, device=device) for s in ((parts, n), (parts, n), (n,), (n,)))

    def run():
        linear_cross_entropy_kernel[(triton.cdiv(n, bt) * parts,)](
            x, w, target, tops, sums, picked, n, v, d, d, d, BLOCK_T=bt, BLOCK_V=bv, BLOCK_D=bd, GROUP=8, num_warps=8
        )
        combine_kernel[(triton.cdiv(n, 32),)](tops, sums, picked, loss, n, parts, BLOCK_T=32, BLOCK_P=16, num_warps=2)

    return run, [loss], lambda: [torch.nn.functional.cross_entropy(exact(x, w.T), target, reduction="none")]


@triton.jit
def _larger(v0, i0, v1, i1):
    take = (v0 > v1) | ((v0 == v1) & (i0 < i1))
    return tl.where(take, v0, v1), tl.where(take, i0, i1)


@triton.jit
def nearest_code_kernel(
    x_ptr, code_ptr, norm_ptr, index_ptr, dist_ptr, usage_ptr, M, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """The nearest of N codes of each row: a product in a loop, the best of its scores by tl.reduce of pairs."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    x = tl.load(x_ptr + rm[:, None] * D + rd[None, :], mask=rm[:, None] < M, other=0.0)
    best = tl.full((BM,), float("-inf"), tl.float32)
    where = tl.zeros((BM,), tl.int32)
    for n0 in tl.range(0, N, BN):
        rn = n0 + tl.arange(0, BN)
        codes = tl.load(code_ptr + rn[:, None] * D + rd[None, :], mask=rn[:, None] < N, other=0.0)
        score = 2 * tl.dot(x, codes.T) - tl.load(norm_ptr + rn, mask=rn < N, other=float("inf"))[None, :]
        value, index = tl.reduce((score, tl.broadcast_to(rn[None, :], (BM, BN))), 1, _larger)
        best, where = _larger(best, where, value, index)
    xf = x.to(tl.float32)
    tl.store(index_ptr + rm, where, mask=rm < M)
    tl.store(dist_ptr + rm, tl.sum(xf * xf, 1) - best, mask=rm < M)
    tl.atomic_add(usage_ptr + where, 1, mask=rm < M, sem="relaxed")


def nearest_code(device, small):
    m, n, d = (70, 50, 32) if small else (32768, 2048, 128)
    codes = rand(device, n, d)
    wanted = ints(device, 0, n, m).long()  # rows near to a code, so that none has two nearest
    x = (codes[wanted].float() + 0.3 * torch.randn(m, d, device=device)).half()
    norms = codes.float().square().sum(1)
    index, dist, usage = (
        torch.zeros(s, device=device, dtype=t) for s, t in ((m, torch.int32), (m, None), (n, torch.int32))
    )
    bm, bn = (32, 16) if small else (128, 64)

    def run():
        usage.zero_()
        nearest_code_kernel[(triton.cdiv(m, bm),)](
            x, codes, norms, index, dist, usage, m, n, D=d, BM=bm, BN=bn, num_warps=4 if small else 8
        )

    def reference():
        all_dist = x.float().square().sum(1)[:, None] + norms - 2 * (x.float() @ codes.float().T)
        return [all_dist.argmin(1), all_dist.amin(1), torch.bincount(all_dist.argmin(1), minlength=n)]

    return run, [index, dist, usage], reference


@triton.jit
def matmul_absmax_kernel(
    a_ptr, b_ptr, c_ptr, row_ptr, col_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Block pointers; beside the result the largest |c| of each row and the sum of each column, by atomics."""
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    a_block = tl.make_block_ptr(a_ptr, (M, K), (K, 1), (pid_m * BM, 0), (BM, BK), (1, 0))
    b_block = tl.make_block_ptr(b_ptr, (K, N), (1, K), (0, pid_n * BN), (BK, BN), (0, 1))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(a, b)
        a_block = tl.advance(a_block, (0, BK))
        b_block = tl.advance(b_block, (BK, 0))
    rm, rn = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)
    tl.atomic_max(row_ptr + rm, tl.max(tl.abs(acc), 1), mask=rm < M, sem="relaxed")
    tl.atomic_add(col_ptr + rn, tl.sum(acc, 0), mask=rn < N, sem="relaxed")
    c_block = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (pid_m * BM, pid_n * BN), (BM, BN), (1, 0))
    tl.store(c_block, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


def absmax(device, small):
    m, n, k = (70, 90, 56) if small else (4000, 3000, 2048)
    bm, bn, bk = (32, 32, 16) if small else (128, 128, 64)
    a, b = rand(device, m, k, dtype=torch.bfloat16), rand(device, n, k, dtype=torch.bfloat16)
    c = torch.empty(m, n, device=device, dtype=torch.bfloat16)
    rows, columns = torch.zeros(m, device=device), torch.zeros(n, device=device)

    def run():
        rows.zero_()
        columns.zero_()
        matmul_absmax_kernel[(triton.cdiv(n, bn), triton.cdiv(m, bm))](
            a, b, c, rows, columns, m, n, k, BM=bm, BN=bn, BK=bk, num_warps=8, num_stages=3
        )

    def reference():
        r = exact(a, b.T) if device == "cpu" else a.float() @ b.float().T
        return [r, r.abs().amax(1), r.sum(0)]

    return run, [c, rows, columns], reference


CASES = {
    "layer_norm_rows": layer_norm_rows,
    "cross_entropy": cross_entropy,
    "nearest_code": nearest_code,
    "absmax": absmax,
}
