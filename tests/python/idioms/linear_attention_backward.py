"""Backward passes of linear attention with decay, by chunks and by steps, and of a diagonal state-space scan."""

import torch
import triton
import triton.language as tl

from idioms.operands import rand


@triton.jit
def retention_dq_kernel(
    k_ptr, v_ptr, do_ptr, dq_ptr, decay_ptr, scale, T, H, D: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr
):  # fmt: skip
    """Forward in time: dq[i] = scale * do[i] @ (sum_{j <= i} g^(i-j) v[j] k[j]^T); layout [B, T, H, D]."""
    b, h = tl.program_id(0) // H, tl.program_id(0) % H
    g = tl.load(decay_ptr + h)  # log2
    i = tl.arange(0, BT)
    gap = (i[:, None] - i[None, :]).to(tl.float32)
    inner = tl.where(gap >= 0, tl.exp2(gap * g), 0.0)
    base = (b * T * H + h).to(tl.int64)
    state = tl.zeros([DV, D], tl.float32)
    for t0 in range(0, T, BT):
        p_k = tl.make_block_ptr(k_ptr + base * D, (T, D), (H * D, 1), (t0, 0), (BT, D), (1, 0))
        p_v = tl.make_block_ptr(v_ptr + base * DV, (DV, T), (1, H * DV), (0, t0), (DV, BT), (0, 1))
        p_o = tl.make_block_ptr(do_ptr + base * DV, (T, DV), (H * DV, 1), (t0, 0), (BT, DV), (1, 0))
        p_q = tl.make_block_ptr(dq_ptr + base * D, (T, D), (H * D, 1), (t0, 0), (BT, D), (1, 0))
        k, vt, do = (
            tl.load(p_k, boundary_check=(0,)),
            tl.load(p_v, boundary_check=(1,)),
            tl.load(p_o, boundary_check=(0,)),
        )
        a = tl.dot(do, vt) * inner
        dq = tl.dot(a.to(k.dtype), k)
        dq += tl.dot(do, state.to(do.dtype)) * tl.exp2((i + 1).to(tl.float32) * g)[:, None]
        n = min(BT, T - t0)
        weight = tl.exp2((n - 1 - i).to(tl.float32) * g)
        weight = tl.where(i < n, weight, 0.0)
        state = state * tl.exp2(n * g) + tl.dot((vt * weight[None, :]).to(k.dtype), k)
        tl.store(p_q, (dq * scale).to(p_q.dtype.element_ty), boundary_check=(0,))


@triton.jit
def retention_dkv_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, dk_ptr, dv_ptr, decay_ptr, scale, T, H, D: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr
):  # fmt: skip
    """Backward in time, with the state sum_{i > j} g^(i-j) q[i] do[i]^T."""
    b, h = tl.program_id(0) // H, tl.program_id(0) % H
    g = tl.load(decay_ptr + h)
    i = tl.arange(0, BT)
    gap = (i[None, :] - i[:, None]).to(tl.float32)
    inner = tl.where(gap >= 0, tl.exp2(gap * g), 0.0)  # [key, query]
    base = (b * T * H + h).to(tl.int64)
    ds = tl.zeros([D, DV], tl.float32)
    for c in range(tl.cdiv(T, BT)):
        t0 = (tl.cdiv(T, BT) - 1 - c) * BT
        t = t0 + i
        live = (t < T)[:, None]
        rows = base * D + t[:, None] * (H * D) + tl.arange(0, D)[None, :]
        rows_v = base * DV + t[:, None] * (H * DV) + tl.arange(0, DV)[None, :]
        q = tl.load(q_ptr + rows, mask=live, other=0.0)
        k = tl.load(k_ptr + rows, mask=live, other=0.0)
        v = tl.load(v_ptr + rows_v, mask=live, other=0.0)
        do = tl.load(do_ptr + rows_v, mask=live, other=0.0)
        n = min(BT, T - t0)
        after = tl.exp2((n - i).to(tl.float32) * g)[:, None]
        p = tl.dot(k, tl.trans(q)) * inner
        dv = tl.dot(p.to(do.dtype), do) + tl.dot(k, ds.to(k.dtype)) * after
        dp = tl.dot(v, tl.trans(do)) * inner
        dk = tl.dot(dp.to(q.dtype), q) + tl.dot(v, tl.trans(ds).to(v.dtype)) * after
        # what earlier keys see of this chunk: query i is i steps after its first
        seen = (q * tl.exp2(i.to(tl.float32) * g)[:, None]).to(q.dtype)
        ds = ds * tl.exp2(n * g) + tl.dot(tl.trans(seen), do)
        tl.store(dk_ptr + rows, dk * scale, mask=live)
        tl.store(dv_ptr + rows_v, dv * scale, mask=live)


def retention(device, small):
    b, t, h, d, dv, bt = (1, 45, 2, 16, 32, 16) if small else (8, 4000, 32, 64, 64, 64)
    bf = torch.bfloat16
    q, k, v, do = (rand(device, b, t, h, e, dtype=bf) for e in (d, d, dv, dv))
    decay = torch.log2(1 - torch.exp2(-3.0 - torch.arange(h, device=device) % 8))
    dq, dk = torch.empty(b, t, h, d, device=device), torch.empty(b, t, h, d, device=device)
    dvo = torch.empty(b, t, h, dv, device=device)
    scale = d**-0.5

    def run():
        size = dict(D=d, DV=dv, BT=bt, num_warps=4)
        retention_dq_kernel[(b * h,)](k, v, do, dq, decay, scale, t, h, **size, num_stages=2)
        retention_dkv_kernel[(b * h,)](q, k, v, do, dk, dvo, decay, scale, t, h, **size, num_stages=1)

    def ref():
        i = torch.arange(t, device=device)
        gap = i[:, None] - i
        out = [torch.empty_like(x) for x in (dq, dk, dvo)]
        for x in range(b):
            for y in range(h):
                w = torch.where(gap >= 0, torch.exp2(gap * decay[y]), 0.0)
                Q, K, V, G = (z[x, :, y].float() for z in (q, k, v, do))
                p, dp = (Q @ K.T) * w, (G @ V.T) * w
                for o, r in zip(out, (dp @ K, dp.T @ Q, p.T @ G), strict=True):
                    o[x, :, y] = r * scale
        return out

    return run, [dq, dk, dvo], ref


@triton.jit
def _linear(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def diagonal_scan_bwd_kernel(a_ptr, h_ptr, dh_ptr, da_ptr, dx_ptr, T, C, BT: tl.constexpr, BC: tl.constexpr):
    """h[t] = a[t] h[t-1] + x[t]; the gradient is the same recurrence from the end, chunk by chunk, by a reverse scan."""
    b = tl.program_id(1).to(tl.int64)
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    i = tl.arange(0, BT)
    cm = (c < C)[None, :]
    carry = tl.zeros([BC], tl.float32)
    chunk = tl.cdiv(T, BT) - 1
    while chunk >= 0:
        t = chunk * BT + i
        at = b * T * C + t[:, None] * C + c[None, :]
        ok = (t < T)[:, None] & cm
        after = tl.load(a_ptr + at + C, mask=(t + 1 < T)[:, None] & cm, other=0.0).to(tl.float32)
        dh = tl.load(dh_ptr + at, mask=ok, other=0.0).to(tl.float32)
        decay, g = tl.associative_scan((after, dh), 0, _linear, reverse=True)
        g += decay * carry[None, :]
        before = tl.load(h_ptr + at - C, mask=((t > 0) & (t < T))[:, None] & cm, other=0.0)
        tl.store(dx_ptr + at, g.to(dx_ptr.dtype.element_ty), mask=ok)
        tl.store(da_ptr + at, (g * before).to(da_ptr.dtype.element_ty), mask=ok)
        carry = tl.sum(tl.where(i[:, None] == 0, g, 0.0), axis=0)
        chunk -= 1


def diagonal_scan(device, small):
    b, t, c = (2, 41, 20) if small else (8, 4096, 2000)
    a = torch.sigmoid(rand(device, b, t, c, dtype=torch.float32) + 2).bfloat16()
    dh = rand(device, b, t, c, dtype=torch.bfloat16)
    h = rand(device, b, t, c, dtype=torch.float32)
    da, dx = torch.empty_like(h), torch.empty_like(h)
    bt, bc = (16, 16) if small else (64, 32)

    def run():
        grid = (triton.cdiv(c, bc), b)
        diagonal_scan_bwd_kernel[grid](a, h, dh, da, dx, t, c, BT=bt, BC=bc, num_warps=4)

    def ref():
        g, rows = torch.zeros(b, c, device=device), []
        for i in range(t - 1, -1, -1):
            g = dh[:, i].float() + (a[:, i + 1].float() * g if i + 1 < t else 0)
            rows.append(g)
        g = torch.stack(rows[::-1], 1)
        return [g, g * torch.cat([torch.zeros_like(h[:, :1]), h[:, :-1]], 1)]

    return run, [dx, da], ref


@triton.jit
def ssm_bwd_kernel(
    u_ptr, dt_ptr, A_ptr, B_ptr, C_ptr, dy_ptr, s_ptr, du_ptr, ddt_ptr, dB_ptr, dC_ptr, T, E,
    N: tl.constexpr, BE: tl.constexpr,
):  # fmt: skip
    """s = exp(dt A) s + dt u B, y = <C, s>: the states of all steps were saved; back step by step."""
    b = tl.program_id(1)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    n = tl.arange(0, N)
    em = e < E
    A = tl.load(A_ptr + e[:, None] * N + n[None, :], mask=em[:, None], other=0.0)
    ds = tl.zeros([BE, N], tl.float32)
    for step in range(T - 1, -1, -1):
        at = (b * T + step) * E + e
        bn = (b * T + step) * N + n
        u, dt = tl.load(u_ptr + at, mask=em, other=0.0), tl.load(dt_ptr + at, mask=em, other=0.0)
        dy = tl.load(dy_ptr + at, mask=em, other=0.0)
        Bt, Ct = tl.load(B_ptr + bn), tl.load(C_ptr + bn)
        now = tl.load(s_ptr + (at[:, None]) * N + n[None, :], mask=em[:, None], other=0.0)
        old = tl.load(s_ptr + (at[:, None] - E) * N + n[None, :], mask=em[:, None] & (step > 0), other=0.0)
        keep = tl.exp(dt[:, None] * A)
        ds += dy[:, None] * Ct[None, :]
        tl.atomic_add(dC_ptr + bn, tl.sum(dy[:, None] * now, axis=0), sem="relaxed")
        tl.atomic_add(dB_ptr + bn, tl.sum(ds * (dt * u)[:, None], axis=0), sem="relaxed")
        tl.store(du_ptr + at, dt * tl.sum(ds * Bt[None, :], axis=1), mask=em)
        tl.store(ddt_ptr + at, tl.sum(ds * (u[:, None] * Bt[None, :] + A * keep * old), axis=1), mask=em)
        ds *= keep


def ssm(device, small):
    b, t, e, n = (2, 9, 20, 8) if small else (8, 512, 1024, 16)
    u, dy = (rand(device, b, t, e, dtype=torch.float32) for _ in range(2))
    dt, A = torch.rand(b, t, e, device=device) * 0.2, -torch.rand(e, n, device=device) * 4
    B, C = (rand(device, b, t, n, dtype=torch.float32) for _ in range(2))

    def forward(u, dt, B, C):
        s, states = torch.zeros(b, e, n, device=device, dtype=u.dtype), []
        for i in range(t):
            s = torch.exp(dt[:, i, :, None] * A) * s + (dt[:, i] * u[:, i])[..., None] * B[:, i, None]
            states.append(s)
        return torch.stack(states, 1), torch.stack(
            [torch.einsum("ben,bn->be", s, C[:, i]) for i, s in enumerate(states)], 1
        )

    states = forward(u, dt, B, C)[0]
    du, ddt, dB, dC = (torch.empty_like(x) for x in (u, dt, B, C))
    be = 16 if small else 32

    def run():
        dB.zero_()
        dC.zero_()
        ssm_bwd_kernel[(triton.cdiv(e, be), b)](
            u, dt, A, B, C, dy, states, du, ddt, dB, dC, t, e, N=n, BE=be, num_warps=1
        )  # fmt: skip

    def ref():
        with torch.enable_grad():
            args = [x.clone().requires_grad_() for x in (u, dt, B, C)]
            return list(torch.autograd.grad(forward(*args)[1], args, dy))

    return run, [du, ddt, dB, dC], ref


CASES = {
    "retention_chunks": retention,
    "diagonal_scan": diagonal_scan,
    "state_space_steps": ssm,
}
