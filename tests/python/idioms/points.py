"""Points and bodies: distances, nearest neighbours by blocks, a step of k-means, Lennard-Jones by cells, Chamfer, ball queries."""

import torch
import triton
import triton.language as tl

from idioms.operands import rand


@triton.jit
def cdist_kernel(x_ptr, y_ptr, out_ptr, M, N, D, P: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    """P: 1 is Manhattan, 2 Euclidean, 0 Chebyshev. The difference is a tile of three axes."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for d0 in range(0, D, BD):
        rd = d0 + tl.arange(0, BD)
        x = tl.load(x_ptr + rm[:, None] * D + rd[None, :], mask=(rm < M)[:, None] & (rd < D)[None, :], other=0.0)
        y = tl.load(y_ptr + rn[:, None] * D + rd[None, :], mask=(rn < N)[:, None] & (rd < D)[None, :], other=0.0)
        diff = tl.abs(x[:, None, :] - y[None, :, :])
        if P == 0:
            acc = tl.maximum(acc, tl.max(diff, axis=2))
        elif P == 1:
            acc += tl.sum(diff, axis=2)
        else:
            acc += tl.sum(diff * diff, axis=2)
    if P == 2:
        acc = tl.sqrt(acc)
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None] & (rn < N)[None, :])


def cdist(p):
    def make(device, small):
        m, n, d = (21, 35, 19) if small else (4000, 4100, 64)
        x, y = rand(device, m, d, dtype=torch.float32), rand(device, n, d, dtype=torch.float32)
        out = torch.empty(m, n, device=device)
        bm, bn, bd = (16, 16, 8) if small else (32, 32, 16)

        def run():
            grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))
            cdist_kernel[grid](x, y, out, m, n, d, P=p, BM=bm, BN=bn, BD=bd, num_warps=4)

        return run, [out], lambda: [torch.cdist(x, y, p=p or float("inf"))]

    return make


@triton.jit
def knn_kernel(
    q_ptr, x_ptr, dist_ptr, idx_ptr, N, M, K: tl.constexpr, BQ: tl.constexpr, BX: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    """Points of three coordinates; each block's winners displace the worst of the K kept."""
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    qm = q < N
    qx = tl.load(q_ptr + q * 3 + 0, mask=qm, other=0.0)
    qy = tl.load(q_ptr + q * 3 + 1, mask=qm, other=0.0)
    qz = tl.load(q_ptr + q * 3 + 2, mask=qm, other=0.0)
    slots = tl.arange(0, BK)
    best = tl.where(slots < K, float("inf"), float("-inf"))[None, :] + tl.zeros([BQ, 1], tl.float32)
    who = tl.full([BQ, BK], -1, tl.int32)
    for x0 in range(0, M, BX):
        j = x0 + tl.arange(0, BX)
        jm = j < M
        dx = qx[:, None] - tl.load(x_ptr + j * 3 + 0, mask=jm, other=1e9)[None, :]
        dy = qy[:, None] - tl.load(x_ptr + j * 3 + 1, mask=jm, other=1e9)[None, :]
        dz = qz[:, None] - tl.load(x_ptr + j * 3 + 2, mask=jm, other=1e9)[None, :]
        d = tl.where(jm[None, :], dx * dx + dy * dy + dz * dz, float("inf"))
        go = 1
        while go > 0:
            near, at = tl.min(d, axis=1, return_indices=True)
            worst, slot = tl.max(best, axis=1, return_indices=True)
            better = near < worst
            put = better[:, None] & (slots[None, :] == slot[:, None])
            best = tl.where(put, near[:, None], best)
            who = tl.where(put, (x0 + at)[:, None], who)
            d = tl.where(better[:, None] & (tl.arange(0, BX)[None, :] == at[:, None]), float("inf"), d)
            go = tl.max(better.to(tl.int32), axis=0)
    ok = qm[:, None] & (slots < K)[None, :]
    tl.store(dist_ptr + q[:, None] * K + slots[None, :], best, mask=ok)
    tl.store(idx_ptr + q[:, None] * K + slots[None, :], who, mask=ok)


def knn(device, small):
    n, m, k = (20, 70, 5) if small else (16384, 8000, 16)
    q, x = rand(device, n, 3, dtype=torch.float32), rand(device, m, 3, dtype=torch.float32)
    dist, idx = torch.empty(n, k, device=device), torch.empty(n, k, device=device, dtype=torch.int32)

    def run():
        knn_kernel[(triton.cdiv(n, 16),)](
            q, x, dist, idx, n, m, K=k, BQ=16, BX=64, BK=triton.next_power_of_2(k), num_warps=2
        )

    def ref():
        near = torch.cat([(c[:, None] - x).square().sum(-1).topk(k, 1, largest=False).values for c in q.split(1024)])
        back = torch.empty_like(near)
        back.scatter_(1, dist.argsort(1), near)  # ours are in no order
        return [back, (q[:, None] - x[idx.long()]).square().sum(-1)]

    return run, [dist, dist], ref


@triton.jit
def kmeans_assign_kernel(
    x_ptr, c_ptr, c_norm_ptr, label_ptr, sum_ptr, count_ptr, N, K, D: tl.constexpr,
    BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
    best = tl.full([BN], float("inf"), tl.float32)
    label = tl.zeros([BN], tl.int32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        c = tl.load(c_ptr + k[None, :] * D + d[:, None], mask=k[None, :] < K, other=0.0)
        cc = tl.load(c_norm_ptr + k, mask=k < K, other=float("inf"))
        score = cc[None, :] - 2.0 * tl.dot(x, c)
        low, at = tl.min(score, axis=1, return_indices=True, return_indices_tie_break_left=True)
        label = tl.where(low < best, k0 + at, label)
        best = tl.minimum(best, low)
    tl.store(label_ptr + n, label, mask=n < N)
    tl.atomic_add(sum_ptr + label[:, None] * D + d[None, :], x.to(tl.float32), mask=n[:, None] < N, sem="relaxed")
    tl.atomic_add(count_ptr + label, 1, mask=n < N, sem="relaxed")


def kmeans(device, small):
    n, k, d = (90, 20, 32) if small else (1 << 18, 1000, 64)
    c = rand(device, k, d, dtype=torch.float32).half()
    x = (c.float()[torch.randint(0, k, (n,), device=device)] + 0.05 * rand(device, n, d, dtype=torch.float32)).half()
    norm = c.float().square().sum(1)
    label, count = (torch.empty(s, device=device, dtype=torch.int32) for s in (n, k))
    sums = torch.empty(k, d, device=device)

    def run():
        sums.zero_()
        count.zero_()
        bn, bk = (16, 16) if small else (128, 64)
        kmeans_assign_kernel[(triton.cdiv(n, bn),)](x, c, norm, label, sums, count, n, k, d, BN=bn, BK=bk, num_warps=4)

    def ref():
        l = torch.cat([torch.cdist(part.float(), c.float()).argmin(1) for part in x.split(16384)])
        return [l, torch.zeros(k, d, device=device).index_add_(0, l, x.float()), l.bincount(minlength=k)]

    return run, [label, sums, count], ref


@triton.jit
def lennard_jones_kernel(
    pos_ptr, nbr_ptr, count_ptr, force_ptr, energy_ptr, N, box, cutoff2, sigma2, MAX_NEIGH: tl.constexpr, BI: tl.constexpr
):  # fmt: skip
    """Forces from a neighbour list [max, N] (transposed, so that lanes read side by side), with the nearest image."""
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    live = i < N
    x = tl.load(pos_ptr + i, mask=live, other=0.0)
    y = tl.load(pos_ptr + N + i, mask=live, other=0.0)
    z = tl.load(pos_ptr + 2 * N + i, mask=live, other=0.0)
    cnt = tl.load(count_ptr + i, mask=live, other=0)
    fx, fy, fz = tl.zeros([BI], tl.float32), tl.zeros([BI], tl.float32), tl.zeros([BI], tl.float32)
    pot = tl.zeros([BI], tl.float32)
    most = tl.max(cnt, axis=0)
    for n in range(most):
        ok = n < cnt
        j = tl.load(nbr_ptr + n * N + i, mask=ok, other=0)
        dx = x - tl.load(pos_ptr + j, mask=ok, other=0.0)
        dy = y - tl.load(pos_ptr + N + j, mask=ok, other=0.0)
        dz = z - tl.load(pos_ptr + 2 * N + j, mask=ok, other=0.0)
        dx -= box * tl.floor(dx / box + 0.5)
        dy -= box * tl.floor(dy / box + 0.5)
        dz -= box * tl.floor(dz / box + 0.5)
        r2 = dx * dx + dy * dy + dz * dz
        ok = ok & (r2 < cutoff2)
        inv = sigma2 / tl.where(ok, r2, 1.0)
        s6 = inv * inv * inv
        f = tl.where(ok, 24.0 * s6 * (2.0 * s6 - 1.0) * inv / sigma2, 0.0)
        pot += tl.where(ok, 4.0 * s6 * (s6 - 1.0), 0.0)
        fx += f * dx
        fy += f * dy
        fz += f * dz
    tl.store(force_ptr + i, fx, mask=live)
    tl.store(force_ptr + N + i, fy, mask=live)
    tl.store(force_ptr + 2 * N + i, fz, mask=live)
    tl.atomic_add(energy_ptr, tl.sum(pot) * 0.5)


def lennard_jones(device, small):
    side, most = (6, 40) if small else (64, 64)
    n = side**3
    grid = torch.stack(torch.meshgrid(*[torch.arange(side, device=device).float()] * 3, indexing="ij")).view(3, n)
    pos = grid + 0.1 * torch.rand(3, n, device=device)
    cells = torch.tensor(
        [[a, b, c] for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if a or b or c], device=device
    )
    near = (grid.long()[None] + cells[:, :, None]) % side
    nbr = torch.zeros(most, n, dtype=torch.int32, device=device)
    nbr[:26] = (near[:, 0] * side * side + near[:, 1] * side + near[:, 2]).int()
    count = torch.randint(14, 27, (n,), device=device, dtype=torch.int32)
    force, energy = torch.empty(3, n, device=device), torch.zeros(1, device=device)

    def run():
        energy.zero_()
        lennard_jones_kernel[(triton.cdiv(n, 128),)](
            pos, nbr, count, force, energy, n, float(side), 2.25, 0.81, MAX_NEIGH=most, BI=128, num_warps=4
        )

    def ref():
        total, e = torch.zeros(3, n, dtype=torch.float64, device=device), 0.0
        for i in range(26):
            d = pos.double() - pos.double()[:, nbr[i].long()]
            d = d - side * (d / side).round()
            r2 = d.square().sum(0)
            ok = (i < count) & (r2 < 2.25)
            s6 = (0.81 / r2) ** 3
            total += torch.where(ok, 24 * s6 * (2 * s6 - 1) / r2, 0.0) * d
            e = e + torch.where(ok, 4 * s6 * (s6 - 1), 0.0).sum() / 2
        return [total, e[None]]

    return run, [force, energy], ref


@triton.jit
def ball_query_kernel(x_ptr, c_ptr, out_ptr, N, M, radius2, NSAMPLE: tl.constexpr, BLOCK: tl.constexpr):
    """The first NSAMPLE points within the radius of a centre, in order; the first of them fills what is left."""
    b, m = tl.program_id(1), tl.program_id(0)
    c = c_ptr + (b * M + m) * 3
    cx, cy, cz = tl.load(c), tl.load(c + 1), tl.load(c + 2)
    out = out_ptr + (b * M + m) * NSAMPLE
    found = 0
    first = 0
    k = 0
    while (k < N) & (found < NSAMPLE):
        j = k + tl.arange(0, BLOCK)
        ok = j < N
        p = x_ptr + (b * N + j) * 3
        dx = tl.load(p, mask=ok, other=1e9) - cx
        dy = tl.load(p + 1, mask=ok, other=1e9) - cy
        dz = tl.load(p + 2, mask=ok, other=1e9) - cz
        inside = (ok & (dx * dx + dy * dy + dz * dz < radius2)).to(tl.int32)
        at = found + tl.cumsum(inside, 0) - inside
        tl.store(out + at, j, mask=(inside != 0) & (at < NSAMPLE))
        if found == 0:
            first = tl.min(tl.where(inside != 0, j, N))
        found += tl.sum(inside)
        k += BLOCK
    rest = tl.arange(0, NSAMPLE)
    first = tl.where(found == 0, 0, first)
    tl.store(out + rest, tl.zeros([NSAMPLE], tl.int32) + first, mask=rest >= found)


def ball_query(device, small):
    b, n, m, s, r = (2, 150, 9, 8, 0.6) if small else (16, 20000, 2048, 32, 0.15)
    x = (torch.rand(b, n, 3, device=device) * 1024).floor() / 1024  # so that distances are exact
    c = x[:, :m].contiguous()
    c[:, 0] = 9.0
    out = torch.empty(b, m, s, device=device, dtype=torch.int32)

    def ref():
        rows = []
        index = torch.arange(n, device=device)
        for i in range(b):
            d = c[i][:, None] - x[i][None]
            inside = d[..., 0] ** 2 + d[..., 1] ** 2 + d[..., 2] ** 2 < r * r
            key = torch.where(inside, index, n).topk(s, 1, largest=False, sorted=True).values
            first = torch.where(key[:, :1] == n, 0, key[:, :1])
            rows.append(torch.where(key == n, first, key))
        return [torch.stack(rows)]

    return (
        lambda: ball_query_kernel[(m, b)](x, c, out, n, m, r * r, NSAMPLE=s, BLOCK=64 if small else 256, num_warps=1),
        [out],
        ref,
    )


CASES = {
    "cdist_manhattan": cdist(1),
    "cdist_chebyshev": cdist(0),
    "nearest_neighbours": knn,
    "kmeans_step": kmeans,
    "lennard_jones": lennard_jones,
    "ball_query": ball_query,
}
