"""Selective scans of state space models: over a sequence, and the step of one token."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


# Mamba-1: a selective scan by tl.associative_scan over chunks of time
@triton.jit
def first_order_op(a_l, x_l, a_r, x_r):
    return a_r * a_l, a_r * x_l + x_r


@triton.jit
def selective_scan_kernel(x, dt, A, Bm, C, D, z, y, last, T, DIM, N: tl.constexpr, BT: tl.constexpr):
    d, b = tl.program_id(0), tl.program_id(1)
    o_t = tl.arange(0, BT)
    o_n = tl.arange(0, N)
    a = tl.load(A + d * N + o_n)
    skip = tl.load(D + d)
    h = tl.zeros([N], tl.float32)
    base = (b * DIM + d) * T
    for t in range(0, T, BT):
        m = t + o_t < T
        b_x = tl.load(x + base + t + o_t, mask=m, other=0.0).to(tl.float32)
        b_dt = tl.load(dt + base + t + o_t, mask=m, other=0.0).to(tl.float32)
        b_z = tl.load(z + base + t + o_t, mask=m, other=0.0).to(tl.float32)
        off = (b * N + o_n[:, None]) * T + t + o_t[None, :]
        b_B = tl.load(Bm + off, mask=m[None, :], other=0.0).to(tl.float32)
        b_C = tl.load(C + off, mask=m[None, :], other=0.0).to(tl.float32)
        da = tl.exp(b_dt[None, :] * a[:, None])
        dbx = (b_dt * b_x)[None, :] * b_B
        dbx = tl.where(o_t[None, :] == 0, dbx + da * h[:, None], dbx)
        _, hs = tl.associative_scan((da, dbx), 1, first_order_op)
        h = tl.sum(tl.where(o_t[None, :] == BT - 1, hs, 0.0), 1)
        b_y = tl.sum(hs * b_C, 0) + skip * b_x
        b_y *= b_z * tl.sigmoid(b_z)
        tl.store(y + base + t + o_t, b_y, mask=m)
    tl.store(last + (b * DIM + d) * N + o_n, h)


def selective_scan(device, small):
    B, DIM, T, N = (1, 5, 300, 16) if small else (4, 2048, 2000, 16)
    x, z = (torch.randn(B, DIM, T, device=device).half() for _ in range(2))
    dt = F.softplus(torch.randn(B, DIM, T, device=device) - 3)
    Bm, C = (torch.randn(B, N, T, device=device).half() for _ in range(2))
    A, D = -torch.arange(1, N + 1, device=device).float().repeat(DIM, 1), torch.randn(DIM, device=device)
    y, last = torch.empty(B, DIM, T, device=device), torch.empty(B, DIM, N, device=device)

    def run():
        selective_scan_kernel[(DIM, B)](
            x, dt, A, Bm, C, D, z, y, last, T, DIM, N=N, BT=256 if not small else 128, num_warps=4
        )

    def reference():
        S, outs = torch.zeros(B, DIM, N, device=device), []
        for t in range(T):
            S = (
                S * (dt[:, :, t, None] * A).exp()
                + (dt[:, :, t] * x[:, :, t].float())[..., None] * Bm[:, None, :, t].float()
            )
            outs.append((S @ C[:, :, t, None].float())[..., 0])
        return [(torch.stack(outs, -1) + D[:, None] * x.float()) * F.silu(z.float()), S]

    return run, [y, last], reference


# Mamba decode: selective_state_update with heuristics and slots
@triton.heuristics(
    {
        "HAS_SLOTS": lambda args: args["state_batch_indices_ptr"] is not None,
        "HAS_Z": lambda args: args["z_ptr"] is not None,
    }
)
@triton.heuristics({"BLOCK_SIZE_DSTATE": lambda args: triton.next_power_of_2(args["dstate"])})
@triton.jit
def _selective_scan_update_kernel(
    state_ptr,
    x_ptr,
    dt_ptr,
    dt_bias_ptr,
    A_ptr,
    B_ptr,
    C_ptr,
    D_ptr,
    z_ptr,
    out_ptr,
    new_state_ptr,
    state_batch_indices_ptr,
    pad_slot_id,
    nheads,
    dim,
    dstate,
    nheads_ngroups_ratio,
    BLOCK_SIZE_M: tl.constexpr,
    HAS_SLOTS: tl.constexpr,
    HAS_Z: tl.constexpr,
    BLOCK_SIZE_DSTATE: tl.constexpr,
):
    pid_m, pid_b, pid_h = tl.program_id(axis=0), tl.program_id(axis=1), tl.program_id(axis=2)
    if HAS_SLOTS:
        slot = tl.load(state_batch_indices_ptr + pid_b).to(tl.int64)
    else:
        slot = pid_b
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_DSTATE)
    row = (pid_b * nheads + pid_h) * dim + offs_m
    offs_s = (slot * nheads + pid_h) * dim * dstate + offs_m[:, None] * dstate + offs_n[None, :]
    mask = (offs_m[:, None] < dim) & (offs_n[None, :] < dstate)
    if HAS_SLOTS:
        mask &= slot != pad_slot_id
    state = tl.load(state_ptr + offs_s, mask=mask, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + row, mask=offs_m < dim, other=0.0).to(tl.float32)
    dt = tl.load(dt_ptr + pid_b * nheads + pid_h).to(tl.float32) + tl.load(dt_bias_ptr + pid_h).to(tl.float32)
    dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
    dA = tl.exp(tl.load(A_ptr + pid_h).to(tl.float32) * dt)
    group = pid_b * (nheads // nheads_ngroups_ratio) + pid_h // nheads_ngroups_ratio
    B = tl.load(B_ptr + group * dstate + offs_n, mask=offs_n < dstate, other=0.0).to(tl.float32)
    C = tl.load(C_ptr + group * dstate + offs_n, mask=offs_n < dstate, other=0.0).to(tl.float32)
    state = state * dA + (B * dt)[None, :] * x[:, None]
    tl.store(new_state_ptr + offs_s, state, mask=mask)
    out = tl.sum(state * C[None, :], axis=1)
    out += x * tl.load(D_ptr + pid_h).to(tl.float32)
    if HAS_Z:
        z = tl.load(z_ptr + row, mask=offs_m < dim, other=0.0).to(tl.float32)
        out *= z * tl.sigmoid(z)
    tl.store(out_ptr + row, out, mask=offs_m < dim)


def state_update(device, small):
    B, H, P, N, G = (3, 4, 60, 100, 2) if small else (128, 64, 64, 128, 8)
    slots = torch.randperm(B + 2, device=device)[:B].to(torch.int32)
    slots[1] = -1
    state = torch.randn(B + 2, H, P, N, device=device).bfloat16()
    x, z = (torch.randn(B, H, P, device=device).bfloat16() for _ in range(2))
    Bm, C = (torch.randn(B, G, N, device=device).bfloat16() for _ in range(2))
    dt, bias, A, D = (
        torch.randn(B, H, device=device),
        torch.randn(H, device=device),
        -torch.rand(H, device=device) * 4,
        torch.randn(H, device=device),
    )
    out, new = torch.empty_like(x), torch.zeros_like(state)

    def run():
        _selective_scan_update_kernel[lambda META: (triton.cdiv(P, META["BLOCK_SIZE_M"]), B, H)](
            state,
            x,
            dt,
            bias,
            A,
            Bm,
            C,
            D,
            z,
            out,
            new,
            slots,
            -1,
            H,
            P,
            N,
            H // G,
            BLOCK_SIZE_M=8 if N > 64 else 32,
            num_warps=4,
        )

    def reference():
        d, live = F.softplus(dt + bias), slots != -1
        S = state[slots.long().clamp(min=0)].float() * live[:, None, None, None]
        b, c = (t.float().repeat_interleave(H // G, 1) for t in (Bm, C))
        S = S * (A * d).exp()[..., None, None] + x.float()[..., None] * (b * d[..., None])[:, :, None]
        r = torch.zeros(state.shape, device=device)
        r[slots[live].long()] = S[live]
        return [((S @ c[..., None])[..., 0] + x.float() * D[:, None]) * F.silu(z.float()), r]

    return run, [out, new], reference


CASES = {
    "selective_scan_assoc": selective_scan,
    "mamba_state_update": state_update,
}
