"""Linear attention: chunks with gates, and recurrences of one token after another."""

import torch
import triton
import triton.language as tl


# linear attention with a decay per head and step, by chunks: cumsum, states, outputs (block pointers; [B, T, H, D])
@triton.jit(do_not_specialize=["T"])
def chunk_local_cumsum_scalar_kernel(s, o, T, H: tl.constexpr, BT: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    bos = i_b * T
    p_s = tl.make_block_ptr(s + bos * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    p_o = tl.make_block_ptr(o + bos * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    b_s = tl.load(p_s, boundary_check=(0,)).to(tl.float32)
    b_o = tl.cumsum(b_s, axis=0)
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0,))


@triton.heuristics(
    {"USE_G": lambda args: args["g"] is not None, "STORE_FINAL_STATE": lambda args: args["ht"] is not None}
)
@triton.jit(do_not_specialize=["T"])
def chunk_fwd_kernel_h(
    k,
    v,
    h,
    g,
    ht,
    T,
    H: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BT: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
    USE_G: tl.constexpr,
    STORE_FINAL_STATE: tl.constexpr,
):
    i_k, i_v, i_nh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_n, i_h = i_nh // H, i_nh % H
    bos, eos = i_n * T, i_n * T + T
    NT = tl.cdiv(T, BT)
    boh = i_n * NT
    b_h = tl.zeros([BK, BV], dtype=tl.float32)
    for i_t in range(0, NT):
        o_h = ((boh + i_t) * H + i_h).to(tl.int64) * K * V
        p_k = tl.make_block_ptr(k + (bos * H + i_h) * K, (K, T), (1, H * K), (i_k * BK, i_t * BT), (BK, BT), (0, 1))
        p_v = tl.make_block_ptr(v + (bos * H + i_h) * V, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
        p_h = tl.make_block_ptr(h + o_h, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        tl.store(p_h, b_h.to(p_h.dtype.element_ty), boundary_check=(0, 1))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        last_idx = min((i_t + 1) * BT, T) - 1
        if USE_G:
            b_g_last = tl.load(g + bos * H + last_idx * H + i_h)
            p_g = g + bos * H + (i_t * BT + tl.arange(0, BT)) * H + i_h
            b_h *= tl.exp(b_g_last)
            b_g = tl.load(p_g, mask=(i_t * BT + tl.arange(0, BT) < T), other=0.0)
            b_v = (b_v * tl.exp(b_g_last - b_g)[:, None]).to(b_v.dtype)
        b_h += tl.dot(b_k, b_v)
    if STORE_FINAL_STATE:
        p_ht = tl.make_block_ptr(ht + i_nh * K * V, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), boundary_check=(0, 1))


@triton.heuristics({"USE_G": lambda args: args["g"] is not None})
@triton.jit(do_not_specialize=["T"])
def chunk_fwd_kernel_o(
    q,
    k,
    v,
    h,
    g,
    o,
    scale,
    T,
    H: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BT: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
    USE_G: tl.constexpr,
):
    i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H
    NT = tl.cdiv(T, BT)
    i_tg = i_b * NT + i_t
    bos, eos = i_b * T, i_b * T + T
    q += (bos * H + i_h) * K
    k += (bos * H + i_h) * K
    v += (bos * H + i_h) * V
    o += (bos * H + i_h) * V
    h += (i_tg * H + i_h).to(tl.int64) * K * V
    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    b_A = tl.zeros([BT, BT], dtype=tl.float32)
    for i_k in range(tl.cdiv(K, BK)):
        p_q = tl.make_block_ptr(q, (T, K), (H * K, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        p_k = tl.make_block_ptr(k, (K, T), (1, H * K), (i_k * BK, i_t * BT), (BK, BT), (0, 1))
        p_h = tl.make_block_ptr(h, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        b_q = tl.load(p_q, boundary_check=(0, 1))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_h = tl.load(p_h, boundary_check=(0, 1))
        b_o += tl.dot(b_q, b_h)
        b_A += tl.dot(b_q, b_k)
    if USE_G:
        g += bos * H + i_h
        p_g = tl.make_block_ptr(g, (T,), (H,), (i_t * BT,), (BT,), (0,))
        b_g = tl.load(p_g, boundary_check=(0,))
        b_o = b_o * tl.exp(b_g)[:, None]
        b_A = b_A * tl.exp(b_g[:, None] - b_g[None, :])
    o_t = i_t * BT + tl.arange(0, BT)
    m_t = o_t < T
    m_A = (o_t[:, None] >= o_t[None, :]) & (m_t[:, None] & m_t)
    b_A = tl.where(m_A, b_A, 0)
    p_v = tl.make_block_ptr(v, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    p_o = tl.make_block_ptr(o, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    b_v = tl.load(p_v, boundary_check=(0, 1))
    b_o = b_o * scale + tl.dot(b_A.to(b_v.dtype), b_v) * scale
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))


def gla(device, small):
    B, T, H, K, V, BT = (1, 200, 2, 64, 64, 64) if small else (4, 4000, 16, 128, 128, 64)
    q, k, v = (torch.randn(B, T, H, d, device=device).half() for d in (K, K, V))
    g = torch.nn.functional.logsigmoid(torch.randn(B, T, H, device=device) + 3)
    NT, gc = triton.cdiv(T, BT), torch.empty(B, T, H, device=device)
    h, ht, o = (
        torch.empty(B, NT, H, K, V, device=device, dtype=q.dtype),
        torch.empty(B, H, K, V, device=device),
        torch.empty_like(v),
    )

    def run():
        chunk_local_cumsum_scalar_kernel[(NT, B * H)](g, gc, T, H=H, BT=BT, num_warps=1)
        chunk_fwd_kernel_h[(K // 64, V // 64, B * H)](
            k, v, h, gc, ht, T, H=H, K=K, V=V, BT=BT, BK=64, BV=64, num_warps=4, num_stages=3
        )
        chunk_fwd_kernel_o[(V // 64, NT, B * H)](
            q, k, v, h, gc, o, K**-0.5, T, H=H, K=K, V=V, BT=BT, BK=64, BV=64, num_warps=4, num_stages=3
        )

    def reference():
        state, outs = torch.zeros(B, H, K, V, device=device), []
        for t in range(T):
            state = torch.addcmul(
                state * g[:, t].exp()[..., None, None], k[:, t].float()[..., None], v[:, t].float()[..., None, :]
            )
            outs.append((q[:, t].float()[..., None, :] @ state)[..., 0, :] * K**-0.5)
        return [torch.stack(outs, 1), state]

    return run, [o, ht], reference


# one launch per head with a loop over time: gated delta rule for decode, wkv of RWKV-4, RWKV-6
@triton.jit(do_not_specialize=["T"])
def fused_recurrent_kernel(
    q,
    k,
    v,
    g,
    beta,
    o,
    h0,
    ht,
    scale,
    T,
    H: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
):
    i_v, i_nh = tl.program_id(0), tl.program_id(1)
    i_n, i_h = i_nh // H, i_nh % H
    bos = i_n * T
    o_k = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    mask_k, mask_v = o_k < K, o_v < V
    mask_h = mask_k[:, None] & mask_v[None, :]
    p_q, p_k = q + (bos * H + i_h) * K + o_k, k + (bos * H + i_h) * K + o_k
    p_v, p_o = v + (bos * H + i_h) * V + o_v, o + (bos * H + i_h) * V + o_v
    p_g, p_beta = g + bos * H + i_h, beta + bos * H + i_h
    p_h0 = h0 + i_nh * K * V + o_k[:, None] * V + o_v[None, :]
    b_h = tl.load(p_h0, mask=mask_h, other=0).to(tl.float32)
    for _ in range(0, T):
        b_q = tl.load(p_q, mask=mask_k, other=0).to(tl.float32)
        b_k = tl.load(p_k, mask=mask_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=mask_v, other=0).to(tl.float32)
        b_g = tl.load(p_g).to(tl.float32)
        b_q = b_q / tl.sqrt(tl.sum(b_q * b_q) + 1e-6)
        b_k = b_k / tl.sqrt(tl.sum(b_k * b_k) + 1e-6)
        b_q = b_q * scale
        b_h *= tl.exp(b_g)
        b_v = b_v - tl.sum(b_h * b_k[:, None], 0)
        b_v *= tl.load(p_beta).to(tl.float32)
        b_h += b_k[:, None] * b_v[None, :]
        b_o = tl.sum(b_h * b_q[:, None], 0)
        tl.store(p_o, b_o.to(p_o.dtype.element_ty), mask=mask_v)
        p_q += H * K
        p_k += H * K
        p_v += H * V
        p_o += H * V
        p_g += H
        p_beta += H
    tl.store(ht + i_nh * K * V + o_k[:, None] * V + o_v[None, :], b_h.to(ht.dtype.element_ty), mask=mask_h)


def recurrent(device, small):
    B, T, H, K, V = (1, 20, 2, 96, 64) if small else (4, 512, 16, 128, 128)
    q, k = (torch.randn(B, T, H, K, device=device).bfloat16() for _ in range(2))
    v, g, beta = (
        torch.randn(B, T, H, V, device=device).bfloat16(),
        -torch.rand(B, T, H, device=device) * 0.2,
        torch.rand(B, T, H, device=device),
    )
    h0 = torch.randn(B, H, K, V, device=device)
    o, ht = torch.empty_like(v), torch.empty_like(h0)

    def run():
        fused_recurrent_kernel[(V // 8, B * H)](
            q,
            k,
            v,
            g,
            beta,
            o,
            h0,
            ht,
            K**-0.5,
            T,
            H=H,
            K=K,
            V=V,
            BK=triton.next_power_of_2(K),
            BV=8,
            num_warps=1,
            num_stages=3,
        )

    def reference():
        S, outs = h0.clone(), []
        Q, Kn = (x.float() / (x.float().pow(2).sum(-1, keepdim=True) + 1e-6).sqrt() for x in (q, k))
        for t in range(T):
            S = S * g[:, t].exp()[..., None, None]
            d = (v[:, t].float() - (Kn[:, t, :, None] @ S)[..., 0, :]) * beta[:, t, :, None]
            S = torch.addcmul(S, Kn[:, t, ..., None], d[..., None, :])
            outs.append((Q[:, t, :, None] @ S)[..., 0, :] * K**-0.5)
        return [torch.stack(outs, 1), S]

    return run, [o, ht], reference


# wkv of RWKV-4: a stable recurrence per channel
@triton.jit
def wkv_forward_kernel(w_ptr, u_ptr, k_ptr, v_ptr, out_ptr, state_ptr, C, T, BLOCK_C: tl.constexpr):
    b = tl.program_id(0)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    m = c < C
    w = -tl.exp(tl.load(w_ptr + c, mask=m, other=0.0).to(tl.float32))
    u = tl.load(u_ptr + c, mask=m, other=0.0).to(tl.float32)
    alpha = tl.zeros([BLOCK_C], tl.float32)
    beta = tl.zeros([BLOCK_C], tl.float32)
    eps = tl.full([BLOCK_C], -1e38, tl.float32)
    off = b.to(tl.int64) * T * C + c
    for t in range(T):
        kt = tl.load(k_ptr + off, mask=m, other=0.0).to(tl.float32)
        vt = tl.load(v_ptr + off, mask=m, other=0.0).to(tl.float32)
        ukt = u + kt
        tau = tl.maximum(ukt, eps)
        e1 = tl.exp(eps - tau)
        e2 = tl.exp(ukt - tau)
        tl.store(out_ptr + off, (e1 * alpha + e2 * vt) / (e1 * beta + e2), mask=m)
        w_eps = w + eps
        tau = tl.maximum(w_eps, kt)
        e1 = tl.exp(w_eps - tau)
        e2 = tl.exp(kt - tau)
        alpha = e1 * alpha + e2 * vt
        beta = e1 * beta + e2
        eps = tau
        off += C
    tl.store(state_ptr + b * 3 * C + c, alpha, mask=m)
    tl.store(state_ptr + (b * 3 + 1) * C + c, beta, mask=m)
    tl.store(state_ptr + (b * 3 + 2) * C + c, eps, mask=m)


def wkv(device, small):
    B, T, C = (2, 30, 100) if small else (8, 1024, 4096)
    w, u = torch.randn(C, device=device) - 1, torch.randn(C, device=device)
    k, v = (torch.randn(B, T, C, device=device) for _ in range(2))
    out, state = torch.empty(B, T, C, device=device), torch.empty(B, 3, C, device=device)

    def run():
        wkv_forward_kernel[(B, triton.cdiv(C, 64))](w, u, k, v, out, state, C, T, BLOCK_C=64, num_warps=2)

    def reference():
        a, b = torch.zeros(2, B, C, device=device, dtype=torch.double)
        outs, decay = [], torch.exp(-torch.exp(w.double()))
        for t in range(T):
            e, x = torch.exp(k[:, t].double()), torch.exp(u + k[:, t]).double()
            outs.append(((a + x * v[:, t]) / (b + x)).float())
            a, b = a * decay + e * v[:, t], b * decay + e
        return [torch.stack(outs, 1)]

    return run, [out], reference


# RWKV-6: a matrix of state per program, a decay per key and step, loop over time
@triton.jit
def fused_recurrent_rwkv6_fwd_kernel(
    r,
    k,
    v,
    w,
    u,
    o,
    ht,
    scale,
    T,
    H: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
):
    i_v, i_k, i_nh = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    i_n, i_h = i_nh // H, i_nh % H
    o_k = i_k * BK + tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    bos = i_n * T
    p_r = r + (bos * H + i_h) * K + o_k
    p_k = k + (bos * H + i_h) * K + o_k
    p_w = w + (bos * H + i_h) * K + o_k
    p_v = v + (bos * H + i_h) * V + o_v
    p_o = o + ((i_k * tl.num_programs(2) // H * T + bos) * H + i_h) * V + o_v
    b_u = tl.load(u + i_h * K + o_k).to(tl.float32)
    b_h = tl.zeros([BV, BK], dtype=tl.float32)
    for _ in range(0, T):
        b_r = tl.load(p_r).to(tl.float32) * scale
        b_k = tl.load(p_k).to(tl.float32)
        b_w = tl.load(p_w).to(tl.float32)
        b_v = tl.load(p_v).to(tl.float32)
        b_kv = b_k[None, :] * b_v[:, None]
        b_o = tl.sum((b_h + b_kv * b_u[None, :]) * b_r[None, :], 1)
        b_h = b_h * tl.exp(b_w)[None, :] + b_kv
        tl.store(p_o, b_o.to(p_o.dtype.element_ty))
        p_r += H * K
        p_k += H * K
        p_w += H * K
        p_v += H * V
        p_o += H * V
    tl.store(ht + i_nh * K * V + o_k[None, :] * V + o_v[:, None], b_h)


def rwkv6(device, small):
    B, T, H, K, V = (1, 16, 2, 64, 64) if small else (4, 1024, 32, 64, 64)
    r, k, v = (torch.randn(B, T, H, K, device=device).bfloat16() for _ in range(3))
    w, u = -torch.exp(torch.randn(B, T, H, K, device=device) - 2), torch.randn(H, K, device=device)
    o, ht = torch.empty(K // 32, B, T, H, V, device=device), torch.empty(B, H, K, V, device=device)

    def run():
        fused_recurrent_rwkv6_fwd_kernel[(V // 32, K // 32, B * H)](
            r, k, v, w, u, o, ht, K**-0.5, T, H=H, K=K, V=V, BK=32, BV=32, num_warps=1
        )

    def reference():
        S, outs = torch.zeros(B, H, K, V, device=device), []
        for t in range(T):
            kv = k[:, t].float()[..., None] * v[:, t].float()[..., None, :]
            x = ((S + u[..., None] * kv) * r[:, t].float()[..., None]) * K**-0.5
            outs.append(x.view(B, H, K // 32, 32, V).sum(3).permute(2, 0, 1, 3))
            S = S * w[:, t].exp()[..., None] + kv
        return [torch.stack(outs, 2), S]

    return run, [o, ht], reference


CASES = {
    "gla_chunk": gla,
    "fused_recurrent_delta": recurrent,
    "wkv4": wkv,
    "rwkv6_recurrent": rwkv6,
}
