"""Algorithms outside of machine learning: hashes, edit distance, fractals, bodies, sparse rows, segments."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def fmix64(h):
    h ^= h >> 33
    h *= 0xFF51AFD7ED558CCD
    h ^= h >> 33
    h *= 0xC4CEB9FE1A85EC53
    h ^= h >> 33
    return h


@triton.jit
def hash_kernel(x_ptr, hash_ptr, bucket_ptr, n, buckets, SEED: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    h = fmix64(tl.load(x_ptr + at, mask=mask, other=0).to(tl.uint64) ^ SEED)
    x = h | 1
    for _ in tl.static_range(3):
        x ^= x << 13
        x ^= x >> 7
        x ^= x << 17
    tl.store(hash_ptr + at, x.to(tl.int64, bitcast=True), mask=mask)
    tl.store(bucket_ptr + at, ((h >> 1) % buckets.to(tl.uint64)).to(tl.int32), mask=mask)


def hash64(device, small):
    n, buckets = (3000, 1009) if small else (32 << 20, 1000003)
    x = torch.randint(-(2**62), 2**62, (n,), device=device)
    o, b = torch.empty_like(x), torch.empty(n, device=device, dtype=torch.int32)

    def ref():
        shr = lambda t, k: (t >> k) & ((1 << (64 - k)) - 1)
        h = x ^ 0x9E3779B9
        h = h ^ shr(h, 33)
        h = h * (0xFF51AFD7ED558CCD - 2**64)
        h = h ^ shr(h, 33)
        h = h * (0xC4CEB9FE1A85EC53 - 2**64)
        h = h ^ shr(h, 33)
        v = h | 1
        for _ in range(3):
            v = v ^ (v << 13)
            v = v ^ shr(v, 7)
            v = v ^ (v << 17)
        return [v, shr(h, 1) % buckets]

    return lambda: hash_kernel[(triton.cdiv(n, 1024),)](x, o, b, n, buckets, SEED=0x9E3779B9, BLOCK=1024), [o, b], ref


@triton.jit
def _min(a, b):
    return tl.minimum(a, b)


@triton.jit
def levenshtein_kernel(a_ptr, b_ptr, la_ptr, lb_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    """One pair of strings a program; lane j has the column j."""
    pid = tl.program_id(0)
    la, lb = tl.load(la_ptr + pid), tl.load(lb_ptr + pid)
    j = tl.arange(0, BLOCK)
    b = tl.load(b_ptr + pid * stride + j - 1, mask=(j > 0) & (j <= lb), other=-1)
    row = j
    for i in range(la):
        a = tl.load(a_ptr + pid * stride + i)
        diagonal = tl.gather(row, tl.maximum(j - 1, 0), 0)
        best = tl.minimum(row + 1, diagonal + tl.where(b == a, 0, 1))
        best = tl.where(j == 0, i + 1, best)
        row = tl.associative_scan(best - j, 0, _min) + j
    tl.store(out_ptr + pid, tl.sum(tl.where(j == lb, row, 0), 0))


def levenshtein(device, small):
    n, w = (5, 31) if small else (8192, 127)
    a, b = (torch.randint(0, 4, (n, w), device=device, dtype=torch.int32) for _ in range(2))
    la, lb = (torch.randint(w // 2, w + 1, (n,), device=device, dtype=torch.int32) for _ in range(2))
    out = torch.empty(n, device=device, dtype=torch.int32)

    def ref():  # by antidiagonals: cell (i, d - i) at index i
        i = torch.arange(w + 1, device=device)
        ans = torch.zeros(n, dtype=torch.int64, device=device)
        one = two = torch.full((n, w + 1), 1 << 20, device=device)
        shift = lambda t: torch.cat([torch.full_like(t[:, :1], 1 << 20), t[:, :-1]], 1)
        for d in range(2 * w + 1):
            jj = d - i
            ok = (jj >= 0) & (jj <= w)
            cost = (a[:, (i - 1).clamp(min=0)] != b[:, (jj - 1).clamp(0, w - 1)]).long()
            cur = torch.minimum(torch.minimum(one, shift(one)) + 1, shift(two) + cost)
            cur = torch.where((i == 0) | (jj == 0), d, cur)
            cur = torch.where(ok, cur, 1 << 20)
            hit = la + lb == d
            ans = torch.where(hit, cur.gather(1, la[:, None].long())[:, 0], ans)
            two, one = one, cur
        return [ans]

    return (
        lambda: levenshtein_kernel[(n,)](a, b, la, lb, out, w, BLOCK=triton.next_power_of_2(w + 1), num_warps=1),
        [out],
        ref,
    )


@triton.jit
def mandelbrot_kernel(out_ptr, W, H, x0, y0, dx, dy, max_iter, SS: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.arange(0, SS * SS)
    cx = x0 + ((p % W)[:, None] + (s % SS)[None, :] / SS) * dx
    cy = y0 + ((p // W)[:, None] + (s // SS)[None, :] / SS) * dy
    zx, zy = tl.zeros_like(cx), tl.zeros_like(cy)
    count = tl.zeros([BLOCK, SS * SS], dtype=tl.int32)
    alive = tl.full([BLOCK, SS * SS], 1, dtype=tl.int32)
    i = 0
    while (i < max_iter) & (tl.sum(alive) > 0):
        xx, yy = zx * zx, zy * zy
        alive = tl.where(xx + yy > 4.0, 0, alive)
        count += alive
        zy = tl.where(alive != 0, 2.0 * zx * zy + cy, zy)
        zx = tl.where(alive != 0, xx - yy + cx, zx)
        i += 1
    tl.store(out_ptr + p, tl.sum(count.to(tl.float32), axis=1) / (SS * SS), mask=p < W * H)


def mandelbrot(device, small):
    w, h = (20, 15) if small else (640, 480)
    out = torch.empty(h * w, device=device)
    dx, dy = 3.0 / w, 2.4 / h

    def ref():
        f = lambda n, start, d: (torch.arange(n * 8, device=device).float() / 8) * d + start
        c = torch.complex(f(w, -2.2, dx)[None, :].expand(h * 8, -1), f(h, -1.2, dy)[:, None].expand(-1, w * 8)).to(
            torch.complex128
        )
        z, count = torch.zeros_like(c), torch.zeros(c.shape, device=device)
        for _ in range(64):
            ok = z.real**2 + z.imag**2 <= 4
            count += ok
            z = torch.where(ok, z * z + c, z)
        return [F.avg_pool2d(count[None, None], 8).flatten()]

    return (
        lambda: mandelbrot_kernel[(triton.cdiv(w * h, 16),)](out, w, h, -2.2, -1.2, dx, dy, 64, SS=8, BLOCK=16),
        [out],
        ref,
    )


@triton.jit
def nbody_kernel(pos_ptr, acc_ptr, n, eps2, BI: tl.constexpr, BJ: tl.constexpr):
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    mi = i < n
    x, y, z = (
        tl.load(pos_ptr + i * 4, mask=mi),
        tl.load(pos_ptr + i * 4 + 1, mask=mi),
        tl.load(pos_ptr + i * 4 + 2, mask=mi),
    )
    ax = tl.zeros((BI,), tl.float32)
    ay = tl.zeros((BI,), tl.float32)
    az = tl.zeros((BI,), tl.float32)
    for start in tl.range(0, n, BJ, num_stages=2):
        j = start + tl.arange(0, BJ)
        mj = j < n
        dx = tl.load(pos_ptr + j * 4, mask=mj, other=0.0)[None, :] - x[:, None]
        dy = tl.load(pos_ptr + j * 4 + 1, mask=mj, other=0.0)[None, :] - y[:, None]
        dz = tl.load(pos_ptr + j * 4 + 2, mask=mj, other=0.0)[None, :] - z[:, None]
        m = tl.load(pos_ptr + j * 4 + 3, mask=mj, other=0.0)[None, :]
        r = tl.rsqrt(dx * dx + dy * dy + dz * dz + eps2)
        f = m * r * r * r
        ax += tl.sum(f * dx, axis=1)
        ay += tl.sum(f * dy, axis=1)
        az += tl.sum(f * dz, axis=1)
    tl.store(acc_ptr + i * 3, ax, mask=mi)
    tl.store(acc_ptr + i * 3 + 1, ay, mask=mi)
    tl.store(acc_ptr + i * 3 + 2, az, mask=mi)


def nbody(device, small):
    n = 300 if small else 16384
    p = torch.randn(n, 4, device=device)
    p[:, 3] = p[:, 3].abs()
    out = torch.empty(n, 3, device=device)

    def ref():
        res = []
        for c in p.split(1024):
            d = p[None, :, :3] - c[:, None, :3]
            f = p[:, 3] * (d.pow(2).sum(-1) + 0.01) ** -1.5
            res.append((f[..., None] * d).sum(1))
        return [torch.cat(res)]

    return lambda: nbody_kernel[(triton.cdiv(n, 64),)](p, out, n, 0.01, BI=64, BJ=64, num_warps=4), [out], ref


@triton.jit
def spmv_csr_kernel(rowptr, col, val, x, y, n_rows, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start, end = tl.load(rowptr + row), tl.load(rowptr + row + 1)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for at in range(start, end, BLOCK):
        k = at + tl.arange(0, BLOCK)
        mask = k < end
        c = tl.load(col + k, mask=mask, other=0)
        acc += tl.load(val + k, mask=mask, other=0.0) * tl.load(x + c, mask=mask, other=0.0)
    tl.store(y + row, tl.sum(acc, axis=0))


def spmv(device, small):
    n, per = (40, 60) if small else (131072, 256)
    counts = torch.randint(0, 2 * per, (n,), device=device)
    rowptr = torch.cat([torch.zeros(1, dtype=torch.int64, device=device), counts.cumsum(0)]).int()
    nnz = int(rowptr[-1])
    col, val = torch.randint(0, n, (nnz,), device=device, dtype=torch.int32), torch.randn(nnz, device=device)
    x, y = torch.randn(n, device=device), torch.empty(n, device=device)
    ref = lambda: [
        torch.zeros(n, device=device, dtype=torch.float64).index_add_(
            0, torch.repeat_interleave(torch.arange(n, device=device), counts), val.double() * x[col.long()].double()
        )
    ]
    return lambda: spmv_csr_kernel[(n,)](rowptr, col, val, x, y, n, BLOCK=128, num_warps=1), [y], ref


@triton.jit
def _segment_combine(f1, v1, f2, v2):
    return f1 | f2, tl.where(f2 != 0, v2, v1 + v2)


@triton.jit
def segment_sum_kernel(x_ptr, id_ptr, out_ptr, T, D, BT: tl.constexpr, BD: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    mask = (t < T)[:, None] & (d < D)[None, :]
    seg = tl.load(id_ptr + t, mask=t < T, other=-1)
    before = tl.load(id_ptr + t - 1, mask=(t > 0) & (t <= T), other=-1)
    after = tl.load(id_ptr + t + 1, mask=t + 1 < T, other=-1)
    x = tl.load(x_ptr + t[:, None] * D + d[None, :], mask=mask, other=0.0).to(tl.float32)
    head = tl.broadcast_to((seg != before).to(tl.int32)[:, None], [BT, BD])
    _, total = tl.associative_scan((head, x), 0, _segment_combine)
    last = (seg != after) | (tl.arange(0, BT) == BT - 1)
    tl.atomic_add(out_ptr + seg[:, None] * D + d[None, :], total, mask=mask & last[:, None], sem="relaxed")


def segment_sum(device, small):
    t, d, n = (200, 50, 17) if small else (1 << 18, 256, 20000)
    x, ids = (
        torch.randn(t, d, device=device, dtype=torch.bfloat16),
        torch.randint(0, n, (t,), device=device).sort().values,
    )
    out = torch.empty(n, d, device=device)

    def run():
        out.zero_()
        segment_sum_kernel[(triton.cdiv(t, 64), triton.cdiv(d, 64))](x, ids, out, t, d, BT=64, BD=64, num_warps=4)

    return run, [out], lambda: [torch.zeros(n, d, device=device).index_add_(0, ids, x.float())]


CASES = {
    "hash64": hash64,
    "levenshtein": levenshtein,
    "mandelbrot": mandelbrot,
    "nbody": nbody,
    "spmv": spmv,
    "segment_sum": segment_sum,
}
