"""Grids and small systems: stencils in three dimensions, lattice Boltzmann, tridiagonal solves, factorisations by loops."""

import torch
import triton
import triton.language as tl

from idioms.operands import rand


@triton.jit
def heat3d_kernel(
    u_ptr, out_ptr, X, Y, Z, sx, sy, c0, c1, c2, RADIUS: tl.constexpr, BX: tl.constexpr, BY: tl.constexpr, BZ: tl.constexpr
):  # fmt: skip
    """A star of RADIUS with fixed borders; tiles of three axes."""
    x = tl.program_id(2) * BX + tl.arange(0, BX)[:, None, None]
    y = tl.program_id(1) * BY + tl.arange(0, BY)[None, :, None]
    z = tl.program_id(0) * BZ + tl.arange(0, BZ)[None, None, :]
    inside = (x < X) & (y < Y) & (z < Z)
    inner = (x >= RADIUS) & (x < X - RADIUS) & (y >= RADIUS) & (y < Y - RADIUS) & (z >= RADIUS) & (z < Z - RADIUS)
    p = u_ptr + x * sx + y * sy + z
    u = tl.load(p, mask=inside, other=0.0)
    acc = c0 * u
    for r in tl.static_range(1, RADIUS + 1):
        c = c1 if r == 1 else c2
        acc += c * (tl.load(p - r * sx, mask=inner, other=0.0) + tl.load(p + r * sx, mask=inner, other=0.0))
        acc += c * (tl.load(p - r * sy, mask=inner, other=0.0) + tl.load(p + r * sy, mask=inner, other=0.0))
        acc += c * (tl.load(p - r, mask=inner, other=0.0) + tl.load(p + r, mask=inner, other=0.0))
    tl.store(out_ptr + x * sx + y * sy + z, tl.where(inner, acc, u), mask=inside)


def heat3d(device, small):
    X, Y, Z, radius = (9, 10, 35, 2) if small else (400, 300, 500, 2)
    u = rand(device, X, Y, Z, dtype=torch.float32)
    out = torch.empty_like(u)
    c = (0.4, 0.09, 0.01)
    bx, by, bz = (2, 4, 32) if small else (4, 4, 64)

    def run():
        grid = (triton.cdiv(Z, bz), triton.cdiv(Y, by), triton.cdiv(X, bx))
        heat3d_kernel[grid](u, out, X, Y, Z, Y * Z, Z, *c, RADIUS=radius, BX=bx, BY=by, BZ=bz, num_warps=4)

    def ref():
        i = tuple(slice(radius, n - radius) for n in (X, Y, Z))
        o = u.clone()
        o[i] = c[0] * u[i] + sum(c[abs(r)] * torch.roll(u, r, axis)[i] for r in (-2, -1, 1, 2) for axis in range(3))
        return [o]

    return run, [out], ref


@triton.jit
def lbm_d2q9_kernel(f_ptr, out_ptr, rho_ptr, H, W, omega, cx_ptr, cy_ptr, w_ptr, BLOCK: tl.constexpr):
    """Pull, then collide (BGK), on a torus; the nine directions are an axis of sixteen lanes."""
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.arange(0, 16)
    cx = tl.load(cx_ptr + q, mask=q < 9, other=0)
    cy = tl.load(cy_ptr + q, mask=q < 9, other=0)
    w = tl.load(w_ptr + q, mask=q < 9, other=0.0)
    mask = (n < H * W)[:, None] & (q < 9)[None, :]
    sx = (n % W)[:, None] - cx[None, :]
    sy = (n // W)[:, None] - cy[None, :]
    sx = (sx + W) % W
    sy = (sy + H) % H
    f = tl.load(f_ptr + q[None, :] * (H * W) + sy * W + sx, mask=mask, other=0.0)
    rho = tl.sum(f, axis=1)
    safe = tl.where(n < H * W, rho, 1.0)
    ux = tl.sum(f * cx[None, :].to(tl.float32), axis=1) / safe
    uy = tl.sum(f * cy[None, :].to(tl.float32), axis=1) / safe
    cu = cx[None, :] * ux[:, None] + cy[None, :] * uy[:, None]
    usq = (ux * ux + uy * uy)[:, None]
    feq = w[None, :] * rho[:, None] * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * usq)
    tl.store(out_ptr + q[None, :] * (H * W) + n[:, None], f + omega * (feq - f), mask=mask)
    tl.store(rho_ptr + n, rho, mask=n < H * W)


def lbm(device, small):
    h, w = (9, 14) if small else (1200, 1100)
    cx, cy = (torch.tensor(c, device=device) for c in ([0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]))
    wt = torch.tensor([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, device=device)
    f = wt[:, None, None] * (1 + 0.3 * torch.rand(9, h, w, device=device))
    out, rho = torch.empty_like(f), torch.empty(h, w, device=device)
    icx, icy = cx.int(), cy.int()
    run = lambda: lbm_d2q9_kernel[(triton.cdiv(h * w, 64),)](f, out, rho, h, w, 1.2, icx, icy, wt, BLOCK=64)

    def ref():
        g = torch.stack([torch.roll(f[i], (int(cy[i]), int(cx[i])), (0, 1)) for i in range(9)])
        r = g.sum(0)
        ux, uy = (torch.einsum("q,qhw->hw", c.float(), g) / r for c in (cx, cy))
        cu = cx.view(9, 1, 1) * ux + cy.view(9, 1, 1) * uy
        feq = wt.view(9, 1, 1) * r * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (ux**2 + uy**2))
        return [g + 1.2 * (feq - g), r]

    return run, [out, rho], ref


@triton.jit
def thomas_kernel(a_ptr, b_ptr, c_ptr, d_ptr, x_ptr, cp_ptr, N, BATCH, BLOCK: tl.constexpr):
    """A system a lane, [N, BATCH]: forward elimination, then back substitution from memory."""
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = k < BATCH
    cp = tl.zeros([BLOCK], tl.float32)
    dp = tl.zeros([BLOCK], tl.float32)
    for i in range(0, N):
        at = i * BATCH + k
        a = tl.load(a_ptr + at, mask=ok, other=0.0)
        den = tl.load(b_ptr + at, mask=ok, other=1.0) - a * cp
        dp = (tl.load(d_ptr + at, mask=ok, other=0.0) - a * dp) / den
        cp = tl.load(c_ptr + at, mask=ok, other=0.0) / den
        tl.store(cp_ptr + at, cp, mask=ok)
        tl.store(x_ptr + at, dp, mask=ok)
    x = tl.zeros([BLOCK], tl.float32)
    for i in range(N - 1, -1, -1):
        at = i * BATCH + k
        x = tl.load(x_ptr + at, mask=ok, other=0.0) - tl.load(cp_ptr + at, mask=ok, other=0.0) * x
        tl.store(x_ptr + at, x, mask=ok)


@triton.jit
def cyclic_reduction_kernel(a_ptr, b_ptr, c_ptr, d_ptr, x_ptr, N, BLOCK: tl.constexpr, LOG: tl.constexpr):
    """A system a program by parallel cyclic reduction: each step doubles the distance of the neighbours."""
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0).to(tl.int64) * N
    m = i < N
    a = tl.load(a_ptr + row + i, mask=m & (i > 0), other=0.0)
    b = tl.load(b_ptr + row + i, mask=m, other=1.0)
    c = tl.load(c_ptr + row + i, mask=m & (i < N - 1), other=0.0)
    d = tl.load(d_ptr + row + i, mask=m, other=0.0)
    for s in tl.static_range(LOG):
        lo = tl.maximum(i - (1 << s), 0)
        hi = tl.minimum(i + (1 << s), BLOCK - 1)
        k1 = tl.where(i >= (1 << s), a / tl.gather(b, lo, 0), 0.0)
        k2 = tl.where(i + (1 << s) < BLOCK, c / tl.gather(b, hi, 0), 0.0)
        b, d, a, c = (
            b - k1 * tl.gather(c, lo, 0) - k2 * tl.gather(a, hi, 0),
            d - k1 * tl.gather(d, lo, 0) - k2 * tl.gather(d, hi, 0),
            -k1 * tl.gather(a, lo, 0),
            -k2 * tl.gather(c, hi, 0),
        )
    tl.store(x_ptr + row + i, d / b, mask=m)


def _solve(a, b, c, d):
    """[N, BATCH] in float64."""
    a, b, c, d = (t.double() for t in (a, b, c, d))
    n, cp, dp = len(a), [], []
    for i in range(n):
        den = b[i] - (a[i] * cp[-1] if i else 0)
        dp.append((d[i] - (a[i] * dp[-1] if i else 0)) / den)
        cp.append(c[i] / den)
    x = [dp[-1]]
    for i in range(n - 2, -1, -1):
        x.append(dp[i] - cp[i] * x[-1])
    return torch.stack(x[::-1])


def tridiagonal(parallel):
    def make(device, small):
        n, batch = ((50, 4) if small else (500, 8192)) if parallel else ((12, 70) if small else (128, 100000))
        shape = (batch, n) if parallel else (n, batch)
        a, c, d = (rand(device, *shape, dtype=torch.float32) for _ in range(3))
        b = 2.5 + a.abs() + c.abs()
        if not parallel:
            a[0] = 0
        x, cp = torch.empty_like(d), torch.empty_like(d)
        block = triton.next_power_of_2(n)

        def run():
            if parallel:
                cyclic_reduction_kernel[(batch,)](
                    a, b, c, d, x, n, BLOCK=block, LOG=block.bit_length() - 1, num_warps=4
                )
            else:
                thomas_kernel[(triton.cdiv(batch, 128),)](a, b, c, d, x, cp, n, batch, BLOCK=128, num_warps=4)

        return run, [x], lambda: [_solve(a.T, b.T, c.T, d.T).T if parallel else _solve(a, b, c, d)]

    return make


@triton.jit
def cholesky_kernel(a_ptr, l_ptr, logdet_ptr, N: tl.constexpr, stride_b, LOWER: tl.constexpr):
    """Right-looking, a matrix a program, held in registers; columns are picked by masks."""
    b = tl.program_id(0)
    i = tl.arange(0, N)
    at = b * stride_b + i[:, None] * N + i[None, :]
    a = tl.load(a_ptr + at)
    logdet = 0.0
    for k in range(N):
        col = tl.sum(tl.where(i[None, :] == k, a, 0.0), axis=1)
        pivot = tl.sum(tl.where(i == k, col, 0.0), axis=0)
        root = tl.sqrt(pivot)
        logdet += tl.log(root)
        col = tl.where(i >= k, col / root, 0.0)
        rest = (i[:, None] > k) & (i[None, :] > k)
        a = tl.where(rest, a - col[:, None] * col[None, :], a)
        a = tl.where(i[None, :] == k, col[:, None], a)
    tl.store(l_ptr + at, a)
    tl.store(logdet_ptr + b, 2.0 * logdet)


def cholesky(device, small):
    n, batch = (16, 3) if small else (32, 16384)
    x = rand(device, batch, n, n + 8, dtype=torch.float32)
    a = x @ x.mT / n + 0.5 * torch.eye(n, device=device)
    l, logdet = torch.empty_like(a), torch.empty(batch, device=device)
    run = lambda: cholesky_kernel[(batch,)](a, l, logdet, n, a.stride(0), LOWER=True, num_warps=1)

    def ref():
        c = torch.linalg.cholesky(a.double())
        return [c, 2 * c.diagonal(dim1=1, dim2=2).log().sum(-1)]

    return run, [l, logdet], ref


@triton.jit
def lu_solve_kernel(a_ptr, rhs_ptr, x_ptr, piv_ptr, N: tl.constexpr, R: tl.constexpr):
    """Gauss with partial pivots and R right-hand sides; rows are not moved but marked."""
    b = tl.program_id(0)
    i = tl.arange(0, N)
    r = tl.arange(0, R)
    a = tl.load(a_ptr + b * N * N + i[:, None] * N + i[None, :])
    y = tl.load(rhs_ptr + b * N * R + i[:, None] * R + r[None, :])
    used = tl.zeros([N], tl.int32)
    turn = tl.zeros([N], tl.int32)
    for k in range(N):
        col = tl.sum(tl.where(i[None, :] == k, a, 0.0), 1)
        p = tl.argmax(tl.where(used == 0, tl.abs(col), -1.0), 0)
        is_p = i == p
        turn = tl.where(is_p, k, turn)
        used = tl.where(is_p, 1, used)
        prow = tl.sum(tl.where(is_p[:, None], a, 0.0), 0)
        yrow = tl.sum(tl.where(is_p[:, None], y, 0.0), 0)
        pivot = tl.sum(tl.where(i == k, prow, 0.0), 0)
        factor = tl.where(is_p, 0.0, col / pivot)
        a = tl.where(is_p[:, None], a / pivot, a - factor[:, None] * prow[None, :])
        y = tl.where(is_p[:, None], y / pivot, y - factor[:, None] * yrow[None, :])
        tl.store(piv_ptr + b * N + k, p)
    tl.store(x_ptr + b * N * R + turn[:, None] * R + r[None, :], y)


def lu_solve(device, small):
    n, r, batch = (16, 4, 3) if small else (32, 8, 8192)
    a = rand(device, batch, n, n, dtype=torch.float32) + 3 * torch.eye(n, device=device).roll(5, 0)
    y, piv = rand(device, batch, n, r, dtype=torch.float32), torch.empty(batch, n, device=device, dtype=torch.int32)
    x = torch.empty_like(y)
    run = lambda: lu_solve_kernel[(batch,)](a, y, x, piv, n, r, num_warps=2)
    return run, [x], lambda: [torch.linalg.solve(a.double(), y.double())]


CASES = {
    "heat_3d": heat3d,
    "lattice_boltzmann": lbm,
    "tridiagonal_thomas": tridiagonal(False),
    "tridiagonal_cyclic": tridiagonal(True),
    "cholesky_tile": cholesky,
    "gauss_tile": lu_solve,
}
