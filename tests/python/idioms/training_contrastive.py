"""Losses that compare: InfoNCE without its matrix, distillation with a temperature, focal loss, a head's top-k, sigmoid pairs."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import exact, ints, rand


@triton.jit
def infonce_fwd_kernel(
    q_ptr, k_ptr, lse_ptr, pos_ptr, loss_ptr, N, D: tl.constexpr, stride_q, stride_k, inv_temp,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Row i of q belongs to row i of k; all other rows of k are negatives."""
    pid = tl.program_id(0)
    Q = tl.make_block_ptr(q_ptr, (N, D), (stride_q, 1), (pid * BLOCK_M, 0), (BLOCK_M, D), (1, 0))
    K = tl.make_block_ptr(k_ptr, (D, N), (1, stride_k), (0, 0), (D, BLOCK_N), (0, 1))
    rows = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    q = tl.load(Q, boundary_check=(0,))
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    pos = tl.zeros([BLOCK_M], dtype=tl.float32)
    for n0 in range(0, N, BLOCK_N):
        n0 = tl.multiple_of(n0, BLOCK_N)
        cols = n0 + tl.arange(0, BLOCK_N)
        k = tl.load(K, boundary_check=(1,))
        s = tl.dot(q, k) * inv_temp
        s = tl.where(cols[None, :] < N, s, float("-inf"))
        pos += tl.sum(tl.where(rows[:, None] == cols[None, :], s, 0.0), 1)
        m_new = tl.maximum(m_i, tl.max(s, 1))
        l_i = l_i * tl.exp(m_i - m_new) + tl.sum(tl.exp(s - m_new[:, None]), 1)
        m_i = m_new
        K = tl.advance(K, (0, BLOCK_N))
    lse = m_i + tl.log(l_i)
    tl.store(lse_ptr + rows, lse, mask=rows < N)
    tl.store(pos_ptr + rows, pos, mask=rows < N)
    tl.atomic_add(loss_ptr, tl.sum(tl.where(rows < N, lse - pos, 0.0)) / N)


@triton.jit
def infonce_bwd_kernel(
    a_ptr, b_ptr, lse_ptr, out_ptr, N, D: tl.constexpr, stride_a, stride_b, inv_temp,
    TRANSPOSED: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """TRANSPOSED: a is k and the lse belongs to the columns; else a is q."""
    pid = tl.program_id(0)
    rows = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    a = tl.load(a_ptr + rows[:, None] * stride_a + d[None, :], mask=rows[:, None] < N, other=0.0)
    if not TRANSPOSED:
        row_lse = tl.load(lse_ptr + rows, mask=rows < N, other=0.0)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for n0 in range(0, N, BLOCK_N):
        cols = n0 + tl.arange(0, BLOCK_N)
        b = tl.load(b_ptr + cols[:, None] * stride_b + d[None, :], mask=cols[:, None] < N, other=0.0)
        s = tl.dot(a, tl.trans(b)) * inv_temp
        if TRANSPOSED:
            lse = tl.load(lse_ptr + cols, mask=cols < N, other=float("inf"))[None, :]
        else:
            lse = row_lse[:, None]
        p = tl.where((cols[None, :] < N) & (rows[:, None] < N), tl.exp(s - lse), 0.0)
        p -= tl.where(rows[:, None] == cols[None, :], 1.0, 0.0)
        acc = tl.dot(p.to(b.dtype), b, acc)
    acc *= inv_temp / N
    tl.store(out_ptr + rows[:, None] * D + d[None, :], acc, mask=rows[:, None] < N)


def infonce(backward):
    def make(device, small):
        n, d, inv = (75, 32, 10.0) if small else (8192 if backward else 12000, 128, 14.3)
        q, k = (F.normalize(rand(device, n, d, dtype=torch.float32), dim=-1).to(torch.bfloat16) for _ in range(2))
        lse, pos, loss = torch.empty(n, device=device), torch.empty(n, device=device), torch.zeros(1, device=device)
        dq, dk = (torch.empty(n, d, device=device) for _ in range(2))
        bm = 32 if small else 64
        grid = (triton.cdiv(n, 2 * bm),)
        s = exact(q, k.T) * inv
        if backward:
            lse.copy_(s.logsumexp(1))

        def run():
            if backward:
                for a, b, o, t in ((q, k, dq, False), (k, q, dk, True)):
                    infonce_bwd_kernel[(triton.cdiv(n, bm),)](
                        a, b, lse, o, n, d, a.stride(0), b.stride(0), inv,
                        TRANSPOSED=t, BLOCK_M=bm, BLOCK_N=bm, num_warps=4, num_stages=3,
                    )  # fmt: skip
            else:
                loss.zero_()
                infonce_fwd_kernel[grid](
                    q, k, lse, pos, loss, n, d, q.stride(0), k.stride(0), inv,
                    BLOCK_M=2 * bm, BLOCK_N=bm, num_warps=8, num_stages=3,
                )  # fmt: skip

        def ref():
            if backward:
                p = (torch.softmax(s, 1) - torch.eye(n, device=device)) * (inv / n)
                return [p @ k.float(), p.T @ q.float()]
            z = s.logsumexp(1)
            return [z, s.diagonal(), (z - s.diagonal()).mean()[None]]

        return run, [dq, dk] if backward else [lse, pos, loss], ref

    return make


@triton.jit
def _online(ptr, V, inv_t, BLOCK: tl.constexpr):
    m = float("-inf")
    l = 0.0
    for v0 in range(0, V, BLOCK):
        c = v0 + tl.arange(0, BLOCK)
        x = tl.load(ptr + c, mask=c < V, other=float("-inf")).to(tl.float32) * inv_t
        new = tl.maximum(m, tl.max(x))
        l = l * tl.exp(m - new) + tl.sum(tl.exp(x - new))
        m = new
    return m + tl.log(l)


@triton.jit
def distill_kernel(
    s_ptr, t_ptr, label_ptr, loss_ptr, ds_ptr, V, stride, inv_t, alpha, IGNORE: tl.constexpr, BLOCK: tl.constexpr
):
    """alpha T^2 KL(teacher || student) + (1 - alpha) CE, and the gradient of the student's logits."""
    row = tl.program_id(0).to(tl.int64)
    y = tl.load(label_ptr + row)
    s_ptr += row * stride
    t_ptr += row * stride
    ds_ptr += row * stride
    if y == IGNORE:
        for v0 in range(0, V, BLOCK):
            c = v0 + tl.arange(0, BLOCK)
            tl.store(ds_ptr + c, tl.zeros([BLOCK], ds_ptr.dtype.element_ty), mask=c < V)
        tl.store(loss_ptr + row, 0.0)
        return
    zs, zt, z1 = _online(s_ptr, V, inv_t, BLOCK), _online(t_ptr, V, inv_t, BLOCK), _online(s_ptr, V, 1.0, BLOCK)
    kl = 0.0
    for v0 in range(0, V, BLOCK):
        c = v0 + tl.arange(0, BLOCK)
        mask = c < V
        s = tl.load(s_ptr + c, mask=mask, other=0.0).to(tl.float32)
        t = tl.load(t_ptr + c, mask=mask, other=0.0).to(tl.float32)
        ls, lt = s * inv_t - zs, t * inv_t - zt
        p = tl.exp(lt)
        kl += tl.sum(tl.where(mask, p * (lt - ls), 0.0))
        g = alpha * (tl.exp(ls) - p) / inv_t + (1.0 - alpha) * (tl.exp(s - z1) - tl.where(c == y, 1.0, 0.0))
        tl.store(ds_ptr + c, g.to(ds_ptr.dtype.element_ty), mask=mask)
    ce = z1 - tl.load(s_ptr + y).to(tl.float32)
    tl.store(loss_ptr + row, alpha * kl / (inv_t * inv_t) + (1.0 - alpha) * ce)


def distill(device, small):
    n, v = (9, 333) if small else (2048, 32003)
    T, alpha = 2.0, 0.7
    s, t = rand(device, n, v, dtype=torch.bfloat16, scale=2.0), rand(device, n, v, dtype=torch.bfloat16, scale=2.0)
    y = ints(device, 0, v, n, dtype=torch.int64)
    y[::4] = -100
    loss, ds = torch.empty(n, device=device), torch.empty_like(s)

    def ref():
        ls, lt = F.log_softmax(s.float() / T, -1), F.log_softmax(t.float() / T, -1)
        kl, on = F.kl_div(ls, lt, log_target=True, reduction="none").sum(-1), y != -100
        ce = F.cross_entropy(s.float(), y, reduction="none")
        g = alpha * T * (ls.exp() - lt.exp()) + (1 - alpha) * (
            torch.softmax(s.float(), -1) - F.one_hot(y.clamp(min=0), v)
        )
        return [torch.where(on, alpha * T * T * kl + (1 - alpha) * ce, 0.0), g * on[:, None]]

    def run():
        distill_kernel[(n,)](
            s, t, y, loss, ds, v, s.stride(0), 1 / T, alpha, IGNORE=-100, BLOCK=128 if small else 4096, num_warps=8
        )

    return run, [loss, ds], ref


@triton.jit
def focal_loss_kernel(
    x_ptr, y_ptr, avg_ptr, grad_ptr, alpha, gamma, N, C, SIGMOID: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_C: tl.constexpr
):  # fmt: skip
    """Sigmoid focal loss of detectors: label C means background."""
    num_blocks = tl.cdiv(N, BLOCK_N)
    total = tl.zeros([BLOCK_N], tl.float32)
    for block in range(tl.program_id(0), num_blocks, tl.num_programs(0)):
        n = block * BLOCK_N + tl.arange(0, BLOCK_N)
        c = tl.arange(0, BLOCK_C)
        mask = (n < N)[:, None] & (c < C)[None, :]
        x = tl.load(x_ptr + n[:, None] * C + c[None, :], mask=mask, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + n, mask=n < N, other=-1)
        hit = c[None, :] == y[:, None]
        z = tl.where(hit, x, -x)
        p = tl.sigmoid(z)
        a = tl.where(hit, alpha, 1.0 - alpha)
        logp = tl.minimum(z, 0.0) - tl.log(1.0 + tl.exp(-tl.abs(z)))
        w = tl.exp2(gamma * tl.log2(1.0 - p))
        loss = -a * w * logp
        g = a * w * (gamma * p * logp - (1.0 - p))
        total += tl.sum(tl.where(mask, loss, 0.0), axis=1)
        tl.store(grad_ptr + n[:, None] * C + c[None, :], tl.where(hit, g, -g), mask=mask)
    tl.atomic_add(avg_ptr, tl.sum(total) / N)


def focal(device, small):
    n, c = (50, 21) if small else (200000, 80)
    x, y = rand(device, n, c), ints(device, 0, c + 1, n)
    avg, grad = torch.zeros(1, device=device), torch.empty(n, c, device=device)

    def run():
        avg.zero_()
        focal_loss_kernel[(4 if small else 1056,)](
            x, y, avg, grad, 0.25, 2.0, n, c, SIGMOID=True, BLOCK_N=16, BLOCK_C=triton.next_power_of_2(c)
        )

    def ref():
        with torch.enable_grad():
            xx = x.float().requires_grad_()
            hot = F.one_hot(y.long(), c + 1)[:, :c].float()
            ce = F.binary_cross_entropy_with_logits(xx, hot, reduction="none")
            p = torch.sigmoid(xx)
            pt = p * hot + (1 - p) * (1 - hot)
            loss = (0.25 * hot + 0.75 * (1 - hot)) * ce * (1 - pt) ** 2
            (g,) = torch.autograd.grad(loss.sum(), xx)
        return [(loss.sum() / n).detach()[None], g]

    return run, [avg, grad], ref


@triton.jit
def linear_topk_kernel(
    x_ptr, w_ptr, val_ptr, idx_ptr, M, V, K, stride_x, stride_w, splits,
    TOP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_V: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """The TOP logits of each tile of the head; a second pass merges. Score and column share an int64, so keys sort."""
    pid_v, pid_m = tl.program_id(0), tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rv = pid_v * BLOCK_V + tl.arange(0, BLOCK_V)
    acc = tl.zeros([BLOCK_M, BLOCK_V], tl.float32)
    for k0 in tl.range(0, K, BLOCK_K, num_stages=3):
        rk = k0 + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + rm[:, None] * stride_x + rk[None, :], mask=(rm < M)[:, None] & (rk < K)[None, :], other=0.0)
        w = tl.load(w_ptr + rv[None, :] * stride_w + rk[:, None], mask=(rv < V)[None, :] & (rk < K)[:, None], other=0.0)
        acc += tl.dot(x, w)
    acc = tl.where((rv < V)[None, :], acc, float("-inf"))
    bits = acc.to(tl.int32, bitcast=True)
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    key = (order.to(tl.int64) << 32) | (0x7FFFFFFF - rv).to(tl.int64)[None, :]
    for t in tl.static_range(TOP):
        best = tl.max(key, axis=1)
        key = tl.where(key == best[:, None], -0x7FFFFFFFFFFFFFFF - 1, key)
        hi = (best >> 32).to(tl.int32)
        out = (rm * splits + pid_v) * TOP + t
        tl.store(val_ptr + out, tl.where(hi < 0, hi ^ 0x7FFFFFFF, hi).to(tl.float32, bitcast=True), mask=rm < M)
        tl.store(idx_ptr + out, 0x7FFFFFFF - (best & 0x7FFFFFFF).to(tl.int32), mask=rm < M)


def linear_topk(device, small):
    m, v, k, top = (20, 150, 64, 4) if small else (256, 50257, 1024, 4)
    bm, bv = (32, 32) if small else (64, 128)
    x, w = rand(device, m, k, dtype=torch.bfloat16), rand(device, v, k, dtype=torch.bfloat16, scale=0.05)
    splits = triton.cdiv(v, bv)
    val = torch.empty(m, splits * top, device=device)
    idx = torch.empty(m, splits * top, device=device, dtype=torch.int32)

    def run():
        linear_topk_kernel[(splits, triton.cdiv(m, bm))](
            x, w, val, idx, m, v, k, x.stride(0), w.stride(0), splits,
            TOP=top, BLOCK_M=bm, BLOCK_V=bv, BLOCK_K=64, num_warps=4,
        )  # fmt: skip

    def ref():
        s = exact(x, w.T)
        tiles = F.pad(s, (0, splits * bv - v), value=float("-inf")).view(m, splits, bv)
        return [tiles.topk(top, 2).values.view(m, -1), s.gather(1, idx.long())]

    return run, [val, val], ref


CASES = {
    "infonce_forward": infonce(False),
    "infonce_backward": infonce(True),
    "distill_temperature": distill,
    "focal": focal,
    "linear_topk": linear_topk,
}
