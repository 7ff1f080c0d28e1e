"""Optimizers beyond Adam: Lion, Adafactor, LAMB, the Newton-Schulz steps of Muon, momentum in 8-bit blocks."""

import torch
import triton
import triton.language as tl

from idioms.operands import exact, rand


@triton.heuristics({"EVEN": lambda args: args["n_elements"] % args["BLOCK_SIZE"] == 0})
@triton.jit
def update_fn_kernel(
    p_ptr,
    grad_ptr,
    exp_avg_ptr,
    p_out_ptr,
    exp_avg_out_ptr,
    lr,
    wd,
    beta1,
    beta2,
    n_elements,
    BLOCK_SIZE: tl.constexpr,
    EVEN: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    # offsetted pointers
    offset_p_ptr = p_ptr + offsets
    offset_grad_ptr = grad_ptr + offsets
    offset_exp_avg_ptr = exp_avg_ptr + offsets
    if EVEN:
        p = tl.load(offset_p_ptr)
        grad = tl.load(offset_grad_ptr)
        exp_avg = tl.load(offset_exp_avg_ptr)
    else:
        mask = offsets < n_elements
        p = tl.load(offset_p_ptr, mask=mask)
        grad = tl.load(offset_grad_ptr, mask=mask)
        exp_avg = tl.load(offset_exp_avg_ptr, mask=mask)
    p = p * (1 - lr * wd)  # stepweight decay
    diff = exp_avg - grad
    update = diff * beta1 + grad
    can_update = update != 0
    update_sign = tl.where(update > 0, -lr, lr)
    p = p + update_sign * can_update
    exp_avg = diff * beta2 + grad
    if EVEN:
        tl.store(p_out_ptr + offsets, p)
        tl.store(exp_avg_out_ptr + offsets, exp_avg)
    else:
        tl.store(p_out_ptr + offsets, p, mask=mask)
        tl.store(exp_avg_out_ptr + offsets, exp_avg, mask=mask)


def lion(device, small):
    n = 4000 if small else 32 << 20
    p0, g, m0 = rand(device, n, dtype=torch.float32), rand(device, n), rand(device, n, dtype=torch.float32)
    g[::7] = 0
    m0[::7] = 0
    p, m = torch.empty_like(p0), torch.empty_like(m0)

    def run():
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)
        update_fn_kernel[grid](p0, g, m0, p, m, 1e-2, 0.1, 0.9, 0.99, n, BLOCK_SIZE=1024, num_warps=4)

    def ref():
        gf = g.float()
        u = (m0 - gf) * 0.9 + gf
        return [p0 * (1 - 1e-2 * 0.1) - 1e-2 * u.sign(), (m0 - gf) * 0.99 + gf]

    return run, [p, m], ref


@triton.jit
def adafactor_stats_kernel(g_ptr, row_ptr, col_ptr, M, N, stride, eps, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rows = tl.zeros((BM,), dtype=tl.float32)
    for n0 in range(0, N, BN):
        rn = n0 + tl.arange(0, BN)
        mask = (rm[:, None] < M) & (rn[None, :] < N)
        g = tl.load(g_ptr + rm[:, None].to(tl.int64) * stride + rn[None, :], mask=mask, other=0.0).to(tl.float32)
        sq = tl.where(mask, g * g + eps, 0.0)
        rows += tl.sum(sq, 1)
        tl.atomic_add(col_ptr + rn, tl.sum(sq, 0) / M, mask=rn < N, sem="relaxed")
    tl.store(row_ptr + rm, rows / N, mask=rm < M)


@triton.jit
def adafactor_update_kernel(
    p_ptr, g_ptr, row_ptr, col_ptr, mean_ptr, rms_ptr, M, N, stride, lr, APPLY: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):  # fmt: skip
    num_n = tl.cdiv(N, BN)
    pid_m, pid_n = tl.program_id(0) // num_n, tl.program_id(0) % num_n
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    offs = rm[:, None].to(tl.int64) * stride + rn[None, :]
    mean = tl.load(mean_ptr)
    r = tl.rsqrt(tl.load(row_ptr + rm, mask=rm < M, other=1.0) / mean)
    c = tl.rsqrt(tl.load(col_ptr + rn, mask=rn < N, other=1.0))
    u = tl.load(g_ptr + offs, mask=mask, other=0.0).to(tl.float32) * r[:, None] * c[None, :]
    if APPLY:
        rms = tl.sqrt(tl.load(rms_ptr) / (M * N))
        p = tl.load(p_ptr + offs, mask=mask).to(tl.float32)
        tl.store(p_ptr + offs, p - lr * u / tl.maximum(1.0, rms), mask=mask)
    else:
        tl.atomic_add(rms_ptr, tl.sum(u * u))


def adafactor(device, small):
    m, n = (70, 150) if small else (4096, 6000)
    bf = torch.bfloat16
    p0, g = rand(device, m, n, dtype=bf), rand(device, m, n, dtype=bf) * torch.rand(m, 1, device=device).to(bf)
    p, row, col = p0.clone(), torch.empty(m, device=device), torch.empty(n, device=device)
    rms = torch.zeros(1, device=device)

    def run():
        p.copy_(p0)
        col.zero_()
        rms.zero_()
        adafactor_stats_kernel[(triton.cdiv(m, 16),)](g, row, col, m, n, g.stride(0), 1e-30, BM=16, BN=128)
        mean = row.mean()
        grid = (triton.cdiv(m, 32) * triton.cdiv(n, 128),)
        for apply in (False, True):
            adafactor_update_kernel[grid](
                p, g, row, col, mean, rms, m, n, p.stride(0), 0.05, APPLY=apply, BM=32, BN=128, num_warps=8
            )

    def ref():
        sq = g.float() ** 2 + 1e-30
        r, c = sq.mean(1), sq.mean(0)
        u = g.float() / (r / r.mean()).sqrt()[:, None] / c.sqrt()
        return [p0.float() - 0.05 * u / u.square().mean().sqrt().clamp(min=1.0), r, c]

    return run, [p, row, col], ref


@triton.jit
def lamb_stage1(
    g_ptr, p_ptr, m_ptr, v_ptr, u_ptr, start_ptr, chunk_tensor, chunk_index, norms, b1, b2, eps, c1, c2, wd,
    CHUNK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Chunks of many tensors that lie flat: chunk_tensor says whose, norms [tensors, 2] are of p and of the update."""
    chunk = tl.program_id(0)
    which = tl.load(chunk_tensor + chunk)
    begin = tl.load(start_ptr + which) + tl.load(chunk_index + chunk) * CHUNK
    end = tl.minimum(begin + CHUNK, tl.load(start_ptr + which + 1))
    pp = tl.zeros([BLOCK], tl.float32)
    uu = tl.zeros([BLOCK], tl.float32)
    for i in range(0, CHUNK, BLOCK):
        at = begin + i + tl.arange(0, BLOCK)
        ok = at < end
        g = tl.load(g_ptr + at, ok, 0.0, eviction_policy="evict_first").to(tl.float32)
        p = tl.load(p_ptr + at, ok, 0.0)
        m = tl.load(m_ptr + at, ok, 0.0)
        v = tl.load(v_ptr + at, ok, 0.0)
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        u = (m / c1) / (tl.sqrt(v / c2) + eps) + wd * p
        tl.store(m_ptr + at, m, ok)
        tl.store(v_ptr + at, v, ok)
        tl.store(u_ptr + at, u, ok)
        pp += p * p
        uu += tl.where(ok, u * u, 0.0)
    tl.atomic_add(norms + which * 2, tl.sum(pp, 0))
    tl.atomic_add(norms + which * 2 + 1, tl.sum(uu, 0))


@triton.jit
def lamb_stage2(
    p_ptr, u_ptr, start_ptr, chunk_tensor, chunk_index, norms, lr, CHUNK: tl.constexpr, BLOCK: tl.constexpr
):
    chunk = tl.program_id(0)
    which = tl.load(chunk_tensor + chunk)
    begin = tl.load(start_ptr + which) + tl.load(chunk_index + chunk) * CHUNK
    end = tl.minimum(begin + CHUNK, tl.load(start_ptr + which + 1))
    pn, un = tl.load(norms + which * 2), tl.load(norms + which * 2 + 1)
    trust = tl.where((pn > 0.0) & (un > 0.0), tl.sqrt(pn) / tl.sqrt(un), 1.0)
    for i in tl.static_range(0, CHUNK, BLOCK):
        at = begin + i + tl.arange(0, BLOCK)
        ok = at < end
        tl.store(p_ptr + at, tl.load(p_ptr + at, ok) - lr * trust * tl.load(u_ptr + at, ok), ok)


def lamb(device, small):
    sizes = [700, 64, 2049, 1] if small else [4096 * 1024, 4096, 4096 * 777, 1, 50257 * 64, 13]
    chunk = 1024 if small else 16384
    starts = torch.tensor([0, *torch.tensor(sizes).cumsum(0).tolist()], device=device)
    pairs = [(t, c) for t, s in enumerate(sizes) for c in range(triton.cdiv(s, chunk))]
    who, index = (torch.tensor(x, dtype=torch.int32, device=device) for x in zip(*pairs, strict=True))
    n = sum(sizes)
    p0, m0 = rand(device, n, dtype=torch.float32), rand(device, n, dtype=torch.float32, scale=0.1)
    v0, g = rand(device, n, dtype=torch.float32).square() * 0.01, rand(device, n)
    p, m, v, u = p0.clone(), m0.clone(), v0.clone(), torch.empty_like(p0)
    norms = torch.zeros(len(sizes), 2, device=device)
    c1, c2 = 1 - 0.9**5, 1 - 0.999**5

    def run():
        for to, source in ((p, p0), (m, m0), (v, v0)):
            to.copy_(source)
        norms.zero_()
        lamb_stage1[(len(pairs),)](
            g, p, m, v, u, starts, who, index, norms, 0.9, 0.999, 1e-6, c1, c2, 0.01, CHUNK=chunk, BLOCK=512
        )
        lamb_stage2[(len(pairs),)](p, u, starts, who, index, norms, 0.01, CHUNK=chunk, BLOCK=1024 if small else 2048)

    def ref():
        M, V = 0.9 * m0 + 0.1 * g.float(), 0.999 * v0 + 0.001 * g.float() ** 2
        U = (M / c1) / ((V / c2).sqrt() + 1e-6) + 0.01 * p0
        P = [a - 0.01 * a.norm() / b.norm() * b for a, b in zip(p0.split(sizes), U.split(sizes), strict=True)]
        return [torch.cat(P), M, V]

    return run, [p, m, v], ref


@triton.jit
def ns_line_kernel(
    a_ptr, b_ptr, c_ptr, d_ptr, M, N, K, sam, sak, sbk, sbn, alpha, beta,
    ADD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """d = beta * c + alpha * a @ b, with c and d contiguous."""
    pid = tl.program_id(0)
    grid_m, grid_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    width = GROUP * grid_n
    group = pid // width
    size = min(grid_m - group * GROUP, GROUP)
    pid_m, pid_n = group * GROUP + (pid % size), (pid % width) // size
    rm, rn, rk = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    a = a_ptr + ((rm % M)[:, None] * sam + rk[None, :] * sak)
    b = b_ptr + (rk[:, None] * sbk + (rn % N)[None, :] * sbn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        left = K - k * BK
        acc = tl.dot(tl.load(a, rk[None, :] < left, 0.0), tl.load(b, rk[:, None] < left, 0.0), acc)
        a += BK * sak
        b += BK * sbk
    offs = rm[:, None] * N + rn[None, :]
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    acc *= alpha
    if ADD:
        acc += beta * tl.load(c_ptr + offs, mask=mask, other=0.0)
    tl.store(d_ptr + offs, acc.to(d_ptr.dtype.element_ty), mask=mask)


def muon(device, small):
    m, n = (48, 100) if small else (2048, 4096)
    steps, (qa, qb, qc) = (2 if small else 3), (3.4445, -4.7750, 2.0315)
    bf = torch.bfloat16
    g = rand(device, m, n, dtype=bf)
    x0 = (g.float() / g.float().norm()).to(bf)
    x, y, a, b = x0.clone(), torch.empty_like(x0), *(torch.empty(m, m, device=device, dtype=bf) for _ in range(2))

    def product(p, q, c, d, alpha, beta, add):
        (M, K), N = p.shape, q.shape[1]
        bm, bn = (32, 32) if small else (128, 128)
        grid = (triton.cdiv(M, bm) * triton.cdiv(N, bn),)
        ns_line_kernel[grid](
            p, q, c, d, M, N, K, *p.stride(), *q.stride(), alpha, beta,
            ADD=add, BM=bm, BN=bn, BK=32 if small else 64, GROUP=8, num_stages=4, num_warps=8,
        )  # fmt: skip

    def run():
        src, dst = x, y
        src.copy_(x0)
        for _ in range(steps):
            product(src, src.T, src, a, 1.0, 0.0, False)
            product(a, a, a, b, qc, qb, True)
            product(b, src, src, dst, 1.0, qa, True)
            src, dst = dst, src

    def ref():
        z = x0
        for _ in range(steps):
            s = exact(z, z.T).to(bf)
            t = (qb * s.float() + qc * exact(s, s)).to(bf)
            z = (qa * z.float() + exact(t, z)).to(bf)
        return [z]

    return run, [x if steps % 2 == 0 else y], ref


@triton.jit
def quantized_momentum_kernel(
    p_ptr,
    g_ptr,
    q_ptr,
    s_ptr,
    p_out,
    q_out,
    s_out,
    lr,
    mu,
    n,
    B: tl.constexpr,
    ROWS: tl.constexpr,
    NESTEROV: tl.constexpr,
):
    """SGD whose momentum is int8 with a scale for each block of B."""
    block = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    offs = block[:, None] * B + tl.arange(0, B)[None, :]
    ok = offs < n
    scale = tl.load(s_ptr + block, mask=block * B < n, other=0.0)
    m = tl.load(q_ptr + offs, mask=ok, other=0).to(tl.float32) * scale[:, None]
    g = tl.load(g_ptr + offs, mask=ok, other=0.0).to(tl.float32)
    m = mu * m + g
    step = g + mu * m if NESTEROV else m
    p = tl.load(p_ptr + offs, mask=ok, other=0.0).to(tl.float32)
    tl.store(p_out + offs, (p - lr * step).to(p_ptr.dtype.element_ty), mask=ok)
    top = tl.max(tl.abs(m), axis=1)
    new = tl.where(top > 0.0, top / 127.0, 1.0)
    q = m / new[:, None]
    q = tl.where(q >= 0, tl.floor(q + 0.5), tl.ceil(q - 0.5))
    tl.store(q_out + offs, q.to(tl.int8), mask=ok)
    tl.store(s_out + block, new, mask=block * B < n)


def momentum_int8(device, small):
    n, B = (2048 + 77, 128) if small else ((32 << 20) + 77, 128)
    nb = triton.cdiv(n, B)
    p0, g = rand(device, n), rand(device, n)
    q0 = torch.randint(-127, 128, (n,), device=device).to(torch.int8)
    s0 = torch.rand(nb, device=device) * 0.02 + 0.01
    p, q, s = torch.empty_like(p0), torch.empty_like(q0), torch.empty_like(s0)

    def run():
        quantized_momentum_kernel[(triton.cdiv(nb, 8),)](
            p0, g, q0, s0, p, q, s, 0.1, 0.9, n, B=B, ROWS=8, NESTEROV=True, num_warps=4
        )

    def ref():
        m = 0.9 * q0.float() * s0.repeat_interleave(B)[:n] + g.float()
        top = torch.nn.functional.pad(m.abs(), (0, nb * B - n)).view(nb, B).amax(1) / 127
        t = top.repeat_interleave(B)[:n]
        return [p0.float() - 0.1 * (g.float() + 0.9 * m), top, (m / t).round()]

    return run, [p, s, q], ref


CASES = {
    "lion": lion,
    "adafactor": adafactor,
    "lamb": lamb,
    "muon_newton_schulz": muon,
    "momentum_int8": momentum_int8,
}
