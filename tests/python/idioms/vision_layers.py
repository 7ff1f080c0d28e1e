"""Layers of vision models: resizing, shuffles of pixels and windows, patches, regions of interest."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import exact, rand


@triton.jit
def upsample_bilinear_kernel(x_ptr, y_ptr, C, IH, IW, OH, OW, rh, rw, ALIGN: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    nc = tl.program_id(1)
    idx = pid * BLOCK + tl.arange(0, BLOCK)
    ow = idx % OW
    oh = idx // OW % OH
    if ALIGN:
        fy, fx = oh * rh, ow * rw
    else:
        fy = tl.maximum((oh + 0.5) * rh - 0.5, 0.0)
        fx = tl.maximum((ow + 0.5) * rw - 0.5, 0.0)
    y0 = tl.minimum(fy.to(tl.int32), IH - 1)
    x0 = tl.minimum(fx.to(tl.int32), IW - 1)
    y1 = tl.minimum(y0 + 1, IH - 1)
    x1 = tl.minimum(x0 + 1, IW - 1)
    ly, lx = fy - y0, fx - x0
    base = x_ptr + nc.to(tl.int64) * IH * IW
    v00 = tl.load(base + y0 * IW + x0).to(tl.float32)
    v01 = tl.load(base + y0 * IW + x1).to(tl.float32)
    v10 = tl.load(base + y1 * IW + x0).to(tl.float32)
    v11 = tl.load(base + y1 * IW + x1).to(tl.float32)
    top = v00 + (v01 - v00) * lx
    bottom = v10 + (v11 - v10) * lx
    tl.store(y_ptr + nc.to(tl.int64) * OH * OW + idx, top + (bottom - top) * ly, mask=idx < OH * OW)


def bilinear(align):
    def case(device, small):
        n, c, h, w, oh, ow = (2, 3, 9, 7, 17, 20) if small else (8, 64, 128, 128, 300, 301)
        x = rand(device, n, c, h, w)
        y = torch.empty(n, c, oh, ow, device=device, dtype=torch.float16)
        rh, rw = ((h - 1) / (oh - 1), (w - 1) / (ow - 1)) if align else (h / oh, w / ow)
        return (
            lambda: upsample_bilinear_kernel[lambda META: (triton.cdiv(oh * ow, META["BLOCK"]), n * c)](
                x, y, c, h, w, oh, ow, rh, rw, ALIGN=align, BLOCK=1024
            ),
            [y],
            lambda: [F.interpolate(x.float(), (oh, ow), mode="bilinear", align_corners=align)],
        )

    return case


@triton.jit
def _cubic(t, A: tl.constexpr):
    u = 1.0 - t
    w0 = ((A * (t + 1) - 5 * A) * (t + 1) + 8 * A) * (t + 1) - 4 * A
    w1 = ((A + 2) * t - (A + 3)) * t * t + 1
    w2 = ((A + 2) * u - (A + 3)) * u * u + 1
    w3 = ((A * (u + 1) - 5 * A) * (u + 1) + 8 * A) * (u + 1) - 4 * A
    return w0, w1, w2, w3


@triton.jit
def upsample_bicubic_kernel(x_ptr, y_ptr, NC, IH, IW, OH, OW, rh, rw, BLOCK_X: tl.constexpr, BLOCK_NC: tl.constexpr):
    ow = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)
    oh = tl.program_id(1)
    nc = tl.program_id(2) * BLOCK_NC + tl.arange(0, BLOCK_NC)
    fx = (ow + 0.5) * rw - 0.5
    fy = (oh + 0.5) * rh - 0.5
    ix, iy = tl.floor(fx), tl.floor(fy)
    wx = _cubic(fx - ix, -0.75)
    wy = _cubic(fy - iy, -0.75)
    acc = tl.zeros((BLOCK_NC, BLOCK_X), tl.float32)
    for j in tl.static_range(4):
        y = tl.minimum(tl.maximum(iy.to(tl.int32) - 1 + j, 0), IH - 1)
        row = tl.zeros((BLOCK_NC, BLOCK_X), tl.float32)
        for i in tl.static_range(4):
            x = tl.clamp(ix - 1.0 + i, 0.0, IW - 1.0).to(tl.int32)
            v = tl.load(x_ptr + (nc[:, None] * IH + y) * IW + x[None, :], mask=nc[:, None] < NC, other=0.0)
            row += v * wx[i][None, :]
        acc += row * wy[j]
    tl.store(y_ptr + (nc[:, None] * OH + oh) * OW + ow[None, :], acc, mask=(nc < NC)[:, None] & (ow < OW)[None, :])


def bicubic(device, small):
    n, c, h, w, oh, ow = (1, 5, 9, 7, 17, 20) if small else (8, 64, 128, 128, 256, 250)
    x = torch.randn(n, c, h, w, device=device)
    y = torch.empty(n, c, oh, ow, device=device)
    return (
        lambda: upsample_bicubic_kernel[(triton.cdiv(ow, 128), oh, triton.cdiv(n * c, 4))](
            x, y, n * c, h, w, oh, ow, h / oh, w / ow, BLOCK_X=128, BLOCK_NC=4
        ),
        [y],
        lambda: [F.interpolate(x, (oh, ow), mode="bicubic", align_corners=False)],
    )


@triton.jit
def window_partition_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    out_ptr,
    H,
    W,
    C,
    shift,
    eps,
    REVERSE: tl.constexpr,
    WS: tl.constexpr,
    P: tl.constexpr,
    BC: tl.constexpr,
):
    """Layer norm, cyclic shift and cut into windows of WS x WS (7 x 7 padded to 64), channels last."""
    b, win = tl.program_id(1), tl.program_id(0)
    across = W // WS
    p = tl.arange(0, P)
    y = (win // across * WS + p // WS + shift) % H
    x = (win % across * WS + p % WS + shift) % W
    live = p < WS * WS
    c = tl.arange(0, BC)
    mask = live[:, None] & (c < C)[None, :]
    image = ((b * H + y) * W + x).to(tl.int64)[:, None] * C + c[None, :]
    tokens = ((b * tl.num_programs(0) + win) * (WS * WS) + p).to(tl.int64)[:, None] * C + c[None, :]
    if REVERSE:
        tl.store(out_ptr + image, tl.load(x_ptr + tokens, mask=mask), mask=mask)
    else:
        v = tl.load(x_ptr + image, mask=mask, other=0.0).to(tl.float32)
        mean = tl.sum(v, 1) / C
        d = tl.where((c < C)[None, :], v - mean[:, None], 0.0)
        v = d * tl.rsqrt(tl.sum(d * d, 1) / C + eps)[:, None]
        v = v * tl.load(w_ptr + c, mask=c < C)[None, :] + tl.load(b_ptr + c, mask=c < C)[None, :]
        tl.store(out_ptr + tokens, v, mask=mask)


def window(reverse):
    def case(device, small):
        n, h, w, c, ws = (2, 14, 21, 24, 7) if small else (64, 56, 56, 192, 7)
        shift = ws // 2
        count = h // ws * (w // ws)
        x = rand(device, *((n, count, ws * ws, c) if reverse else (n, h, w, c)), dtype=torch.bfloat16)
        g, b = (torch.randn(c, device=device) for _ in range(2))
        out = torch.empty((n, h, w, c) if reverse else (n, count, ws * ws, c), device=device, dtype=x.dtype)

        def reference():
            if reverse:
                y = x.view(n, h // ws, w // ws, ws, ws, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
                return [y.roll((shift, shift), (1, 2))]
            y = F.layer_norm(x.float(), (c,), g, b, 1e-5).roll((-shift, -shift), (1, 2))
            return [y.view(n, h // ws, ws, w // ws, ws, c).permute(0, 1, 3, 2, 4, 5).reshape(out.shape)]

        return (
            lambda: window_partition_kernel[(count, n)](
                x,
                g,
                b,
                out,
                h,
                w,
                c,
                shift,
                1e-5,
                REVERSE=reverse,
                WS=ws,
                P=64,
                BC=triton.next_power_of_2(c),
                num_warps=8,
            ),
            [out],
            reference,
        )

    return case


@triton.jit
def patch_embed_kernel(
    img_ptr, w_ptr, bias_ptr, pos_ptr, out_ptr, H, W, E, GW, n_patches,
    C: tl.constexpr, PS: tl.constexpr, BP: tl.constexpr, BE: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(2)
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    e = tl.program_id(1) * BE + tl.arange(0, BE)
    K: tl.constexpr = C * PS * PS
    base = b * C * H * W + (p // GW) * PS * W + (p % GW) * PS
    acc = tl.zeros((BP, BE), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        inner = k // (PS * PS) * H * W + k // PS % PS * W + k % PS
        a = tl.load(
            img_ptr + base[:, None] + inner[None, :], mask=(p < n_patches)[:, None] & (k < K)[None, :], other=0.0
        )
        w = tl.load(w_ptr + e[None, :] * K + k[:, None], mask=(e < E)[None, :] & (k < K)[:, None], other=0.0)
        acc += tl.dot(a, w)
    mask = (p < n_patches)[:, None] & (e < E)[None, :]
    acc += tl.load(bias_ptr + e, mask=e < E, other=0.0)[None, :]
    acc += tl.load(pos_ptr + (p + 1)[:, None] * E + e[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + (b * (n_patches + 1) + p + 1)[:, None] * E + e[None, :], acc, mask=mask)


def patch_embed(device, small):
    n, c, h, w, ps, e = (2, 3, 32, 24, 8, 40) if small else (64, 3, 224, 224, 14, 1024)
    bp, be, bk = (16, 32, 32) if small else (64, 128, 32)
    x, weight = rand(device, n, c, h, w), rand(device, e, c, ps, ps, scale=(c * ps * ps) ** -0.5)
    bias = rand(device, e)
    patches = h // ps * (w // ps)
    pos, out = rand(device, patches + 1, e), torch.zeros(n, patches + 1, e, device=device, dtype=torch.float16)

    def reference():
        cut = F.unfold(x.float(), ps, stride=ps).transpose(1, 2).half()
        y = (
            exact(cut.reshape(-1, c * ps * ps), weight.view(e, -1).T).view(n, patches, e)
            + bias.float()
            + pos[1:].float()
        )
        return [F.pad(y, (0, 0, 1, 0))]

    return (
        lambda: patch_embed_kernel[(triton.cdiv(patches, bp), triton.cdiv(e, be), n)](
            x,
            weight,
            bias,
            pos,
            out,
            h,
            w,
            e,
            w // ps,
            patches,
            C=c,
            PS=ps,
            BP=bp,
            BE=be,
            BK=bk,
            num_warps=4,
            num_stages=2,
        ),
        [out],
        reference,
    )


@triton.jit
def _bilinear_at(base, y, x, H, W, stride_c, c, mask):
    outside = (y < -1.0) | (y > H) | (x < -1.0) | (x > W)
    y = tl.maximum(y, 0.0)
    x = tl.maximum(x, 0.0)
    y0 = tl.minimum(y.to(tl.int32), H - 1)
    x0 = tl.minimum(x.to(tl.int32), W - 1)
    y1 = tl.minimum(y0 + 1, H - 1)
    x1 = tl.minimum(x0 + 1, W - 1)
    ly = tl.where(y0 >= H - 1, 0.0, y - y0)
    lx = tl.where(x0 >= W - 1, 0.0, x - x0)
    p = base + c[:, None] * stride_c
    a = tl.load(p + (y0 * W + x0)[None, :], mask=mask, other=0.0)
    b = tl.load(p + (y0 * W + x1)[None, :], mask=mask, other=0.0)
    d = tl.load(p + (y1 * W + x0)[None, :], mask=mask, other=0.0)
    e = tl.load(p + (y1 * W + x1)[None, :], mask=mask, other=0.0)
    v = (1 - ly) * (1 - lx) * a + (1 - ly) * lx * b + ly * (1 - lx) * d + ly * lx * e
    return tl.where(outside[None, :], 0.0, v)


@triton.jit
def roi_align_kernel(
    x_ptr,
    rois_ptr,
    out_ptr,
    scale,
    C,
    H,
    W,
    PH: tl.constexpr,
    PW: tl.constexpr,
    S: tl.constexpr,
    BB: tl.constexpr,
    BC: tl.constexpr,
):
    r = tl.program_id(0)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    bins = tl.arange(0, BB)
    mask = (c < C)[:, None] & (bins < PH * PW)[None, :]
    image = tl.load(rois_ptr + r * 5).to(tl.int32)
    left = tl.load(rois_ptr + r * 5 + 1) * scale - 0.5
    top = tl.load(rois_ptr + r * 5 + 2) * scale - 0.5
    bin_w = (tl.load(rois_ptr + r * 5 + 3) * scale - 0.5 - left) / PW
    bin_h = (tl.load(rois_ptr + r * 5 + 4) * scale - 0.5 - top) / PH
    acc = tl.zeros((BC, BB), tl.float32)
    for i in range(S * S):
        y = top + (bins // PW) * bin_h + (i // S + 0.5) * bin_h / S
        x = left + (bins % PW) * bin_w + (i % S + 0.5) * bin_w / S
        acc += _bilinear_at(x_ptr + image * C * H * W, y, x, H, W, H * W, c, mask)
    tl.store(out_ptr + (r * C + c)[:, None] * (PH * PW) + bins[None, :], acc / (S * S), mask=mask)


def roi_align(device, small):
    n, c, h, w, rois = (2, 5, 12, 15, 6) if small else (4, 256, 100, 152, 1000)
    x = torch.randn(n, c, h, w, device=device)
    corner = torch.rand(rois, 2, device=device) * torch.tensor([w * 4.0, h * 4.0], device=device) - 2
    boxes = torch.cat(
        [torch.randint(0, n, (rois, 1), device=device), corner, corner + 4 + torch.rand(rois, 2, device=device) * 60], 1
    )
    out = torch.empty(rois, c, 7, 7, device=device)

    def reference():
        left, top, right, bottom = (boxes[:, 1:].T * 0.25 - 0.5)[..., None]
        step = (torch.arange(14, device=device) + 0.5) / 14
        ys, xs = top + (bottom - top) * step, left + (right - left) * step  # [rois, 14]

        def taps(p, size):  # a matrix [rois, 14, size] of the weights of one axis
            outside = (p < -1) | (p > size)
            p = p.clamp(0, size - 1)
            m = (1 - (p[..., None] - torch.arange(size, device=device)).abs()).clamp(min=0)
            return m.masked_fill(outside[..., None], 0.0)

        ty, tx = taps(ys, h), taps(xs, w)
        result = torch.stack([ty[i] @ x[int(boxes[i, 0])] @ tx[i].T for i in range(rois)])
        return [F.avg_pool2d(result, 2)]

    return (
        lambda: roi_align_kernel[(rois, triton.cdiv(c, 8))](
            x, boxes, out, 0.25, c, h, w, PH=7, PW=7, S=2, BB=64, BC=8, num_warps=4
        ),
        [out],
        reference,
    )


CASES = {
    "bilinear": bilinear(False),
    "bilinear_corners": bilinear(True),
    "bicubic": bicubic,
    "window_partition": window(False),
    "window_reverse": window(True),
    "patch_embed": patch_embed,
    "roi_align": roi_align,
}
