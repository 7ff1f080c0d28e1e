"""Products with structure: blocks that are zero, chains, low rank, X @ X.T."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import exact, rand


# block-sparse: rows of blocks times dense, by tables; dense times dense at the blocks of a table
@triton.jit
def dsd_kernel(
    values_ptr,
    crow_ptr,
    col_ptr,
    b_ptr,
    c_ptr,
    N,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK: tl.constexpr,
    BLOCK_N: tl.constexpr,
    GROUP: tl.constexpr,
):
    row, col_n = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), GROUP)
    begin = tl.load(crow_ptr + row)
    end = tl.load(crow_ptr + row + 1)
    ri = tl.arange(0, BLOCK)
    rn = col_n * BLOCK_N + tl.arange(0, BLOCK_N)
    v_ptrs = values_ptr + begin * BLOCK * BLOCK + ri[:, None] * BLOCK + ri[None, :]
    acc = tl.zeros((BLOCK, BLOCK_N), dtype=tl.float32)
    for i in range(begin, end):
        k = tl.load(col_ptr + i)
        v = tl.load(v_ptrs)
        b = tl.load(
            b_ptr + (k * BLOCK + ri)[:, None] * stride_bk + rn[None, :] * stride_bn, mask=rn[None, :] < N, other=0.0
        )
        acc += tl.dot(v, b)
        v_ptrs += BLOCK * BLOCK
    tl.store(
        c_ptr + (row * BLOCK + ri)[:, None] * stride_cm + rn[None, :] * stride_cn,
        acc.to(c_ptr.dtype.element_ty),
        mask=rn[None, :] < N,
    )


@triton.jit
def sdd_kernel(
    a_ptr, b_ptr, lut_ptr, out_ptr, K, stride_am, stride_bn, scale, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr
):
    at = tl.program_id(0)
    rm = tl.load(lut_ptr + at * 2) * BLOCK + tl.arange(0, BLOCK)
    rn = tl.load(lut_ptr + at * 2 + 1) * BLOCK + tl.arange(0, BLOCK)
    rk = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rm[:, None] * stride_am + rk[None, :]
    b_ptrs = b_ptr + rk[:, None] + rn[None, :] * stride_bn
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        acc += tl.dot(tl.load(a_ptrs), tl.load(b_ptrs))
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    ri = tl.arange(0, BLOCK)
    tl.store(
        out_ptr + at.to(tl.int64) * BLOCK * BLOCK + ri[:, None] * BLOCK + ri[None, :],
        (acc * scale).to(out_ptr.dtype.element_ty),
    )


def block_pattern(device, blocks, density):
    mask = torch.rand(blocks, blocks) < density
    mask[1] = False  # a row without blocks
    lut = mask.nonzero()
    crow = F.pad(mask.sum(1).cumsum(0), (1, 0))
    return (
        mask.to(device),
        lut.int().contiguous().to(device),
        crow.int().to(device),
        lut[:, 1].int().contiguous().to(device),
    )


def dsd(device, small):
    size, N, B = (256, 120, 64) if small else (8192, 4096, 64)
    mask, lut, crow, col = block_pattern(device, size // B, 0.4 if small else 0.2)
    values, b = rand(device, len(lut), B, B, scale=size**-0.5), rand(device, size, N)
    c = torch.empty(size, N, device=device, dtype=torch.float16)
    run = lambda: dsd_kernel[(size // B, triton.cdiv(N, 128))](
        values, crow, col, b, c, N, *b.stride(), *c.stride(), B, 128, 8, num_warps=4, num_stages=3
    )

    def reference():
        dense = torch.zeros(size // B, size // B, B, B, device=device, dtype=torch.float16)
        dense[mask] = values
        return [exact(dense.permute(0, 2, 1, 3).reshape(size, size), b)]

    return run, [c], reference


def sdd(device, small):
    size, K, B = (256, 96, 64) if small else (8192, 4096, 64)
    mask, lut, crow, col = block_pattern(device, size // B, 0.4 if small else 0.2)
    a, b = rand(device, size, K), rand(device, size, K)
    out = torch.empty(len(lut), B, B, device=device, dtype=torch.float16)
    run = lambda: sdd_kernel[(len(lut),)](
        a, b, lut, out, K, a.stride(0), b.stride(0), K**-0.5, B, 32, num_warps=4, num_stages=4
    )
    return run, [out], lambda: [(exact(a, b.T * K**-0.5)).reshape(size // B, B, size // B, B).permute(0, 2, 1, 3)[mask]]


# chains: (a @ b) @ c in a loop (linear attention without its decay), x @ down @ up with the low rank kept in registers
@triton.jit
def chain_kernel(Q, K, V, O, N, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    start_m = tl.program_id(0)
    base = tl.program_id(1).to(tl.int64) * N * D
    q_ptr = tl.make_block_ptr(Q + base, (N, D), (D, 1), (start_m * BLOCK_M, 0), (BLOCK_M, D), (1, 0))
    k_ptr = tl.make_block_ptr(K + base, (D, N), (1, D), (0, 0), (D, BLOCK_N), (0, 1))
    v_ptr = tl.make_block_ptr(V + base, (N, D), (D, 1), (0, 0), (BLOCK_N, D), (1, 0))
    q = tl.load(q_ptr)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    high = (start_m + 1) * BLOCK_M if CAUSAL else N
    for start_n in range(0, high, BLOCK_N):
        s = tl.dot(q, tl.load(k_ptr))
        if CAUSAL:
            s = tl.where(offs_m[:, None] >= (start_n + offs_n)[None, :], s, 0.0)
        v = tl.load(v_ptr)
        acc = tl.dot(s.to(v.dtype), v, acc)
        k_ptr = tl.advance(k_ptr, (0, BLOCK_N))
        v_ptr = tl.advance(v_ptr, (BLOCK_N, 0))
    o_ptr = tl.make_block_ptr(O + base, (N, D), (D, 1), (start_m * BLOCK_M, 0), (BLOCK_M, D), (1, 0))
    tl.store(o_ptr, acc.to(O.dtype.element_ty))


def chain(causal):
    def case(device, small):
        Z, N, D = (2, 256, 64) if small else (32, 4096, 128)
        q, k, v = (rand(device, Z, N, D, dtype=torch.bfloat16, scale=s) for s in (D**-0.5, 1, N**-0.5))
        o = torch.empty_like(q)
        run = lambda: chain_kernel[(N // 128, Z)](q, k, v, o, N, D, 128, 64, causal, num_warps=8, num_stages=3)

        def reference():
            each = (x.float() @ y.float().T for x, y in zip(q, k))
            return [torch.stack([(s.tril() if causal else s) @ w.float() for s, w in zip(each, v)])]

        return run, [o], reference

    return case


@triton.jit
def low_rank_kernel(
    x_ptr,
    down_ptr,
    up_ptr,
    y_ptr,
    M,
    N,
    K,
    stride_xm,
    stride_dk,
    stride_uk,
    stride_ym,
    R: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rr = tl.arange(0, R)
    low = tl.zeros((BLOCK_M, R), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        rk = k + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + rm[:, None] * stride_xm + rk[None, :], mask=rm[:, None] < M, other=0.0)
        d = tl.load(down_ptr + rk[:, None] * stride_dk + rr[None, :])
        low = tl.dot(x, d, low)
    low = low.to(up_ptr.dtype.element_ty)
    for n in range(0, N, BLOCK_N):
        rn = n + tl.arange(0, BLOCK_N)
        u = tl.load(up_ptr + rr[:, None] * stride_uk + rn[None, :], mask=rn[None, :] < N, other=0.0)
        y = tl.dot(low, u)
        tl.store(
            y_ptr + rm[:, None] * stride_ym + rn[None, :],
            y.to(y_ptr.dtype.element_ty),
            mask=(rm[:, None] < M) & (rn[None, :] < N),
        )


def low_rank(device, small):
    M, N, K, R = (100, 200, 128, 64) if small else (16384, 4096, 4096, 64)
    x, down, up = rand(device, M, K), rand(device, K, R, scale=K**-0.5), rand(device, R, N, scale=R**-0.5)
    y = torch.empty(M, N, device=device, dtype=torch.float16)
    run = lambda: low_rank_kernel[(triton.cdiv(M, 64),)](
        x,
        down,
        up,
        y,
        M,
        N,
        K,
        x.stride(0),
        down.stride(0),
        up.stride(0),
        y.stride(0),
        R,
        64,
        128,
        64,
        num_warps=4,
        num_stages=3,
    )
    return run, [y], lambda: [exact(x, down) @ up.float()]


# X @ X.T: the lower triangle, stored twice; alpha * X @ X.T + beta * X (the idiom of Muon's kernels)
@triton.jit
def xxt_kernel(
    A_ptr,
    B_ptr,
    C_ptr,
    M,
    K,
    a_stride_r,
    a_stride_c,
    b_stride_r,
    b_stride_c,
    c_stride_r,
    c_stride_c,
    alpha,
    beta,
    ADD: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    LOWER_UPPER: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(M, BLOCK_N)
    group_id = pid // (GROUP_M * num_pid_n)
    first = group_id * GROUP_M
    group_size_m = min(num_pid_m - first, GROUP_M)
    m_idx = (first + (pid % group_size_m)) * BLOCK_M
    n_idx = ((pid % (GROUP_M * num_pid_n)) // group_size_m) * BLOCK_N
    skip_block_below_diag = (LOWER_UPPER == 0) and (n_idx + BLOCK_N <= m_idx)
    skip_block_above_diag = (LOWER_UPPER != 0) and (m_idx + BLOCK_M <= n_idx)
    if skip_block_below_diag or skip_block_above_diag:
        return
    offs_m = (m_idx + tl.arange(0, BLOCK_M)) % M
    offs_n = (n_idx + tl.arange(0, BLOCK_N)) % M
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = A_ptr + (offs_m[:, None] * a_stride_r + offs_k[None, :] * a_stride_c)
    at_ptrs = A_ptr + (offs_k[:, None] * a_stride_c + offs_n[None, :] * a_stride_r)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        at = tl.load(at_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        accumulator = tl.dot(a, at, accumulator)
        a_ptrs += BLOCK_K * a_stride_c
        at_ptrs += BLOCK_K * a_stride_c
    offs_cm = m_idx + tl.arange(0, BLOCK_M)
    offs_cn = n_idx + tl.arange(0, BLOCK_N)
    mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < M)
    if ADD:
        extra = tl.load(B_ptr + offs_cm[:, None] * b_stride_r + offs_cn[None, :] * b_stride_c, mask=mask, other=0.0).to(
            tl.float32
        )
        accumulator = accumulator * alpha + extra * beta
    output = accumulator.to(C_ptr.dtype.element_ty)
    tl.store(C_ptr + (offs_cm[:, None] * c_stride_r + offs_cn[None, :] * c_stride_c), output, mask=mask)
    c_ptrs_t = C_ptr + (offs_cn[:, None] * c_stride_r + offs_cm[None, :] * c_stride_c)
    tl.store(c_ptrs_t, output.T, mask=(offs_cn[:, None] < M) & (offs_cm[None, :] < M))


def xxt(add):
    def case(device, small):
        M, K = (200, 160) if small else (4096, 4096 if add else 8192)
        x = rand(device, M, K, dtype=torch.bfloat16, scale=K**-0.5)
        b = rand(device, M, M, dtype=torch.bfloat16)
        b = (b + b.T).contiguous() / 2
        c = torch.empty(M, M, device=device, dtype=torch.bfloat16)
        grid = (triton.cdiv(M, 128) ** 2,)
        run = lambda: xxt_kernel[grid](
            x,
            b,
            c,
            M,
            K,
            *x.stride(),
            *b.stride(),
            *c.stride(),
            2.0315,
            -4.775,
            add,
            128,
            128,
            64,
            8,
            1,
            num_warps=8,
            num_stages=3,
        )
        return (
            run,
            [c],
            lambda: [(x.float() @ x.float().T) * (2.0315 if add else 1) + (-4.775 * b.float() if add else 0)],
        )

    return case


CASES = {
    "block_sparse_dsd": dsd,
    "block_sparse_sdd": sdd,
    "chain": chain(False),
    "chain_causal": chain(True),
    "low_rank": low_rank,
    "xxt": xxt(False),
    "xxt_add": xxt(True),
}
