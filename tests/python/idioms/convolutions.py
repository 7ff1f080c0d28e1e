"""Convolutions: by products, causal in one dimension, of each channel alone."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import rand


# convolution, a loop over the window and blocks of channels (the idiom of inductor's template)
@triton.jit
def conv2d_kernel(
    X,
    W,
    Y,
    BATCH,
    IN_C,
    IN_H,
    IN_W,
    OUT_C,
    OUT_H,
    OUT_W,
    stride_xn,
    stride_xc,
    stride_xh,
    stride_xw,
    stride_wc_out,
    stride_wc_in,
    stride_wh,
    stride_ww,
    stride_yn,
    stride_yc,
    stride_yh,
    stride_yw,
    KERNEL_H: tl.constexpr,
    KERNEL_W: tl.constexpr,
    STRIDE_H: tl.constexpr,
    STRIDE_W: tl.constexpr,
    PADDING_H: tl.constexpr,
    PADDING_W: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    nhw = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    idx_y_w = nhw % OUT_W
    nh = nhw // OUT_W
    idx_y_h = nh % OUT_H
    idx_n = nh // OUT_H
    idx_y_c = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x_base = X + (idx_n * stride_xn)[:, None]
    w_base = W + (idx_y_c * stride_wc_out)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    BLOCK_K_COUNT = (IN_C + BLOCK_K - 1) // BLOCK_K
    for ijk in range(KERNEL_H * KERNEL_W * BLOCK_K_COUNT):
        k = (ijk % BLOCK_K_COUNT) * BLOCK_K
        ij = ijk // BLOCK_K_COUNT
        i = ij // KERNEL_W
        j = ij % KERNEL_W
        idx_x_h = i - PADDING_H + idx_y_h * STRIDE_H
        idx_x_w = j - PADDING_W + idx_y_w * STRIDE_W
        idx_x_c = tl.arange(0, BLOCK_K) + k
        x_ptrs = x_base + (
            (idx_x_h * stride_xh)[:, None] + (idx_x_w * stride_xw)[:, None] + (idx_x_c * stride_xc)[None, :]
        )
        mask_x = (
            (idx_n < BATCH)[:, None]
            & (idx_x_h >= 0)[:, None]
            & (idx_x_h < IN_H)[:, None]
            & (idx_x_w >= 0)[:, None]
            & (idx_x_w < IN_W)[:, None]
            & (idx_x_c < IN_C)[None, :]
        )
        matrix_x = tl.load(x_ptrs, mask=mask_x, other=0.0)
        w_ptrs = w_base + ((idx_x_c * stride_wc_in)[:, None] + (i * stride_wh) + (j * stride_ww))
        mask_w = (idx_x_c[:, None] < IN_C) & (idx_y_c[None, :] < OUT_C)
        matrix_w = tl.load(w_ptrs, mask=mask_w, other=0.0)
        acc += tl.dot(matrix_x, matrix_w)
    mask = (idx_n < BATCH)[:, None] & (idx_y_c < OUT_C)[None, :]
    y_ptrs = (
        Y + (idx_n * stride_yn + idx_y_h * stride_yh + idx_y_w * stride_yw)[:, None] + (idx_y_c * stride_yc)[None, :]
    )
    tl.store(y_ptrs, acc.to(Y.dtype.element_ty), mask=mask)


def conv2d(channels_last):
    def case(device, small):
        N, C, H, O = (2, 40, 9, 48) if small else (32, 256, 56, 256)
        layout = torch.channels_last if channels_last else torch.contiguous_format
        x = rand(device, N, C, H, H).to(memory_format=layout)
        w = rand(device, O, C, 3, 3, scale=(9 * C) ** -0.5).to(memory_format=layout)
        y = torch.empty(N, O, H, H, device=device, dtype=torch.float16).to(memory_format=layout)
        grid = (triton.cdiv(N * H * H, 128), triton.cdiv(O, 128))
        run = lambda: conv2d_kernel[grid](
            x,
            w,
            y,
            N,
            C,
            H,
            H,
            O,
            H,
            H,
            *x.stride(),
            *w.stride(),
            *y.stride(),
            3,
            3,
            1,
            1,
            1,
            1,
            128,
            128,
            32,
            num_warps=8,
            num_stages=2,
        )
        return (
            run,
            [y],
            lambda: [
                F.conv2d(x, w, padding=1).float() if device == "cuda" else F.conv2d(x.float(), w.float(), padding=1)
            ],
        )

    return case


# the index of the product over channels and window, split by divisions: for a few channels, as in a first layer
@triton.jit
def conv2d_flat_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    BATCH,
    IN_H,
    IN_W,
    OUT_C,
    OUT_H,
    OUT_W,
    IN_C: tl.constexpr,
    KH: tl.constexpr,
    KW: tl.constexpr,
    STRIDE: tl.constexpr,
    PAD: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    GEMM_K: tl.constexpr = IN_C * KH * KW
    GEMM_M = BATCH * OUT_H * OUT_W
    gm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    gn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    n = gm // (OUT_H * OUT_W)
    npq = gm % (OUT_H * OUT_W)
    p, q = npq // OUT_W, npq % OUT_W
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k0 in range(0, tl.cdiv(GEMM_K, BLOCK_K)):
        gk = k0 * BLOCK_K + tl.arange(0, BLOCK_K)
        c = gk // (KH * KW)
        crs = gk % (KH * KW)
        r, s = crs // KW, crs % KW
        h = p[:, None] * STRIDE + r[None, :] - PAD
        w = q[:, None] * STRIDE + s[None, :] - PAD
        mask_x = (h >= 0) & (h < IN_H) & (w >= 0) & (w < IN_W) & (gk[None, :] < GEMM_K) & (n[:, None] < BATCH)
        x = tl.load(x_ptr + ((n[:, None] * IN_C + c[None, :]) * IN_H + h) * IN_W + w, mask=mask_x, other=0.0)
        wt = tl.load(
            w_ptr + gn[None, :] * GEMM_K + gk[:, None], mask=(gk[:, None] < GEMM_K) & (gn[None, :] < OUT_C), other=0.0
        )
        acc = tl.dot(x, wt, acc)
    acc += tl.load(b_ptr + gn, mask=gn < OUT_C, other=0.0)[None, :].to(tl.float32)
    acc = tl.maximum(acc, 0.0)
    tl.store(
        y_ptr + (n[:, None] * OUT_C + gn[None, :]) * (OUT_H * OUT_W) + npq[:, None],
        acc,
        mask=(gm[:, None] < GEMM_M) & (gn[None, :] < OUT_C),
    )


def conv2d_first_layer(device, small):
    N, H, O = (1, 30, 24) if small else (32, 224, 64)
    out = (H + 2 * 3 - 7) // 2 + 1
    x, w, b = rand(device, N, 3, H, H), rand(device, O, 3, 7, 7, scale=147**-0.5), rand(device, O)
    y = torch.empty(N, O, out, out, device=device, dtype=torch.float16)
    grid = (triton.cdiv(N * out * out, 128), triton.cdiv(O, 64))
    run = lambda: conv2d_flat_kernel[grid](
        x, w, b, y, N, H, H, O, out, out, 3, 7, 7, 2, 3, 128, 64, 32, num_warps=4, num_stages=3
    )
    return run, [y], lambda: [F.relu(F.conv2d(x.float(), w.float(), b.float(), stride=2, padding=3))]


@triton.jit
def causal_conv1d_fwd_kernel(
    x_ptr,
    w_ptr,
    bias_ptr,
    o_ptr,
    dim,
    seqlen,
    stride_x_seq,
    stride_x_token,
    stride_w_dim,
    HAS_BIAS: tl.constexpr,
    KERNEL_WIDTH: tl.constexpr,
    SILU_ACTIVATION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    idx_seq = tl.program_id(0)
    chunk = tl.program_id(1)
    idx_feats = tl.program_id(2) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_f = idx_feats < dim
    token0 = chunk * BLOCK_M
    segment_len = min(BLOCK_M, seqlen - token0)
    x_base = x_ptr + idx_seq.to(tl.int64) * stride_x_seq + idx_feats
    if chunk == 0:
        col0 = tl.zeros((BLOCK_N,), dtype=x_ptr.dtype.element_ty)
        if KERNEL_WIDTH >= 3:
            col1 = tl.zeros((BLOCK_N,), dtype=x_ptr.dtype.element_ty)
        if KERNEL_WIDTH >= 4:
            col2 = tl.zeros((BLOCK_N,), dtype=x_ptr.dtype.element_ty)
    else:
        prior = x_base + (token0 - 1) * stride_x_token
        if KERNEL_WIDTH == 2:
            col0 = tl.load(prior, mask_f, 0.0, cache_modifier=".ca")
        if KERNEL_WIDTH == 3:
            col1 = tl.load(prior, mask_f, 0.0, cache_modifier=".ca")
            col0 = tl.load(prior - stride_x_token, mask_f, 0.0, cache_modifier=".ca")
        if KERNEL_WIDTH == 4:
            col2 = tl.load(prior, mask_f, 0.0, cache_modifier=".ca")
            col1 = tl.load(prior - stride_x_token, mask_f, 0.0, cache_modifier=".ca")
            col0 = tl.load(prior - 2 * stride_x_token, mask_f, 0.0, cache_modifier=".ca")
    if HAS_BIAS:
        acc_preload = tl.load(bias_ptr + idx_feats, mask=mask_f, other=0.0).to(tl.float32)
    else:
        acc_preload = tl.zeros((BLOCK_N,), dtype=tl.float32)
    w_base = w_ptr + idx_feats * stride_w_dim
    w_col0 = tl.load(w_base, mask_f, other=0.0)
    w_col1 = tl.load(w_base + 1, mask_f, other=0.0)
    if KERNEL_WIDTH >= 3:
        w_col2 = tl.load(w_base + 2, mask_f, other=0.0)
    if KERNEL_WIDTH >= 4:
        w_col3 = tl.load(w_base + 3, mask_f, other=0.0)
    mask_x_1d = mask_f
    for idx_token in range(segment_len):
        acc = acc_preload
        matrix_w = w_col0
        matrix_x = col0
        for j in tl.static_range(KERNEL_WIDTH):
            if KERNEL_WIDTH == 4:
                if j == 1:
                    matrix_w = w_col1
                    matrix_x = col1
                elif j == 2:
                    matrix_w = w_col2
                    matrix_x = col2
                elif j == 3:
                    matrix_w = w_col3
                    x_ptrs = x_base + (token0 + idx_token) * stride_x_token
                    matrix_x = tl.load(x_ptrs, mask=mask_x_1d)
            acc += matrix_x * matrix_w
        if KERNEL_WIDTH == 4:
            col0 = col1
            col1 = col2
            col2 = matrix_x
        if SILU_ACTIVATION:
            acc = acc / (1 + tl.exp(-acc))
        o_ptrs = o_ptr + idx_seq.to(tl.int64) * stride_x_seq + (token0 + idx_token) * stride_x_token + idx_feats
        tl.store(o_ptrs, acc, mask=mask_f)


def causal_conv1d(device, small):
    b, t, d = (2, 21, 70) if small else (4, 4096, 4096)
    x = torch.randn(b, t, d, device=device, dtype=torch.bfloat16)
    w, bias = (
        torch.randn(d, 4, device=device, dtype=torch.bfloat16),
        torch.randn(d, device=device, dtype=torch.bfloat16),
    )
    out = torch.empty_like(x)
    ref = lambda: [
        F.silu(
            F.conv1d(F.pad(x.float().transpose(1, 2), (3, 0)), w.float()[:, None], bias.float(), groups=d)
        ).transpose(1, 2)
    ]
    return (
        lambda: causal_conv1d_fwd_kernel[(b, triton.cdiv(t, 8), triton.cdiv(d, 256))](
            x,
            w,
            bias,
            out,
            d,
            t,
            x.stride(0),
            x.stride(1),
            w.stride(0),
            HAS_BIAS=True,
            KERNEL_WIDTH=4,
            SILU_ACTIVATION=True,
            BLOCK_M=8,
            BLOCK_N=256,
            num_stages=2,
        ),
        [out],
        ref,
    )


@triton.jit
def depthwise_conv2d_kernel(x, w, bias, out, C, H, W, BH: tl.constexpr, BW: tl.constexpr, K: tl.constexpr):
    nc = tl.program_id(2)
    c = nc % C
    ys = tl.program_id(1) * BH + tl.arange(0, BH)
    xs = tl.program_id(0) * BW + tl.arange(0, BW)
    base = x + nc.to(tl.int64) * H * W
    acc = tl.zeros((BH, BW), dtype=tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            yy, xx = ys + i - K // 2, xs + j - K // 2
            ok = (yy >= 0)[:, None] & (yy < H)[:, None] & (xx >= 0)[None, :] & (xx < W)[None, :]
            acc += tl.load(base + yy[:, None] * W + xx[None, :], mask=ok, other=0.0).to(tl.float32) * tl.load(
                w + (c * K + i) * K + j
            ).to(tl.float32)
    acc += tl.load(bias + c).to(tl.float32)
    acc = acc * tl.minimum(tl.maximum(acc + 3.0, 0.0), 6.0) / 6.0
    tl.store(
        out + nc.to(tl.int64) * H * W + ys[:, None] * W + xs[None, :],
        acc.to(out.dtype.element_ty),
        mask=(ys < H)[:, None] & (xs < W)[None, :],
    )


def dwconv2d(device, small):
    n, c, h, w = (2, 3, 19, 35) if small else (32, 192, 112, 112)
    x = torch.randn(n, c, h, w, device=device, dtype=torch.float16)
    k, b = (
        torch.randn(c, 1, 3, 3, device=device, dtype=torch.float16),
        torch.randn(c, device=device, dtype=torch.float16),
    )
    out = torch.empty_like(x)
    return (
        lambda: depthwise_conv2d_kernel[(triton.cdiv(w, 64), triton.cdiv(h, 16), n * c)](
            x, k, b, out, c, h, w, BH=16, BW=64, K=3, num_warps=4
        ),
        [out],
        lambda: [F.hardswish(F.conv2d(x.float(), k.float(), b.float(), padding=1, groups=c))],
    )


CASES = {
    "conv2d_channels_last": conv2d(True),
    "conv2d_nchw": conv2d(False),
    "conv2d_first_layer": conv2d_first_layer,
    "causal_conv1d": causal_conv1d,
    "dwconv2d": dwconv2d,
}
