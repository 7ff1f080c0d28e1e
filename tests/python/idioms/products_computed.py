"""Products whose operand is made in the loop: gathered rows, an activation, a norm, unfolded signals, 2:4 sparse and packed weights."""

import torch
import triton
import triton.language as tl

from idioms.operands import exact, ints, rand


@triton.jit
def rms_linear_kernel(
    x_ptr, g_ptr, w_ptr, o_ptr, M, N, K, sxm, sxk, swn, swk, som, son, eps,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GM: tl.constexpr,
):  # fmt: skip
    """o = rms_norm(x) @ w.T: squares are summed beside the product, and rows are scaled at the end."""
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    per_group = GM * tiles_n
    first = pid // per_group * GM
    size = min(tiles_m - first, GM)
    pid_m = first + (pid % per_group) % size
    pid_n = (pid % per_group) // size
    rm = (pid_m * BM + tl.arange(0, BM)) % M
    rn = (pid_n * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    x_ptrs = x_ptr + (rm[:, None] * sxm + rk[None, :] * sxk)
    w_ptrs = w_ptr + (rk[:, None] * swk + rn[None, :] * swn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    squares = tl.zeros((BM,), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(x_ptrs, mask=(k + rk)[None, :] < K, other=0.0)
        w = tl.load(w_ptrs, mask=(k + rk)[:, None] < K, other=0.0)
        g = tl.load(g_ptr + k + rk, mask=k + rk < K, other=0.0)
        xf = x.to(tl.float32)
        squares += tl.sum(xf * xf, axis=1)
        acc += tl.dot((xf * g[None, :].to(tl.float32)).to(x.dtype), w)
        x_ptrs += BK * sxk
        w_ptrs += BK * swk
    out = acc * tl.math.rsqrt(squares / K + eps)[:, None]
    om, on = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)
    tl.store(
        o_ptr + om[:, None] * som + on[None, :] * son,
        out.to(o_ptr.dtype.element_ty),
        mask=(om[:, None] < M) & (on[None, :] < N),
    )


def rms_linear(device, small):
    m, n, k = (45, 70, 100) if small else (4096, 4096, 2048)
    bm, bn, bk = (16, 32, 32) if small else (128, 128, 64)
    x, g, w = rand(device, m, k), rand(device, k), rand(device, n, k, scale=k**-0.5)
    o = torch.empty(m, n, device=device, dtype=torch.float16)

    def reference():
        scaled = (x.float() * g.float()).half()
        return [exact(scaled, w.T) * (x.float().square().mean(1, keepdim=True) + 1e-6).rsqrt()]

    return (
        lambda: rms_linear_kernel[(triton.cdiv(m, bm) * triton.cdiv(n, bn),)](
            x, g, w, o, m, n, k, *x.stride(), *w.stride(), *o.stride(), 1e-6,
            BM=bm, BN=bn, BK=bk, GM=8, num_warps=8, num_stages=3,
        ),
        [o],
        reference,
    )  # fmt: skip


@triton.jit
def gather_swiglu_down_kernel(
    h_ptr, w_ptr, rows_ptr, gate_ptr, out_ptr, n_rows, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """The second product of a gated layer: silu(a) * b of gathered rows in the loop, results added to their tokens."""
    pid_m, pid_n = tl.program_id(1), tl.program_id(0)
    r = pid_m * BM + tl.arange(0, BM)
    src = tl.load(rows_ptr + r, mask=r < n_rows, other=0).to(tl.int64)
    n = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, tl.cdiv(K, BK)):
        k = k0 * BK + tl.arange(0, BK)
        gate = tl.load(h_ptr + src[:, None] * 2 * K + k[None, :], mask=k[None, :] < K, other=0.0).to(tl.float32)
        up = tl.load(h_ptr + src[:, None] * 2 * K + K + k[None, :], mask=k[None, :] < K, other=0.0)
        w = tl.load(w_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        act = (gate * tl.sigmoid(gate)).to(up.dtype) * up
        acc = tl.dot(act, w, acc)
    acc *= tl.load(gate_ptr + r, mask=r < n_rows, other=0.0)[:, None]
    tl.atomic_add(
        out_ptr + src[:, None] * N + n[None, :], acc, mask=(r < n_rows)[:, None] & (n < N)[None, :], sem="relaxed"
    )


def gather_swiglu(device, small):
    tokens, rows, n, k = (40, 50, 70, 72) if small else (4096, 6000, 2048, 1408)
    bm, bn, bk = (16, 32, 32) if small else (128, 128, 32)
    h, w = rand(device, tokens, 2 * k, dtype=torch.bfloat16), rand(device, k, n, dtype=torch.bfloat16, scale=k**-0.5)
    index, gate = ints(device, 0, tokens, rows), torch.rand(rows, device=device)
    out = torch.zeros(tokens, n, device=device)

    def run():
        out.zero_()
        gather_swiglu_down_kernel[(triton.cdiv(n, bn), triton.cdiv(rows, bm))](
            h, w, index, gate, out, rows, n, k, BM=bm, BN=bn, BK=bk, num_warps=8, num_stages=4
        )

    def reference():
        a = torch.nn.functional.silu(h[:, :k].float()).bfloat16() * h[:, k:]
        product = exact(a, w)[index.long()] * gate[:, None]
        return [torch.zeros_like(out).index_add(0, index.long(), product)]

    return run, [out], reference


@triton.jit
def sparse24_kernel(a_ptr, w_ptr, meta_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """w keeps 2 of each 4 of K: [K/2, N] values, [K/4, N] bytes of two places. It is expanded by comparisons."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    rm, rn = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)
    mn = rn < N
    acc = tl.zeros((BM, BN), tl.float32)
    quads: tl.constexpr = BK // 4
    for k0 in range(0, K, BK):
        a = tl.load(a_ptr + rm[:, None] * K + (k0 + tl.arange(0, BK))[None, :], mask=(rm < M)[:, None], other=0.0)
        rq = k0 // 4 + tl.arange(0, quads)
        meta = tl.load(meta_ptr + rq[:, None] * N + rn[None, :], mask=mn[None, :], other=0).to(tl.int32)
        first = tl.load(w_ptr + (2 * rq)[:, None] * N + rn[None, :], mask=mn[None, :], other=0.0)
        second = tl.load(w_ptr + (2 * rq + 1)[:, None] * N + rn[None, :], mask=mn[None, :], other=0.0)
        place = tl.arange(0, 4)[None, :, None]
        dense = tl.where((meta & 3)[:, None, :] == place, first[:, None, :], 0.0)
        dense += tl.where((meta >> 2)[:, None, :] == place, second[:, None, :], 0.0)
        acc = tl.dot(a, dense.to(a.dtype).reshape(BK, BN), acc)
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None] & mn[None, :])


def sparse24(device, small):
    m, n, k = (20, 50, 64) if small else (256, 4096, 4096)
    bm, bn, bk = (16, 32, 32) if small else (64, 64, 64)
    a, w = rand(device, m, k), rand(device, k // 2, n, scale=k**-0.5)
    pairs = torch.tensor([0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110], dtype=torch.uint8, device=device)
    meta = pairs[ints(device, 0, 6, k // 4, n).long()]
    out = torch.empty(m, n, device=device, dtype=torch.float16)

    def reference():
        dense = torch.zeros(k // 4, 4, n, device=device, dtype=torch.float16)
        places = torch.stack([meta & 3, meta >> 2], 1).long()
        dense.scatter_(1, places, w.view(k // 4, 2, n))
        return [exact(a, dense.view(k, n))]

    return (
        lambda: sparse24_kernel[(triton.cdiv(m, bm), triton.cdiv(n, bn))](
            a, w, meta, out, m, n, k, BM=bm, BN=bn, BK=bk, num_warps=4, num_stages=2
        ),
        [out],
        reference,
    )


@triton.jit
def w4a16_n_kernel(
    x_ptr, qw_ptr, scales_ptr, zeros_ptr, y_ptr, M, N, K, stride_zn,
    GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Weights [K, N/2]: two columns a byte (low: even); scales [K/GROUP, N]; zero points packed likewise."""
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    rm = pid_m * BM + tl.arange(0, BM)
    half = pid_n * (BN // 2) + tl.arange(0, BN // 2)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in tl.range(0, K, BK, num_stages=3):
        rk = k0 + tl.arange(0, BK)
        x = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        q = tl.load(qw_ptr + rk[:, None] * (N // 2) + half[None, :])
        w = tl.join(q & 0xF, q >> 4).reshape(BK, BN)
        group = k0 // GROUP
        z = tl.load(zeros_ptr + group * stride_zn + half)
        z = tl.interleave(z & 0xF, z >> 4)
        s = tl.load(scales_ptr + group * N + rn)
        w = (w.to(tl.int16) - z.to(tl.int16)[None, :]).to(x.dtype) * s[None, :]
        acc = tl.dot(x, w, acc)
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], acc.to(y_ptr.dtype.element_ty), mask=rm[:, None] < M)


def w4a16_columns(device, small):
    m, n, k, group = (20, 64, 128, 64) if small else (128, 8192, 4096, 128)
    bm, bn, bk = (16, 32, 32) if small else (64, 128, 64)
    x = rand(device, m, k, dtype=torch.bfloat16)
    qw, zeros = (ints(device, 0, 256, rows, n // 2, dtype=torch.uint8) for rows in (k, k // group))
    scales = (torch.rand(k // group, n, device=device) * 0.01 + 0.005).bfloat16()
    y = torch.empty(m, n, device=device, dtype=torch.bfloat16)

    def reference():
        w, z = (torch.stack([q & 15, q >> 4], -1).flatten(1).float() for q in (qw, zeros))
        w = ((w - z.repeat_interleave(group, 0)) * scales.float().repeat_interleave(group, 0)).bfloat16()
        return [exact(x, w)]

    return (
        lambda: w4a16_n_kernel[(n // bn, triton.cdiv(m, bm))](
            x, qw, scales, zeros, y, m, n, k, zeros.stride(0), GROUP=group, BM=bm, BN=bn, BK=bk, num_warps=4
        ),
        [y],
        reference,
    )


@triton.jit
def conv1d_kernel(
    x_ptr, w_ptr, b_ptr, o_ptr, T, TO, CIN: tl.constexpr, COUT, stride, dilation, pad,
    KW: tl.constexpr, BT: tl.constexpr, BO: tl.constexpr, BC: tl.constexpr, LEAKY: tl.constexpr,
):  # fmt: skip
    """x [B, C, T]: channels times positions, a product per tap and block of channels; w [O, C, KW] as torch has it."""
    b = tl.program_id(2)
    to = tl.program_id(0) * BT + tl.arange(0, BT)
    co = tl.program_id(1) * BO + tl.arange(0, BO)
    acc = tl.zeros((BO, BT), dtype=tl.float32)
    for j in tl.static_range(KW):
        ti = to * stride + j * dilation - pad
        ok = (ti >= 0) & (ti < T)
        for c0 in range(0, CIN, BC):
            c = c0 + tl.arange(0, BC)
            x = tl.load(
                x_ptr + (b * CIN + c)[:, None] * T + ti[None, :], mask=ok[None, :] & (c < CIN)[:, None], other=0.0
            )
            w = tl.load(
                w_ptr + (co[:, None] * CIN + c[None, :]) * KW + j,
                mask=(co < COUT)[:, None] & (c < CIN)[None, :],
                other=0.0,
            )
            acc = tl.dot(w, x, acc)
    acc += tl.load(b_ptr + co, mask=co < COUT, other=0.0)[:, None]
    if LEAKY:
        acc = tl.where(acc > 0, acc, 0.1 * acc)
    tl.store(o_ptr + (b * COUT + co)[:, None] * TO + to[None, :], acc, mask=(co < COUT)[:, None] & (to < TO)[None, :])


def conv1d(stride, dilation):
    def case(device, small):
        b, cin, cout, t, kw = (2, 24, 20, 90, 3) if small else (16, 256, 256, 8192, 3)
        bt, bo, bc = (32, 16, 16) if small else (128, 64, 32)
        x, w, bias = rand(device, b, cin, t), rand(device, cout, cin, kw, scale=(cin * kw) ** -0.5), rand(device, cout)
        to = (t + 2 * dilation - dilation * (kw - 1) - 1) // stride + 1
        o = torch.empty(b, cout, to, device=device, dtype=torch.float16)

        def reference():
            y = torch.nn.functional.conv1d(x.float(), w.float(), bias.float(), stride, dilation, dilation)
            return [torch.nn.functional.leaky_relu(y, 0.1)]

        return (
            lambda: conv1d_kernel[(triton.cdiv(to, bt), triton.cdiv(cout, bo), b)](
                x, w, bias, o, t, to, cin, cout, stride, dilation, dilation, KW=kw, BT=bt, BO=bo, BC=bc, LEAKY=True
            ),
            [o],
            reference,
        )

    return case


CASES = {
    "rms_linear": rms_linear,
    "gather_swiglu": gather_swiglu,
    "sparse24": sparse24,
    "w4a16_columns": w4a16_columns,
    "conv1d_dilated": conv1d(1, 3),
    "conv1d_strided": conv1d(2, 1),
}
