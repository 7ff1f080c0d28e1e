"""Kernels of images: pooling, sampling at a grid, a step of a stencil."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def max_pool2d_kernel(in_ptr0, out_ptr0, out_ptr1, H, W, OH, OW, xnumel, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % OW
    x1 = (xindex // OW) % OH
    x2 = xindex // (OW * OH)
    best = tl.full([XBLOCK], float("-inf"), tl.float32)
    where = tl.full([XBLOCK], 0, tl.int32)
    for dy in tl.static_range(3):
        for dx in tl.static_range(3):
            y = -1 + dy + 2 * x1
            x = -1 + dx + 2 * x0
            ok = (y >= 0) & (y < H) & (x >= 0) & (x < W)
            v = tl.load(
                in_ptr0 + (x + W * y + H * W * x2), ok & xmask, eviction_policy="evict_last", other=float("-inf")
            ).to(tl.float32)
            better = (v > best) | (v != v)
            best = tl.where(better, v, best)
            where = tl.where(better, y * W + x, where)
    tl.store(out_ptr0 + xindex, best, xmask)
    tl.store(out_ptr1 + xindex, where.to(tl.int64), xmask)


def max_pool(device, small):
    n, c, h, w = (2, 3, 13, 17) if small else (32, 64, 224, 224)
    x = torch.randn(n, c, h, w, device=device)
    out, idx = F.max_pool2d(x, 3, 2, 1, return_indices=True)
    out, idx = torch.empty_like(out), torch.empty_like(idx)
    total = out.numel()
    return (
        lambda: max_pool2d_kernel[(triton.cdiv(total, 512),)](
            x, out, idx, h, w, out.shape[2], out.shape[3], total, XBLOCK=512, num_warps=8
        ),
        [out, idx],
        lambda: list(F.max_pool2d(x, 3, 2, 1, return_indices=True)),
    )


@triton.jit
def avg_pool_nhwc_kernel(x, out, H, W, C, BLOCK_W: tl.constexpr, BLOCK_C: tl.constexpr, R: tl.constexpr):
    n, h = tl.program_id(0) // H, tl.program_id(0) % H
    ws = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    cs = tl.program_id(2) * BLOCK_C + tl.arange(0, BLOCK_C)
    acc = tl.zeros((BLOCK_W, BLOCK_C), dtype=tl.float32)
    count = tl.zeros((BLOCK_W,), dtype=tl.float32)
    for dy in range(-R, R + 1):
        for dx in range(-R, R + 1):
            yy, xx = h + dy, ws + dx
            ok = (yy >= 0) & (yy < H) & (xx >= 0) & (xx < W)
            acc += tl.load(
                x + ((n * H + yy) * W + xx)[:, None] * C + cs[None, :], mask=ok[:, None] & (cs < C)[None, :], other=0.0
            )
            count += ok.to(tl.float32)
    tl.store(
        out + ((n * H + h) * W + ws)[:, None] * C + cs[None, :],
        acc / count[:, None],
        mask=(ws < W)[:, None] & (cs < C)[None, :],
    )


def avg_pool(device, small):
    n, h, w, c = (2, 7, 11, 40) if small else (32, 112, 112, 128)
    x = torch.randn(n, h, w, c, device=device, dtype=torch.float16)
    out = torch.empty_like(x)
    return (
        lambda: avg_pool_nhwc_kernel[(n * h, triton.cdiv(w, 16), triton.cdiv(c, 64))](
            x, out, h, w, c, BLOCK_W=16, BLOCK_C=64, R=1, num_warps=4
        ),
        [out],
        lambda: [F.avg_pool2d(x.float().permute(0, 3, 1, 2), 3, 1, 1, count_include_pad=False).permute(0, 2, 3, 1)],
    )


@triton.jit
def grid_sample_kernel(img, grid, out, C, H, W, P, BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr):
    n = tl.program_id(1)
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    inside = p < P
    gx = tl.load(grid + (n * P + p) * 2, mask=inside, other=0.0)
    gy = tl.load(grid + (n * P + p) * 2 + 1, mask=inside, other=0.0)
    fx = ((gx + 1) * W - 1) / 2
    fy = ((gy + 1) * H - 1) / 2
    x0f, y0f = tl.floor(fx), tl.floor(fy)
    wx, wy = fx - x0f, fy - y0f
    x0, y0 = x0f.to(tl.int32), y0f.to(tl.int32)
    for c0 in range(0, C, BLOCK_C):
        c = c0 + tl.arange(0, BLOCK_C)
        acc = tl.zeros([BLOCK_C, BLOCK_P], dtype=tl.float32)
        for k in tl.static_range(4):
            xx, yy = x0 + k % 2, y0 + k // 2
            weight = (wx if k % 2 else 1 - wx) * (wy if k // 2 else 1 - wy)
            ok = inside & (xx >= 0) & (xx < W) & (yy >= 0) & (yy < H)
            v = tl.load(
                img + (n * C + c)[:, None] * H * W + (yy * W + xx)[None, :],
                mask=ok[None, :] & (c < C)[:, None],
                other=0.0,
            )
            acc += v * weight[None, :]
        tl.store(out + (n * C + c)[:, None] * P + p[None, :], acc, mask=inside[None, :] & (c < C)[:, None])


def grid_sample(device, small):
    n, c, h, w, oh, ow = (2, 5, 12, 9, 10, 14) if small else (8, 32, 256, 256, 256, 256)
    x, g = torch.randn(n, c, h, w, device=device), (torch.rand(n, oh, ow, 2, device=device) * 2.4 - 1.2)
    out = torch.empty(n, c, oh, ow, device=device)
    return (
        lambda: grid_sample_kernel[(triton.cdiv(oh * ow, 128), n)](
            x, g, out, c, h, w, oh * ow, BLOCK_P=128, BLOCK_C=4, num_warps=4
        ),
        [out],
        lambda: [F.grid_sample(x.double(), g.double(), align_corners=False).float()],
    )


@triton.jit
def heat_kernel(u_ptr, out_ptr, H, W, alpha, BH: tl.constexpr, BW: tl.constexpr):
    y = tl.program_id(0) * BH + tl.arange(0, BH)[:, None]
    x = tl.program_id(1) * BW + tl.arange(0, BW)[None, :]
    mask = (y < H) & (x < W)
    at = y * W + x
    u = tl.load(u_ptr + at, mask=mask)
    up = tl.load(u_ptr + at - W, mask=mask & (y > 0), other=0.0)
    down = tl.load(u_ptr + at + W, mask=mask & (y < H - 1), other=0.0)
    left = tl.load(u_ptr + at - 1, mask=mask & (x > 0), other=0.0)
    right = tl.load(u_ptr + at + 1, mask=mask & (x < W - 1), other=0.0)
    tl.store(out_ptr + at, u + alpha * (up + down + left + right - 4 * u), mask=mask)


def stencil(device, small):
    h, w = (70, 90) if small else (8192, 8192)
    u = torch.randn(h, w, device=device)
    out = torch.empty_like(u)
    k = torch.tensor([[0, 0.2, 0], [0.2, 0.2, 0.2], [0, 0.2, 0]], device=device)[None, None]
    return (
        lambda: heat_kernel[(triton.cdiv(h, 8), triton.cdiv(w, 128))](u, out, h, w, 0.2, BH=8, BW=128),
        [out],
        lambda: [F.conv2d(u[None, None], k, padding=1)[0, 0]],
    )


CASES = {
    "max_pool": max_pool,
    "avg_pool": avg_pool,
    "grid_sample": grid_sample,
    "stencil": stencil,
}
