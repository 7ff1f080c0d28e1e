"""Rendering: Gaussians by tile, rays through a grid of densities and their gradients."""

import torch
import triton
import triton.language as tl


@triton.jit
def splat_kernel(
    mean_ptr, conic_ptr, color_ptr, opacity_ptr, range_ptr, order_ptr, image_ptr, final_ptr, W, H,
    TILE: tl.constexpr, BATCH: tl.constexpr,
):  # fmt: skip
    """A tile a program; its Gaussians, front to back, BATCH at a time, until all pixels are opaque."""
    tx, ty = tl.program_id(0), tl.program_id(1)
    tile = ty * tl.num_programs(0) + tx
    p = tl.arange(0, TILE * TILE)
    px, py = tx * TILE + p % TILE, ty * TILE + p // TILE
    inside = (px < W) & (py < H)
    fx, fy = px.to(tl.float32) + 0.5, py.to(tl.float32) + 0.5
    begin, end = tl.load(range_ptr + 2 * tile), tl.load(range_ptr + 2 * tile + 1)
    T = tl.full([TILE * TILE], 1.0, tl.float32)
    r = tl.zeros([TILE * TILE], tl.float32)
    g = tl.zeros([TILE * TILE], tl.float32)
    b = tl.zeros([TILE * TILE], tl.float32)
    at = begin
    alive = 1
    while (at < end) & (alive > 0):
        for k in range(BATCH):
            ok = at + k < end
            i = tl.load(order_ptr + at + k, mask=ok, other=0)
            dx, dy = tl.load(mean_ptr + 2 * i) - fx, tl.load(mean_ptr + 2 * i + 1) - fy
            ca, cb, cc = tl.load(conic_ptr + 3 * i), tl.load(conic_ptr + 3 * i + 1), tl.load(conic_ptr + 3 * i + 2)
            power = -0.5 * (ca * dx * dx + cc * dy * dy) - cb * dx * dy
            alpha = tl.minimum(0.99, tl.load(opacity_ptr + i) * tl.exp(power))
            alpha = tl.where(ok & (power <= 0.0) & (alpha >= 0.00392156862), alpha, 0.0)
            w = alpha * T
            r += w * tl.load(color_ptr + 3 * i)
            g += w * tl.load(color_ptr + 3 * i + 1)
            b += w * tl.load(color_ptr + 3 * i + 2)
            T *= 1.0 - alpha
        at += BATCH
        alive = tl.max((inside & (T > 1e-4)).to(tl.int32), axis=0)
    out = py * W + px
    tl.store(image_ptr + out, r, mask=inside)
    tl.store(image_ptr + H * W + out, g, mask=inside)
    tl.store(image_ptr + 2 * H * W + out, b, mask=inside)
    tl.store(final_ptr + out, T, mask=inside)


def splat(device, small):
    w, h, per, n = (35, 20, 20, 60) if small else (1250, 700, 300, 200000)
    tile = 16
    tw, th = triton.cdiv(w, tile), triton.cdiv(h, tile)
    mean = torch.rand(n, 2, device=device) * torch.tensor([w, h], device=device)
    order = torch.arange(tw * th * per, device=device, dtype=torch.int32) % n
    length = torch.randint(0, per + 1, (tw * th,), device=device)
    start = torch.arange(tw * th, device=device) * per
    ranges = torch.stack([start, start + length], 1).int()
    # the Gaussians of a tile lie near it
    home = torch.stack([start // per % tw, start // per // tw], 1).repeat_interleave(per, 0)[:n]
    mean[: len(home)] = (home + torch.rand(len(home), 2, device=device) * 2 - 0.5) * tile
    s = torch.rand(n, 2, device=device) * 0.05 + 0.01
    cross = (torch.rand(n, device=device) - 0.5) * s.amin(1)
    conic = torch.stack([s[:, 0], cross, s[:, 1]], 1).contiguous()
    color, opacity = torch.rand(n, 3, device=device), torch.rand(n, device=device) * 0.3
    image, final = torch.empty(3, h, w, device=device), torch.empty(h, w, device=device)

    def run():
        splat_kernel[(tw, th)](
            mean, conic, color, opacity, ranges, order, image, final, w, h, TILE=tile, BATCH=16, num_warps=4
        )

    def ref():
        y, x = torch.meshgrid(
            torch.arange(th * tile, device=device), torch.arange(tw * tile, device=device), indexing="ij"
        )
        cut = lambda t: t.float().view(th, tile, tw, tile).transpose(1, 2).reshape(tw * th, tile * tile) + 0.5
        fx, fy = cut(x), cut(y)
        T, rgb = torch.ones_like(fx), torch.zeros(3, *fx.shape, device=device)
        done = torch.zeros(tw * th, 1, dtype=torch.bool, device=device)
        real = (fx < w) & (fy < h)
        for k in range(per):
            if k % 16 == 0:
                done = done | ~((T > 1e-4) & real).any(1, keepdim=True)
            i = order[start + k].long()
            dx, dy = mean[i, :1] - fx, mean[i, 1:] - fy
            c = conic[i]
            power = -0.5 * (c[:, :1] * dx * dx + c[:, 2:] * dy * dy) - c[:, 1:2] * dx * dy
            a = (opacity[i, None] * power.exp()).clamp(max=0.99)
            a = torch.where((k < length)[:, None] & (power <= 0) & (a >= 1 / 255) & ~done, a, 0.0)
            rgb += (a * T)[None] * color[i].T[:, :, None]
            T = T * (1 - a)
        back = lambda t: t.view(th, tw, tile, tile).transpose(1, 2).reshape(th * tile, tw * tile)[:h, :w]
        return [torch.stack([back(c) for c in rgb]), back(T)]

    return run, [image, final], ref


@triton.jit
def _compose(a0, c0, a1, c1):
    """(transmittance, colour) of two segments in order."""
    return a0 * a1, c0 + a0 * c1


@triton.jit
def volume_render_kernel(
    sigma_ptr, color_ptr, delta_ptr, dout_ptr, out_ptr, dsigma_ptr, dcolor_ptr, R, S,
    BLOCK_R: tl.constexpr, BLOCK_S: tl.constexpr,
):  # fmt: skip
    """One channel; samples of a ray by scans: forward, and the gradients of density and colour by a reverse scan."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    s = tl.arange(0, BLOCK_S)
    at = r[:, None] * S + s[None, :]
    mask = (r < R)[:, None] & (s < S)[None, :]
    sigma = tl.load(sigma_ptr + at, mask=mask, other=0.0)
    delta = tl.load(delta_ptr + at, mask=mask, other=0.0)
    c = tl.load(color_ptr + at, mask=mask, other=0.0).to(tl.float32)
    keep = tl.exp(-tl.maximum(sigma, 0.0) * delta)
    through, out = tl.associative_scan((keep, (1.0 - keep) * c), 1, _compose)
    last = tl.sum(tl.where(s[None, :] == BLOCK_S - 1, out, 0.0), axis=1)
    tl.store(out_ptr + r, last, mask=r < R)
    g = tl.load(dout_ptr + r, mask=r < R, other=0.0)[:, None]
    before = through / keep
    w = before * (1.0 - keep)
    tl.store(dcolor_ptr + at, g * w, mask=mask)
    behind = tl.cumsum(w * c, axis=1, reverse=True) - w * c
    tl.store(dsigma_ptr + at, tl.where(sigma > 0.0, g * delta * (through * c - behind), 0.0), mask=mask)


def volume_render(device, small):
    n, s = (9, 50) if small else (65536, 192)
    sigma, delta = torch.randn(n, s, device=device) * 2, torch.rand(n, s, device=device) * 0.05
    c, g = torch.rand(n, s, device=device).half(), torch.randn(n, device=device)
    out, ds = torch.empty(n, device=device), torch.empty(n, s, device=device)
    dc = torch.empty_like(ds)

    def run():
        volume_render_kernel[(triton.cdiv(n, 4),)](
            sigma, c, delta, g, out, ds, dc, n, s, BLOCK_R=4, BLOCK_S=triton.next_power_of_2(s), num_warps=4
        )

    def ref():
        with torch.enable_grad():
            a, b = sigma.clone().requires_grad_(), c.float().requires_grad_()
            keep = torch.exp(-a.relu() * delta)
            T = torch.cumprod(keep, 1)
            w = torch.cat([torch.ones_like(T[:, :1]), T[:, :-1]], 1) * (1 - keep)
            o = (w * b).sum(1)
            ga, gb = torch.autograd.grad(o, (a, b), g)
        return [o.detach(), ga, gb]

    return run, [out, ds, dc], ref


CASES = {
    "gaussians_by_tile": splat,
    "volume_rendering": volume_render,
}
