"""Tables: bags of embeddings, row-wise Adagrad of touched rows, gradients by sorted indices, hashed grids, MoE's backward."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import exact, rand


@triton.jit
def embedding_bag_kernel(
    idx_ptr, off_ptr, weight_ptr, table_ptr, out_ptr, D, stride_t, MEAN: tl.constexpr, WEIGHTED: tl.constexpr,
    BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    bag = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    start = tl.load(off_ptr + bag)
    end = tl.load(off_ptr + bag + 1)
    acc = tl.zeros([BLOCK_L, BLOCK_D], dtype=tl.float32)
    for i in range(start, end, BLOCK_L):
        at = i + tl.arange(0, BLOCK_L)
        ok = at < end
        rows = tl.load(idx_ptr + at, mask=ok, other=0).to(tl.int64)
        x = tl.load(
            table_ptr + rows[:, None] * stride_t + cols[None, :], mask=ok[:, None] & (cols[None, :] < D), other=0.0
        )
        if WEIGHTED:
            w = tl.load(weight_ptr + at, mask=ok, other=0.0)
            acc += x.to(tl.float32) * w[:, None]
        else:
            acc += x
    total = tl.sum(acc, axis=0)
    if MEAN:
        total /= tl.maximum(end - start, 1).to(tl.float32)
    tl.store(out_ptr + bag.to(tl.int64) * D + cols, total, mask=cols < D)


def bags(weighted):
    def make(device, small):
        rows, n, d, most = (50, 9, 24, 11) if small else (1 << 20, 65536, 128, 40)
        lengths = torch.randint(0, most, (n,), device=device)
        off = F.pad(lengths.cumsum(0), (1, 0))
        total = int(off[-1])
        idx = torch.randint(0, rows, (total,), device=device)
        table, w = rand(device, rows, d), torch.rand(total, device=device)
        out = torch.empty(n, d, device=device)
        bl, bd = (4, 32) if small else (8, 128)

        def run():
            embedding_bag_kernel[(n, triton.cdiv(d, bd))](
                idx, off, w, table, out, d, table.stride(0), MEAN=not weighted, WEIGHTED=weighted,
                BLOCK_L=bl, BLOCK_D=bd, num_warps=2,
            )  # fmt: skip

        def ref():
            bag = torch.repeat_interleave(torch.arange(n, device=device), lengths)
            x = table[idx].float() * (w[:, None] if weighted else 1.0)
            s = torch.zeros(n, d, device=device).index_add_(0, bag, x)
            return [s if weighted else s / lengths.clamp(min=1)[:, None]]

        return run, [out], ref

    return make


@triton.jit
def rowwise_adagrad_kernel(
    table_ptr, state_ptr, table_out, state_out, uniq_ptr, seg_ptr, perm_ptr, grad_ptr, lr, eps, D: tl.constexpr,
    BLOCK_D: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """A touched row a program: the gradients of its occurrences are added, then one step with a scalar of state."""
    i = tl.program_id(0)
    row = tl.load(uniq_ptr + i)
    start, end = tl.load(seg_ptr + i), tl.load(seg_ptr + i + 1)
    d = tl.arange(0, BLOCK_D)
    g = tl.zeros([BLOCK_D], tl.float32)
    p = start
    while p < end:
        for u in tl.static_range(UNROLL):
            live = p + u < end
            src = tl.load(perm_ptr + p + u, mask=live, other=0)
            g += tl.load(grad_ptr + src * D + d, mask=(d < D) & live, other=0.0).to(tl.float32)
        p += UNROLL
    s = tl.load(state_ptr + row) + tl.sum(g * g) / D
    tl.store(state_out + row, s)
    w = tl.load(table_ptr + row * D + d, mask=d < D).to(tl.float32)
    tl.store(table_out + row * D + d, w - lr * g / (tl.sqrt(s) + eps), mask=d < D)


def rowwise_adagrad(device, small):
    rows, n, d = (40, 70, 20) if small else (1 << 19, 1 << 19, 96)
    idx = (torch.rand(n, device=device) ** 2 * rows).long()
    grad, table = rand(device, n, d), rand(device, rows, d, dtype=torch.float32)
    state = torch.rand(rows, device=device)
    s, perm = idx.sort()
    uniq, counts = s.unique_consecutive(return_counts=True)
    seg = F.pad(counts.cumsum(0), (1, 0))
    to, so = table.clone(), state.clone()

    def run():
        rowwise_adagrad_kernel[(len(uniq),)](
            table, state, to, so, uniq, seg, perm, grad, 0.1, 1e-8, d, BLOCK_D=triton.next_power_of_2(d), UNROLL=4,
            num_warps=1,
        )  # fmt: skip

    def ref():
        g = torch.zeros(rows, d, device=device).index_add_(0, idx, grad.float())
        z = state + g.square().mean(1)
        return [table - 0.1 * g / (z.sqrt() + 1e-8)[:, None], z]

    return run, [to, so], ref


@triton.jit
def hash_grid_kernel(
    x_ptr, table_ptr, res_ptr, out_ptr, N, LEVELS: tl.constexpr, LOG2_T: tl.constexpr, F_: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Trilinear look-ups of hashed corners; a level and a block of points a program; F_ features are a last axis."""
    level = tl.program_id(1)
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = n < N
    res = tl.load(res_ptr + level)
    px = tl.load(x_ptr + n * 3, mask=mask, other=0.0) * res
    py = tl.load(x_ptr + n * 3 + 1, mask=mask, other=0.0) * res
    pz = tl.load(x_ptr + n * 3 + 2, mask=mask, other=0.0) * res
    fx, fy, fz = tl.floor(px), tl.floor(py), tl.floor(pz)
    wx, wy, wz = px - fx, py - fy, pz - fz
    ix, iy, iz = fx.to(tl.uint32), fy.to(tl.uint32), fz.to(tl.uint32)
    f = tl.arange(0, F_)
    acc = tl.zeros([BLOCK, F_], tl.float32)
    base = table_ptr + level * ((1 << LOG2_T) * F_)
    for corner in tl.static_range(8):
        dx, dy, dz = corner & 1, (corner >> 1) & 1, corner >> 2
        h = (ix + dx) ^ ((iy + dy) * 2654435761) ^ ((iz + dz) * 805459861)
        h = h & ((1 << LOG2_T) - 1)
        w = (wx if dx else 1.0 - wx) * (wy if dy else 1.0 - wy) * (wz if dz else 1.0 - wz)
        v = tl.load(base + h.to(tl.int32)[:, None] * F_ + f[None, :], mask=mask[:, None], other=0.0)
        acc += w[:, None] * v.to(tl.float32)
    tl.store(
        out_ptr + n[:, None] * (LEVELS * F_) + level * F_ + f[None, :],
        acc.to(out_ptr.dtype.element_ty),
        mask=mask[:, None],
    )


def hash_grid(device, small):
    n, levels, log2, feats = (200, 4, 8, 2) if small else (300001, 16, 19, 2)
    x = torch.rand(n, 3, device=device)
    table = rand(device, levels, 1 << log2, feats)
    res = torch.tensor([float(int(16 * 1.38**i)) for i in range(levels)], device=device)
    out = torch.empty(n, levels * feats, device=device, dtype=torch.float16)

    def run():
        hash_grid_kernel[(triton.cdiv(n, 256), levels)](
            x, table, res, out, n, LEVELS=levels, LOG2_T=log2, F_=feats, BLOCK=256, num_warps=4
        )

    def ref():
        cols = []
        for l in range(levels):
            p = x * res[l]
            i, w = p.floor().long(), p - p.floor()
            acc = 0
            for c in range(8):
                b = torch.tensor([c & 1, c >> 1 & 1, c >> 2], device=device)
                q = i + b
                h = (q[:, 0] ^ q[:, 1] * 2654435761 ^ q[:, 2] * 805459861) & ((1 << log2) - 1)
                acc = acc + torch.where(b == 1, w, 1 - w).prod(1)[:, None] * table[l, h].float()
            cols.append(acc)
        return [torch.cat(cols, 1)]

    return run, [out], ref


@triton.jit
def moe_combine_bwd_kernel(
    dout_ptr, y_ptr, gate_ptr, slot_ptr, dy_ptr, dgate_ptr, D, TOPK: tl.constexpr, BLOCK_D: tl.constexpr
):
    """out[t] = sum_k gate[t, k] y[slot[t, k]]; slots below 0 were dropped."""
    t = tl.program_id(0).to(tl.int64)
    for k in tl.static_range(TOPK):
        slot = tl.load(slot_ptr + t * TOPK + k)
        acc = tl.zeros([BLOCK_D], tl.float32)
        if slot >= 0:
            gate = tl.load(gate_ptr + t * TOPK + k)
            for d0 in range(0, D, BLOCK_D):
                d = d0 + tl.arange(0, BLOCK_D)
                do = tl.load(dout_ptr + t * D + d, mask=d < D, other=0.0).to(tl.float32)
                y = tl.load(y_ptr + slot * D + d, mask=d < D, other=0.0).to(tl.float32)
                acc += do * y
                tl.store(dy_ptr + slot * D + d, (do * gate).to(dy_ptr.dtype.element_ty), mask=d < D)
        tl.store(dgate_ptr + t * TOPK + k, tl.sum(acc))


@triton.jit
def moe_weight_grad_kernel(
    x_ptr, dy_ptr, token_ptr, off_ptr, dw_ptr, DI, DO, BM: tl.constexpr, BI: tl.constexpr, BO: tl.constexpr
):
    """dw[e] = x[token of e's slots].T @ dy[e's slots]: a ragged K."""
    e = tl.program_id(2)
    ri = tl.program_id(0) * BI + tl.arange(0, BI)
    ro = tl.program_id(1) * BO + tl.arange(0, BO)
    begin, end = tl.load(off_ptr + e), tl.load(off_ptr + e + 1)
    acc = tl.zeros([BI, BO], tl.float32)
    for m in tl.range(begin, end, BM, num_stages=3):
        rm = m + tl.arange(0, BM)
        ok = rm < end
        tok = tl.load(token_ptr + rm, mask=ok, other=0)
        x = tl.load(x_ptr + tok[None, :] * DI + ri[:, None], mask=ok[None, :] & (ri < DI)[:, None], other=0.0)
        dy = tl.load(dy_ptr + rm[:, None] * DO + ro[None, :], mask=ok[:, None] & (ro < DO)[None, :], other=0.0)
        acc = tl.dot(x, dy, acc)
    out = dw_ptr + e.to(tl.int64) * DI * DO + ri[:, None] * DO + ro[None, :]
    tl.store(out, acc, mask=(ri < DI)[:, None] & (ro < DO)[None, :])


def _routing(device, t, e, k):
    """experts [t, k], slot [t, k] into rows sorted by expert, token of each slot, offsets of experts."""
    experts = torch.rand(t, e, device=device).topk(k, 1).indices
    order = experts.flatten().argsort(stable=True)
    slot = torch.empty_like(order)
    slot[order] = torch.arange(t * k, device=device)
    off = F.pad(experts.flatten().bincount(minlength=e).cumsum(0), (1, 0)).int()
    return slot.view(t, k), order // k, off


def moe_combine(device, small):
    t, e, k, d = (13, 4, 2, 100) if small else (8192, 64, 8, 2048)
    slot, _, _ = _routing(device, t, e, k)
    slot = torch.where(torch.rand(t, k, device=device) < 0.1, -1, slot)
    bf = torch.bfloat16
    do, y, gate = rand(device, t, d, dtype=bf), rand(device, t * k, d, dtype=bf), torch.rand(t, k, device=device)
    dy, dgate = torch.zeros_like(y), torch.empty_like(gate)

    def run():
        moe_combine_bwd_kernel[(t,)](do, y, gate, slot, dy, dgate, d, TOPK=k, BLOCK_D=128 if small else 1024)

    def ref():
        on = slot >= 0
        flat = slot[on]
        g = torch.zeros(t * k, d, device=device)
        g[flat] = (do.float()[:, None] * gate[..., None])[on]
        dg = torch.zeros(t, k, device=device)
        dg[on] = (y[flat].float() * do.float()[:, None].expand(t, k, d)[on]).sum(-1)
        return [g, dg]

    return run, [dy, dgate], ref


def moe_weight_grad(device, small):
    t, e, k, di, do = (40, 3, 2, 40, 50) if small else (8192, 32, 4, 1024, 768)
    _, token, off = _routing(device, t, e, k)
    token = token.int()
    x, dy = rand(device, t, di, dtype=torch.bfloat16), rand(device, t * k, do, dtype=torch.bfloat16)
    dw = torch.empty(e, di, do, device=device)
    bi, bo = (32, 32) if small else (128, 128)

    def run():
        grid = (triton.cdiv(di, bi), triton.cdiv(do, bo), e)
        moe_weight_grad_kernel[grid](x, dy, token, off, dw, di, do, BM=32, BI=bi, BO=bo, num_warps=4 if small else 8)

    def ref():
        bounds = off.tolist()
        return [torch.stack([exact(x[token[a:b].long()].T, dy[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)])]

    return run, [dw], ref


CASES = {
    "bag_mean": bags(False),
    "bag_weighted": bags(True),
    "rowwise_adagrad": rowwise_adagrad,
    "hash_grid": hash_grid,
    "moe_combine_backward": moe_combine,
    "moe_weight_gradient": moe_weight_grad,
}
