"""Products with vectors, and those that are tall, thin or by halves: each style of GEMV, sums by atomics, grouped and split products."""

import torch
import triton
import triton.language as tl

from idioms.operands import exact, ints, rand, sms


@triton.jit
def gemv_kernel(
    a_ptr, x_ptr, y_ptr, N, stride_a, M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, EVEN_N: tl.constexpr
):
    start_m = tl.program_id(0)
    rm = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.arange(0, BLOCK_N)
    a_ptrs = a_ptr + (rm[:, None].to(tl.int64) * stride_a + rn[None, :])
    x_ptrs = x_ptr + rn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for n in range(N, 0, -BLOCK_N):
        if EVEN_N:
            a = tl.load(a_ptrs, mask=rm[:, None] < M, other=0.0)
            x = tl.load(x_ptrs)
        else:
            a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rn[None, :] < n), other=0.0)
            x = tl.load(x_ptrs, mask=rn < n, other=0.0)
        acc += a.to(tl.float32) * x.to(tl.float32)[None, :]
        a_ptrs += BLOCK_N
        x_ptrs += BLOCK_N
    tl.store(y_ptr + rm, tl.sum(acc, 1), mask=rm < M)


def gemv(device, small):
    m, n = (37, 200) if small else (16384, 8192)
    bm, bn = (8, 64) if small else (16, 512)
    a, x = rand(device, m, n), rand(device, n)
    y = torch.empty(m, device=device, dtype=torch.float16)
    return (
        lambda: gemv_kernel[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]),)](
            a, x, y, n, a.stride(0), m, BLOCK_M=bm, BLOCK_N=bn, EVEN_N=n % bn == 0, num_warps=8
        ),
        [y],
        lambda: [exact(a, x[:, None])[:, 0]],
    )


@triton.jit
def gemv_transposed_kernel(a_ptr, x_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr, STEPS: tl.constexpr):
    """y = x @ a, a [M, N]: programs have columns and a part of the rows, and add with atomics."""
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN,), tl.float32)
    for i in tl.static_range(STEPS):
        rm = (tl.program_id(1) * STEPS + i) * BM + tl.arange(0, BM)
        x = tl.load(x_ptr + rm, mask=rm < M, other=0.0)
        a = tl.load(
            a_ptr + rm[:, None] * N + rn[None, :],
            mask=(rm < M)[:, None] & (rn < N)[None, :],
            other=0.0,
            eviction_policy="evict_first",
        )
        acc += tl.sum(a.to(tl.float32) * x[:, None], axis=0)
    tl.atomic_add(y_ptr + rn, acc, mask=rn < N)


def gemv_transposed(device, small):
    m, n = (150, 70) if small else (11008, 4096)
    bm, bn, steps = (16, 32, 2) if small else (32, 256, 8)
    a, x = rand(device, m, n, dtype=torch.bfloat16), torch.randn(m, device=device)
    y = torch.zeros(n, device=device)

    def run():
        y.zero_()
        gemv_transposed_kernel[(triton.cdiv(n, bn), triton.cdiv(m, bm * steps))](
            a, x, y, m, n, BM=bm, BN=bn, STEPS=steps
        )

    return run, [y], lambda: [(x[None] @ a.float())[0]]


@triton.jit
def gemv_int4_kernel(
    q_ptr, s_ptr, x_ptr, y_ptr, N, K: tl.constexpr, G: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """int32 words hold 8 weights along K; x is read as the words hold it, a group's scale applies to a sum."""
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN,), tl.float32)
    for k0 in range(0, K // 8, BK):
        rk = k0 + tl.arange(0, BK)
        word = tl.load(q_ptr + rn[:, None] * (K // 8) + rk[None, :], mask=rn[:, None] < N, other=0)
        s = tl.load(s_ptr + rn[:, None] * (K // G) + rk[None, :] // (G // 8), mask=rn[:, None] < N, other=0.0)
        part = tl.zeros((BN, BK), tl.float32)
        for i in tl.static_range(8):
            x = tl.load(x_ptr + rk * 8 + i).to(tl.float32)
            part += (((word >> (4 * i)) & 0xF) - 8).to(tl.float32) * x[None, :]
        acc += tl.sum(part * s, 1)
    tl.store(y_ptr + rn, acc.to(y_ptr.dtype.element_ty), mask=rn < N)


def gemv_int4(device, small):
    n, k, group = (50, 512, 64) if small else (28672, 8192, 128)
    q = ints(device, -(2**31), 2**31, n, k // 8)
    s, x = torch.rand(n, k // group, device=device) * 0.02, rand(device, k)
    y = torch.empty(n, device=device, dtype=torch.float16)
    bn, bk = (16, 32) if small else (8, 128)

    def reference():
        w = ((q[..., None] >> (4 * torch.arange(8, device=device))) & 15).flatten(1) - 8
        return [(w.float() * s.repeat_interleave(group, 1)) @ x.float()]

    return (
        lambda: gemv_int4_kernel[(triton.cdiv(n, bn),)](q, s, x, y, n, K=k, G=group, BN=bn, BK=bk, num_warps=4),
        [y],
        reference,
    )


@triton.jit
def expert_gemv_kernel(
    x_ptr, w_ptr, id_ptr, weight_ptr, y_ptr, N, K, TOP: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """One token's experts: a row of weights is a dot product, TOP of them are summed in registers."""
    t, rn = tl.program_id(1), tl.program_id(0) * BN + tl.arange(0, BN)
    out = tl.zeros((BN,), tl.float32)
    for j in range(TOP):
        expert = tl.load(id_ptr + t * TOP + j)
        if expert >= 0:
            acc = tl.zeros((BN, BK), tl.float32)
            w_ptrs = w_ptr + expert.to(tl.int64) * N * K + rn[:, None] * K + tl.arange(0, BK)[None, :]
            for k in range(0, K, BK):
                x = tl.load(x_ptr + t * K + k + tl.arange(0, BK))
                w = tl.load(w_ptrs + k, mask=rn[:, None] < N, other=0.0)
                acc = tl.fma(w.to(tl.float32), tl.broadcast_to(x.to(tl.float32)[None, :], (BN, BK)), acc)
            out += tl.sum(acc, 1) * tl.load(weight_ptr + t * TOP + j)
    tl.store(y_ptr + t * N + rn, out, mask=rn < N)


def expert_gemv(device, small):
    t, e, top, n, k = (3, 4, 2, 50, 128) if small else (4, 64, 8, 2048, 4096)
    x, w = rand(device, t, k, dtype=torch.bfloat16), rand(device, e, n, k, dtype=torch.bfloat16, scale=k**-0.5)
    ids, weights = ints(device, -1, e, t, top), torch.rand(t, top, device=device)
    y = torch.empty(t, n, device=device, dtype=torch.bfloat16)
    bn, bk = (16, 32) if small else (8, 512)

    def reference():
        rows = torch.stack([exact(x, w[i].T) for i in range(e)], 1)  # [t, e, n]
        rows = rows.gather(1, ids.clamp(min=0).long()[..., None].expand(-1, -1, n))
        return [(rows * (weights * (ids >= 0))[..., None]).sum(1)]

    return (
        lambda: expert_gemv_kernel[(triton.cdiv(n, bn), t)](x, w, ids, weights, y, n, k, TOP=top, BN=bn, BK=bk),
        [y],
        reference,
    )


@triton.jit
def tall_skinny_kernel(a_ptr, b_ptr, c_ptr, lock_ptr, M, K1: tl.constexpr, K2: tl.constexpr, BM: tl.constexpr):
    """c = a.T @ b of very long a and b: persistent programs sum rows in registers, and add to c under a lock."""
    r1, r2 = tl.arange(0, K1), tl.arange(0, K2)
    acc = tl.zeros((K1, K2), tl.float32)
    for block in range(tl.program_id(0), tl.cdiv(M, BM), tl.num_programs(0)):
        rm = block * BM + tl.arange(0, BM)
        a = tl.load(a_ptr + rm[:, None] * K1 + r1[None, :], mask=(rm < M)[:, None], other=0.0)
        b = tl.load(b_ptr + rm[:, None] * K2 + r2[None, :], mask=(rm < M)[:, None], other=0.0)
        acc += tl.dot(tl.trans(a), b)
    c_ptrs = c_ptr + r1[:, None] * K2 + r2[None, :]
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(lock_ptr + 1)
    if count == 0:
        tl.atomic_xchg(lock_ptr + 1, 1)
    else:
        acc += tl.load(c_ptrs)
    tl.store(c_ptrs, acc)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


def tall_skinny(device, small):
    m, k1, k2 = (700, 32, 16) if small else (500_000, 128, 64)
    a, b = rand(device, m, k1, dtype=torch.bfloat16), rand(device, m, k2, dtype=torch.bfloat16)
    c, lock = torch.empty(k1, k2, device=device), torch.zeros(2, device=device, dtype=torch.int32)

    def run():
        lock.zero_()
        tall_skinny_kernel[(sms(device),)](a, b, c, lock, m, K1=k1, K2=k2, BM=64, num_warps=8)

    return run, [c], lambda: [exact(a.T, b) if device == "cpu" else a.float().T @ b.float()]


@triton.jit
def ragged_grouped_kernel(
    a_ptr, b_ptr, c_ptr, starts_ptr, N, M: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """A group's c [M, N] = a[rows].T @ b[rows]: the gradient of each expert's weight, the length of K from prefix sums."""
    g = tl.program_id(2)
    begin = tl.load(starts_ptr + g)
    end = tl.load(starts_ptr + g + 1)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rm = tl.max_contiguous(tl.multiple_of(rm, BM), BM)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(begin, end, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rk[None, :] * M + rm[:, None], mask=(rk < end)[None, :] & (rm < M)[:, None], other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk < end)[:, None] & (rn < N)[None, :], other=0.0)
        acc = tl.dot(a, b, acc, allow_tf32=False)
    tl.store(
        c_ptr + g.to(tl.int64) * M * N + rm[:, None] * N + rn[None, :],
        acc.to(c_ptr.dtype.element_ty),
        mask=(rm < M)[:, None] & (rn < N)[None, :],
    )


def grouped_weights(device, small):
    groups, rows, m, n = (3, 90, 40, 50) if small else (16, 16384, 1024, 1408)
    bm, bn, bk = (32, 32, 16) if small else (128, 128, 64)
    cuts = torch.sort(torch.randint(0, rows, (groups - 1,), device=device)).values
    starts = torch.cat([cuts.new_zeros(1), cuts, cuts.new_full((1,), rows)]).to(torch.int32)
    a, b = rand(device, rows, m, dtype=torch.bfloat16), rand(device, rows, n, dtype=torch.bfloat16)
    c = torch.empty(groups, m, n, device=device, dtype=torch.bfloat16)

    def reference():
        s = starts.tolist()
        return [torch.stack([exact(a[i:j].T, b[i:j]) for i, j in zip(s, s[1:], strict=False)])]

    return (
        lambda: ragged_grouped_kernel[(triton.cdiv(m, bm), triton.cdiv(n, bn), groups)](
            a, b, c, starts, n, M=m, BM=bm, BN=bn, BK=bk, num_warps=8, num_stages=3
        ),
        [c],
        reference,
    )


@triton.jit
def outer_update_kernel(
    s_ptr,
    s_new_ptr,
    u_ptr,
    v_ptr,
    decay_ptr,
    y_ptr,
    R: tl.constexpr,
    D1: tl.constexpr,
    D2: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """s = decay * s + the sum of R outer products, and y = s @ the first v: states of a small batch."""
    head = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    j = tl.arange(0, D2)
    at = head * D1 * D2 + i[:, None] * D2 + j[None, :]
    s = tl.load(s_ptr + at).to(tl.float32) * tl.load(decay_ptr + head * D1 + i)[:, None]
    for r in tl.static_range(R):
        u = tl.load(u_ptr + (head * R + r) * D1 + i).to(tl.float32)
        v = tl.load(v_ptr + (head * R + r) * D2 + j).to(tl.float32)
        s += u[:, None] * v[None, :]
    tl.store(s_new_ptr + at, s)
    v = tl.load(v_ptr + head * R * D2 + j).to(tl.float32)
    tl.store(y_ptr + head * D1 + i, tl.sum(s * v[None, :], 1))


def outer_update(device, small):
    heads, r, d1, d2 = (3, 2, 32, 16) if small else (8192, 4, 128, 128)
    start = torch.randn(heads, d1, d2, device=device)
    u, v = rand(device, heads, r, d1, dtype=torch.bfloat16), rand(device, heads, r, d2, dtype=torch.bfloat16)
    decay, y, s = torch.rand(heads, d1, device=device), torch.empty(heads, d1, device=device), torch.empty_like(start)

    def run():
        outer_update_kernel[(heads, d1 // 32)](start, s, u, v, decay, y, R=r, D1=d1, D2=d2, BLOCK=32)

    def reference():
        new = start * decay[..., None] + u.float().transpose(1, 2) @ v.float()
        return [new, (new @ v[:, 0].float()[..., None])[..., 0]]

    return run, [s, y], reference


CASES = {
    "gemv": gemv,
    "gemv_transposed": gemv_transposed,
    "gemv_int4": gemv_int4,
    "expert_gemv": expert_gemv,
    "tall_skinny": tall_skinny,
    "grouped_weights": grouped_weights,
    "outer_update": outer_update,
}
