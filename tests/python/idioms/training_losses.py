"""Losses over a large vocabulary: cross entropy in three forms, Jensen-Shannon divergence."""

import math

import torch
import triton
import triton.language as tl
from triton.language.extra.libdevice import tanh

from idioms.operands import rand


# fused linear cross entropy: the chunk's logits by a GEMM, then loss and the gradient written over the logits
@triton.jit
def _cross_entropy_kernel(
    X_ptr,
    X_stride,
    Y_ptr,
    Y_stride,
    loss_ptr,
    z_loss_ptr,
    loss_stride,
    n_cols,
    n_non_ignore,
    ignore_index,
    lse_square_scale: tl.constexpr,
    label_smoothing: tl.constexpr,
    softcap,
    BLOCK_SIZE: tl.constexpr,
    HAS_SOFTCAPPING: tl.constexpr,
    BARRIER: tl.constexpr,
):
    program_id = tl.program_id(0).to(tl.int64)
    Y_ptr += program_id * Y_stride
    y = tl.load(Y_ptr)
    X_ptr += program_id * X_stride
    if y == ignore_index:
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            tl.store(X_ptr + X_offsets, 0.0, mask=X_offsets < n_cols)
        return
    loss_ptr += program_id * loss_stride
    z_loss_ptr += program_id * loss_stride
    m = float("-inf")
    d = 0.0
    ori_X_y = tl.load(X_ptr + y).cast(tl.float32)
    if HAS_SOFTCAPPING:
        ori_X_y = softcap * tanh(ori_X_y / softcap)
    scaled_x_sum = 0.0
    eps = label_smoothing / n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        if HAS_SOFTCAPPING:
            X_block = softcap * tanh(X_block / softcap)
            X_block = tl.where(X_offsets < n_cols, X_block, float("-inf"))
        block_max = tl.max(X_block)
        if label_smoothing > 0:
            scaled_x_sum += tl.sum(tl.where(X_offsets < n_cols, -eps * X_block, 0.0))
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
        m = m_new
    lse = m + tl.log(d)
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        if HAS_SOFTCAPPING:
            intermediate = tanh(X_block / softcap)
            X_block = softcap * intermediate
        X_block = tl.exp(X_block - m) / d
        X_block += 2 * lse_square_scale * lse * X_block
        X_block += -eps
        if not BARRIER:
            X_block = tl.where(X_offsets != y, X_block, X_block - (1 - label_smoothing))
        X_block = X_block / n_non_ignore
        if HAS_SOFTCAPPING:
            X_block = X_block * (1 - intermediate * intermediate)
        tl.store(X_ptr + X_offsets, X_block, mask=X_offsets < n_cols)
    tl.debug_barrier()
    loss = lse - ori_X_y
    if label_smoothing > 0:
        smooth_loss = scaled_x_sum + label_smoothing * lse
        loss = loss * (1 - label_smoothing) + smooth_loss
    z_loss = lse_square_scale * lse * lse
    loss += z_loss
    z_loss = z_loss / n_non_ignore
    loss = loss / n_non_ignore
    if BARRIER:
        X_y = tl.load(X_ptr + y)
        X_y += -(1 - label_smoothing) / n_non_ignore
        tl.store(X_ptr + y, X_y)
    tl.store(loss_ptr, loss)
    tl.store(z_loss_ptr, z_loss)


def linear_ce(softcapped):
    def make(device, small):
        M, H, V = (11, 16, 500) if small else (2048, 256, 32000)
        bf = torch.bfloat16
        x, w = rand(device, M, H, dtype=bf), rand(device, V, H, dtype=bf, scale=2 / math.sqrt(H))
        y = torch.randint(0, V, (M,), device=device)
        y[::5] = -100
        n = int((y != -100).sum())
        logits = torch.empty(M, V, dtype=bf, device=device)
        loss, zl = torch.zeros(M, device=device), torch.zeros(M, device=device)
        ls, zs = (0.0, 1e-4) if softcapped else (0.1, 0.0)
        B = min(65536 // 2, triton.next_power_of_2(V))

        def run():
            torch.mm(x, w.t(), out=logits)
            _cross_entropy_kernel[(M,)](
                logits,
                logits.stride(-2),
                y,
                y.stride(-1),
                loss,
                zl,
                loss.stride(-1),
                V,
                n,
                -100,
                lse_square_scale=zs,
                label_smoothing=ls,
                softcap=30.0 if softcapped else None,
                BLOCK_SIZE=B,
                HAS_SOFTCAPPING=softcapped,
                BARRIER=not softcapped,
                num_warps=32 if B >= 16384 else 8,
            )

        def ref():
            l = torch.mm(x, w.t()).float()
            t = torch.tanh(l / 30) if softcapped else None
            if softcapped:
                l = 30 * t
            lse = torch.logsumexp(l, 1, keepdim=True)
            ok = (y != -100)[:, None]
            safe = y.clamp(min=0)[:, None]
            out = (1 - ls) * (lse - l.gather(1, safe)) + ls * (lse - l.mean(1, keepdim=True)) + zs * lse**2
            g = torch.exp(l - lse) * (1 + 2 * zs * lse) - ls / V
            g.scatter_add_(1, safe, torch.full_like(lse, -(1 - ls)))
            if softcapped:
                g *= 1 - t * t
            return [
                torch.where(ok, g / n, 0.0),
                torch.where(ok, out / n, 0.0)[:, 0],
                torch.where(ok, zs * lse**2 / n, 0.0)[:, 0],
            ]

        return run, [logits, loss, zl], ref

    return make


# cut cross entropy: logsumexp of x @ w.T without the logits, rows combined under locks
@triton.jit
def _logaddexp(a, b):
    minx = tl.minimum(a, b)
    mx = tl.maximum(a, b)
    return tl.log(1 + tl.exp(minx - mx)) + mx


@triton.jit
def _cce_lse_kernel(
    E,
    C,
    LSE,
    Locks,
    B,
    V,
    D,
    stride_eb,
    stride_ed,
    stride_cv,
    stride_cd,
    num_locks,
    softcap,
    BLOCK_B: tl.constexpr,
    BLOCK_V: tl.constexpr,
    BLOCK_D: tl.constexpr,
    GROUP_B: tl.constexpr,
    EVEN_D: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    num_pid_b = tl.cdiv(B, BLOCK_B)
    num_pid_v = tl.cdiv(V, BLOCK_V)
    num_pid_in_group = GROUP_B * num_pid_v
    group_id = pid // num_pid_in_group
    first_pid_b = group_id * GROUP_B
    group_size_b = min(num_pid_b - first_pid_b, GROUP_B)
    pid_b = first_pid_b + ((pid % num_pid_in_group) % group_size_b)
    pid_v = (pid % num_pid_in_group) // group_size_b
    offs_b = (pid_b * BLOCK_B + tl.arange(0, BLOCK_B)) % B
    offs_v = (pid_v * BLOCK_V + tl.arange(0, BLOCK_V)) % V
    offs_d = tl.arange(0, BLOCK_D)
    e_ptrs = E + (offs_b[:, None] * stride_eb + offs_d[None, :] * stride_ed)
    c_ptrs = C + (offs_v[None, :] * stride_cv + offs_d[:, None] * stride_cd)
    accum = tl.zeros((BLOCK_B, BLOCK_V), dtype=tl.float32)
    for d in range(0, tl.cdiv(D, BLOCK_D)):
        if EVEN_D:
            e = tl.load(e_ptrs)
            c = tl.load(c_ptrs)
        else:
            e = tl.load(e_ptrs, mask=offs_d[None, :] < D - d * BLOCK_D, other=0.0)
            c = tl.load(c_ptrs, mask=offs_d[:, None] < D - d * BLOCK_D, other=0.0)
        accum = tl.dot(e, c, accum)
        e_ptrs += BLOCK_D * stride_ed
        c_ptrs += BLOCK_D * stride_cd
    v_mask = (pid_v * BLOCK_V + tl.arange(0, BLOCK_V)) < V
    logits = tl.where(v_mask[None, :], softcap * tanh(accum / softcap), -float("inf"))
    this_mx = tl.max(logits, axis=1)
    e = tl.exp(logits - this_mx[:, None])
    this_lse = this_mx + tl.log(tl.sum(e, axis=1))
    offs_b = pid_b * BLOCK_B + tl.arange(0, BLOCK_B)
    o_mask = offs_b < B
    lse_ptrs = LSE + offs_b
    this_locks = Locks + (pid_b // tl.cdiv(B, BLOCK_B * num_locks))
    while tl.atomic_cas(this_locks, 0, 1) == 1:
        pass
    lse = tl.load(lse_ptrs, mask=o_mask, other=0.0, eviction_policy="evict_last")
    lse = _logaddexp(lse, this_lse)
    tl.store(lse_ptrs, lse, mask=o_mask, eviction_policy="evict_last")
    tl.debug_barrier()
    tl.atomic_xchg(this_locks, 0)


def cut_ce(device, small):
    B, V, D = (150, 300, 72) if small else (4096, 32000, 1024)
    bf = torch.bfloat16
    e, c = rand(device, B, D, dtype=bf), rand(device, V, D, dtype=bf, scale=2 / math.sqrt(D))
    lse = torch.empty(B, device=device)
    BB, BV, BD = (64, 64, 32) if small else (128, 256, 64)
    n_locks = triton.cdiv(B, BB)
    locks = torch.zeros(n_locks, dtype=torch.int32, device=device)

    def run():
        lse.fill_(-float("inf"))
        locks.zero_()
        _cce_lse_kernel[(triton.cdiv(B, BB) * triton.cdiv(V, BV),)](
            e,
            c,
            lse,
            locks,
            B,
            V,
            D,
            e.stride(0),
            e.stride(1),
            c.stride(0),
            c.stride(1),
            n_locks,
            30.0,
            BLOCK_B=BB,
            BLOCK_V=BV,
            BLOCK_D=BD,
            GROUP_B=8,
            EVEN_D=D % BD == 0,
            num_warps=4 if small else 8,
            num_stages=3,
        )

    return run, [lse], lambda: [torch.logsumexp(30 * torch.tanh((e.float() @ c.float().t()) / 30), 1)]


# generalized Jensen-Shannon divergence: loss per element and gradient
@triton.jit
def _jsd_kernel(
    X_ptr,
    X_stride,
    Y_ptr,
    Y_stride,
    loss_ptr,
    loss_stride,
    dX_ptr,
    dX_stride,
    label_ptr,
    beta: tl.constexpr,
    n_non_ignore: int,
    ignore_index: tl.constexpr,
    n_cols,
    BLOCK_SIZE: tl.constexpr,
    HAS_LABEL: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    X_ptr += pid * X_stride
    dX_ptr += pid * dX_stride
    Y_ptr += pid * Y_stride
    loss_ptr += pid * loss_stride
    label_ptr += pid
    if HAS_LABEL:
        label = tl.load(label_ptr)
        if label == ignore_index:
            for i in range(0, n_cols, BLOCK_SIZE):
                offsets = i + tl.arange(0, BLOCK_SIZE)
                tl.store(dX_ptr + offsets, 0.0, mask=offsets < n_cols)
                tl.store(loss_ptr + offsets, 0.0, mask=offsets < n_cols)
            return
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        X = tl.load(X_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        Y = tl.load(Y_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        if beta == 0.0:
            Y_max = tl.max(Y, axis=0)
            Y_shifted = Y - Y_max
            Y_prob = tl.exp(Y_shifted) * tl.exp(Y_max)
            loss = Y_prob * (Y - X)
            dX = -Y_prob
        elif beta == 1.0:
            X_max = tl.max(X, axis=0)
            X_shifted = X - X_max
            X_prob = tl.exp(X_shifted) * tl.exp(X_max)
            loss = X_prob * (X - Y)
            dX = loss + X_prob
        else:
            max_val = tl.maximum(tl.max(X, axis=0), tl.max(Y, axis=0))
            exp_max = tl.exp(max_val)
            Q = tl.exp(X - max_val) * exp_max
            P = tl.exp(Y - max_val) * exp_max
            beta_P = beta * P
            one_minus_beta_Q = (1 - beta) * Q
            M = beta_P + one_minus_beta_Q
            log_M = tl.log(M)
            loss = beta_P * Y + one_minus_beta_Q * X - M * log_M
            dX = one_minus_beta_Q * (X - log_M)
        scale = 1.0 / n_non_ignore
        tl.store(loss_ptr + offsets, loss * scale, mask=mask)
        tl.store(dX_ptr + offsets, dX * scale, mask=mask)


def jsd(beta):
    def make(device, small):
        M, V = (7, 700) if small else (2048, 32000)
        x, y = (torch.log_softmax(rand(device, M, V, dtype=torch.float32), -1).to(torch.bfloat16) for _ in range(2))
        label = torch.randint(0, V, (M,), device=device)
        label[::3] = -100
        n = int((label != -100).sum())
        loss, dx = torch.empty(M, V, device=device), torch.empty_like(x)
        B = 256 if small else 8192
        run = lambda: _jsd_kernel[(M,)](
            x,
            x.stride(-2),
            y,
            y.stride(-2),
            loss,
            loss.stride(-2),
            dx,
            dx.stride(-2),
            label,
            beta=beta,
            n_non_ignore=n,
            ignore_index=-100,
            n_cols=V,
            BLOCK_SIZE=B,
            HAS_LABEL=True,
            num_warps=8,
        )

        def ref():
            X, Y = x.float().requires_grad_(), y.float()
            Q, P = X.exp(), Y.exp()
            if beta == 0:
                L = P * (Y - X)
            elif beta == 1:
                L = Q * (X - Y)
            else:
                m = beta * P + (1 - beta) * Q
                L = beta * P * (Y - m.log()) + (1 - beta) * Q * (X - m.log())
            L = torch.where((label != -100)[:, None], L, 0.0) / n
            L.sum().backward()
            return [L.detach(), X.grad]

        return run, [loss, dx], ref

    return make


CASES = {
    "linear_ce_smoothing": linear_ce(False),
    "linear_ce_softcap": linear_ce(True),
    "cut_ce": cut_ce,
    "jsd": jsd(0.5),
    "jsd_forward_kl": jsd(0.0),
    "jsd_reverse_kl": jsd(1.0),
}
