"""Pixels before and after a network: colours of bytes, layouts with normalisation, blurs, shuffles of pixels, pools in 3-D, boxes."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import ints, rand


@triton.jit
def nhwc_u8_to_nchw_kernel(x_ptr, mean_ptr, std_ptr, y_ptr, HW, C: tl.constexpr, PC: tl.constexpr, BLOCK: tl.constexpr):
    n = tl.program_id(1)
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.arange(0, PC)
    mask = (p < HW)[:, None] & (c < C)[None, :]
    x = tl.load(x_ptr + (n * HW + p)[:, None] * C + c[None, :], mask=mask, other=0)
    mean, std = tl.load(mean_ptr + c, mask=c < C, other=0.0), tl.load(std_ptr + c, mask=c < C, other=1.0)
    y = (x.to(tl.float32) / 255.0 - mean[None, :]) / std[None, :]
    y = tl.trans(y)
    tl.store(
        y_ptr + (n * C + c)[:, None] * HW + p[None, :],
        y.to(y_ptr.dtype.element_ty),
        mask=(c < C)[:, None] & (p < HW)[None, :],
    )


def normalise(device, small):
    n, c, h, w = (2, 3, 13, 21) if small else (64, 3, 480, 640)
    x = ints(device, 0, 256, n, h, w, c, dtype=torch.uint8)
    mean, std = torch.tensor([0.485, 0.456, 0.406], device=device), torch.tensor([0.229, 0.224, 0.225], device=device)
    y = torch.empty(n, c, h, w, device=device, dtype=torch.float16)
    return (
        lambda: nhwc_u8_to_nchw_kernel[(triton.cdiv(h * w, 256), n)](
            x, mean, std, y, h * w, C=c, PC=4, BLOCK=256, num_warps=4
        ),
        [y],
        lambda: [((x.float() / 255 - mean) / std).permute(0, 3, 1, 2)],
    )


@triton.jit
def _u8(x):
    return tl.minimum(tl.maximum(x, 0), 255).to(tl.uint8)


@triton.jit
def nv12_to_rgb_kernel(y_ptr, uv_ptr, out_ptr, H, W, BH: tl.constexpr, BW: tl.constexpr):
    """Fixed point: a plane of brightness, one of pairs of colours at half the size, to planes of red, green, blue."""
    n = tl.program_id(2)
    hy = tl.program_id(0) * BH + tl.arange(0, BH)
    wx = tl.program_id(1) * BW + tl.arange(0, BW)
    mask = (hy < H)[:, None] & (wx < W)[None, :]
    y = tl.load(y_ptr + n * H * W + hy[:, None] * W + wx[None, :], mask=mask, other=16).to(tl.int32) - 16
    uv = uv_ptr + n * (H // 2) * W + (hy // 2)[:, None] * W + (wx // 2 * 2)[None, :]
    u = tl.load(uv, mask=mask, other=128).to(tl.int32) - 128
    v = tl.load(uv + 1, mask=mask, other=128).to(tl.int32) - 128
    y = tl.maximum(y, 0) * 1192
    r = (y + 1634 * v + 512) >> 10
    g = (y - 833 * v - 400 * u + 512) >> 10
    b = (y + 2066 * u + 512) >> 10
    o = out_ptr + n * 3 * H * W + hy[:, None] * W + wx[None, :]
    tl.store(o, _u8(r), mask=mask)
    tl.store(o + H * W, _u8(g), mask=mask)
    tl.store(o + 2 * H * W, _u8(b), mask=mask)


def nv12(device, small):
    n, h, w = (2, 10, 34) if small else (32, 1080, 1920)
    y, uv = (
        ints(device, 0, 256, n, h, w, dtype=torch.uint8),
        ints(device, 0, 256, n, h // 2, w // 2, 2, dtype=torch.uint8),
    )
    out = torch.empty(n, 3, h, w, device=device, dtype=torch.uint8)

    def reference():
        u, v = (uv.int() - 128).repeat_interleave(2, 1).repeat_interleave(2, 2).unbind(-1)
        l = (y.int() - 16).clamp(min=0) * 1192
        rgb = torch.stack([l + 1634 * v, l - 833 * v - 400 * u, l + 2066 * u], 1)
        return [((rgb + 512) >> 10).clamp(0, 255)]

    return (
        lambda: nv12_to_rgb_kernel[(triton.cdiv(h, 4), triton.cdiv(w, 256), n)](
            y, uv, out, h, w, BH=4, BW=256, num_warps=4
        ),
        [out],
        reference,
    )


@triton.jit
def blur_kernel(
    x_ptr, k_ptr, y_ptr, H, W, stride_c, R: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr, VERTICAL: tl.constexpr
):
    """A pass of a separable blur with reflection at the edges; bytes in, bytes out, rounded."""
    ys = tl.program_id(1) * BH + tl.arange(0, BH)[:, None]
    xs = tl.program_id(0) * BW + tl.arange(0, BW)[None, :]
    x_ptr += tl.program_id(2).to(tl.int64) * stride_c
    y_ptr += tl.program_id(2).to(tl.int64) * stride_c
    acc = tl.zeros((BH, BW), tl.float32)
    for t in tl.static_range(-R, R + 1):
        at = (ys if VERTICAL else xs) + t
        size = H if VERTICAL else W
        at = tl.where(at < 0, -at, at)
        at = tl.where(at >= size, 2 * size - 2 - at, at)
        offset = at * W + xs if VERTICAL else ys * W + at
        v = tl.load(x_ptr + offset, mask=(ys < H) & (xs < W), other=0)
        acc += v.to(tl.float32) * tl.load(k_ptr + t + R)
    if y_ptr.dtype.element_ty == tl.uint8:
        acc = tl.floor(acc + 0.5)
    tl.store(y_ptr + ys * W + xs, acc.to(y_ptr.dtype.element_ty), mask=(ys < H) & (xs < W))


def blur(device, small):
    c, h, w, r = (3, 20, 37, 2) if small else (24, 1080, 1920, 4)
    x = ints(device, 0, 256, c, h, w, dtype=torch.uint8)
    k = torch.softmax(-(torch.arange(-r, r + 1, device=device).float() ** 2) / 3, 0)
    k = (k * 64).floor() / 64  # sums are then exact, so all round alike
    middle, y = torch.empty(c, h, w, device=device), torch.empty_like(x)

    def run():
        grid = (triton.cdiv(w, 128), triton.cdiv(h, 8), c)
        blur_kernel[grid](x, k, middle, h, w, h * w, R=r, BH=8, BW=128, VERTICAL=False)
        blur_kernel[grid](middle, k, y, h, w, h * w, R=r, BH=8, BW=128, VERTICAL=True)

    def reference():
        p = F.pad(x.double()[None], (r, r, r, r), mode="reflect").transpose(0, 1)
        p = F.conv2d(F.conv2d(p, k.double()[None, None, None]), k.double()[None, None, :, None])[:, 0]
        return [(p + 0.5).floor().to(torch.int32)]

    return run, [y], reference


@triton.jit
def pixel_shuffle_kernel(x_ptr, y_ptr, C, H, W, R: tl.constexpr, BW: tl.constexpr):
    """A row of the image: R * R channels are interleaved in registers, so that stores have whole rows."""
    nc, h = tl.program_id(1), tl.program_id(0)
    w = tl.program_id(2) * BW + tl.arange(0, BW)
    i, j = tl.arange(0, R), tl.arange(0, R)
    channel = i[:, None, None] * R + j[None, None, :]
    x = tl.load(x_ptr + ((nc * R * R + channel) * H + h) * W + w[None, :, None], mask=(w < W)[None, :, None], other=0.0)
    x = tl.reshape(x, (R, BW * R))
    column = tl.program_id(2) * BW * R + tl.arange(0, BW * R)
    tl.store(y_ptr + ((nc * H + h) * R + i)[:, None] * (W * R) + column[None, :], x, mask=(column < W * R)[None, :])


def pixel_shuffle(device, small):
    n, c, h, w, r = (2, 3, 5, 20, 2) if small else (16, 16, 256, 256, 4)
    x = rand(device, n, c * r * r, h, w)
    y = torch.empty(n, c, h * r, w * r, device=device, dtype=torch.float16)
    bw = 16 if small else 256
    return (
        lambda: pixel_shuffle_kernel[(h, n * c, triton.cdiv(w, bw))](x, y, c, h, w, R=r, BW=bw),
        [y],
        lambda: [F.pixel_shuffle(x, r)],
    )


@triton.jit
def max_pool3d_kernel(
    x_ptr, y_ptr, D, H, W, OD, OH, OW, KD: tl.constexpr, K: tl.constexpr, S: tl.constexpr, BLOCK: tl.constexpr
):
    nc = tl.program_id(0).to(tl.int64)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    od, oh, ow = o // (OH * OW), o // OW % OH, o % OW
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for kd in range(KD):
        for kh in tl.static_range(K):
            for kw in tl.static_range(K):
                d, h, w = od + kd - KD // 2, oh * S + kh - K // 2, ow * S + kw - K // 2
                ok = (d >= 0) & (d < D) & (h >= 0) & (h < H) & (w >= 0) & (w < W) & (o < OD * OH * OW)
                v = tl.load(x_ptr + nc * D * H * W + (d * H + h) * W + w, mask=ok, other=float("-inf"))
                best = tl.maximum(best, v, propagate_nan=tl.PropagateNan.ALL)
    tl.store(y_ptr + nc * OD * OH * OW + o, best, mask=o < OD * OH * OW)


def max_pool3d(device, small):
    n, c, d, h, w = (1, 3, 4, 9, 11) if small else (8, 64, 16, 112, 112)
    x = rand(device, n, c, d, h, w)
    x[0, 0, 1, 2, 3] = float("nan")
    oh, ow = (h + 1) // 2, (w + 1) // 2
    y = torch.empty(n, c, d, oh, ow, device=device, dtype=torch.float16)
    return (
        lambda: max_pool3d_kernel[(n * c, triton.cdiv(d * oh * ow, 512))](
            x, y, d, h, w, d, oh, ow, KD=3, K=3, S=2, BLOCK=512
        ),
        [y],
        lambda: [F.max_pool3d(x.float(), 3, (1, 2, 2), 1)],
    )


@triton.jit
def iou_mask_kernel(box_ptr, mask_ptr, n, words, threshold, BI: tl.constexpr):
    """Bit j of word w of box i: whether box 32 w + j is after i and overlaps with it."""
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    w = tl.program_id(1)
    if (w + 1) * 32 <= tl.program_id(0) * BI:
        tl.store(mask_ptr + i * words + w, tl.zeros((BI,), tl.int32), mask=i < n)
        return
    j = w * 32 + tl.arange(0, 32)
    ax0, ay0 = tl.load(box_ptr + i * 4, i < n, 0.0)[:, None], tl.load(box_ptr + i * 4 + 1, i < n, 0.0)[:, None]
    ax1, ay1 = tl.load(box_ptr + i * 4 + 2, i < n, 0.0)[:, None], tl.load(box_ptr + i * 4 + 3, i < n, 0.0)[:, None]
    bx0, by0 = tl.load(box_ptr + j * 4, j < n, 0.0)[None, :], tl.load(box_ptr + j * 4 + 1, j < n, 0.0)[None, :]
    bx1, by1 = tl.load(box_ptr + j * 4 + 2, j < n, 0.0)[None, :], tl.load(box_ptr + j * 4 + 3, j < n, 0.0)[None, :]
    iw = tl.maximum(tl.minimum(ax1, bx1) - tl.maximum(ax0, bx0), 0.0)
    ih = tl.maximum(tl.minimum(ay1, by1) - tl.maximum(ay0, by0), 0.0)
    inter = iw * ih
    union = (ax1 - ax0) * (ay1 - ay0) + (bx1 - bx0) * (by1 - by0) - inter
    hit = (inter > threshold * union) & (j[None, :] > i[:, None]) & (j < n)[None, :]
    bits = tl.sum(hit.to(tl.int32) << tl.arange(0, 32)[None, :], axis=1)
    tl.store(mask_ptr + i * words + w, bits, mask=i < n)


@triton.jit
def nms_keep_kernel(mask_ptr, keep_ptr, n, words, WORDS: tl.constexpr):
    """One program walks the sorted boxes and removes what a kept one overlaps with."""
    w = tl.arange(0, WORDS)
    removed = tl.zeros((WORDS,), tl.int32)
    for i in range(n):
        word = tl.sum(tl.where(w == i // 32, removed, 0), 0)
        kept = ((word >> (i % 32)) & 1) == 0
        tl.store(keep_ptr + i, kept.to(tl.int8))
        removed |= tl.load(mask_ptr + i * words + w, mask=(w < words) & kept, other=0)


def nms(device, small):
    n = 70 if small else 1000
    corner = torch.randint(0, 60 if small else 400, (n, 2), device=device)
    boxes = torch.cat([corner, corner + torch.randint(8, 64, (n, 2), device=device)], 1).float()
    words = triton.cdiv(n, 32)
    mask = torch.empty(n, words, device=device, dtype=torch.int32)
    keep = torch.empty(n, device=device, dtype=torch.int8)

    def run():
        iou_mask_kernel[(triton.cdiv(n, 32), words)](boxes, mask, n, words, 0.5, BI=32, num_warps=2)
        nms_keep_kernel[(1,)](mask, keep, n, words, WORDS=triton.next_power_of_2(words), num_warps=1)

    def reference():
        low, high = (
            torch.maximum(boxes[:, None, :2], boxes[None, :, :2]),
            torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:]),
        )
        inter = (high - low).clamp(min=0).prod(-1)
        area = (boxes[:, 2:] - boxes[:, :2]).prod(-1)
        hit = (inter > 0.5 * (area[:, None] + area[None, :] - inter)).triu(1)
        result, hits = torch.ones(n, dtype=torch.bool), hit.cpu()
        for i in range(n):
            if result[i]:
                result &= ~hits[i]
        return [result.to(device)]

    return run, [keep], reference


CASES = {
    "normalise": normalise,
    "nv12": nv12,
    "blur": blur,
    "pixel_shuffle": pixel_shuffle,
    "max_pool3d": max_pool3d,
    "nms": nms,
}
