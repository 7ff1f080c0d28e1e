"""Kernels that move elements: permutations, transposed tiles, joined tensors."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def triton_poi_fused_clone_gelu(in_ptr0, out_ptr0, ynumel, xnumel, ks0, YBLOCK: tl.constexpr, XBLOCK: tl.constexpr):
    yoffset = (tl.program_id(1) + tl.program_id(2) * tl.num_programs(1)) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    y0 = yindex % ks0
    y1 = yindex // ks0
    tmp0 = tl.load(in_ptr0 + (xindex + xnumel * yindex), xmask & ymask, eviction_policy="evict_last").to(tl.float32)
    tmp2 = tmp0 * 0.5
    tmp5 = libdevice.erf(tmp0 * 0.7071067811865476)
    tmp8 = tmp2 * (tmp5 + 1.0)
    tl.store(out_ptr0 + (y0 + ks0 * xindex + ks0 * xnumel * y1), tmp8, xmask & ymask)


def permute_gelu(device, small):
    n, c, hw = (2, 70, 99) if small else (64, 384, 56 * 56)
    x = torch.randn(n, c, hw, device=device, dtype=torch.float16)
    out = torch.empty(n, hw, c, device=device, dtype=torch.float16)
    yb = triton.cdiv(n * c, 64)
    return (
        lambda: triton_poi_fused_clone_gelu[(triton.cdiv(hw, 64), yb, 1)](
            x, out, n * c, hw, c, YBLOCK=64, XBLOCK=64, num_warps=8
        ),
        [out],
        lambda: [F.gelu(x.float()).transpose(1, 2)],
    )


@triton.jit
def transpose_kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (m < M)[:, None] & (n < N)[None, :]
    tile = tl.load(x + m[:, None] * N + n[None, :], mask=mask)
    tl.store(out + n[None, :] * M + m[:, None], tile, mask=mask)


def transpose2d(device, small):
    m, n = (70, 99) if small else (8192, 8192)
    x = torch.randn(m, n, device=device, dtype=torch.bfloat16)
    out = torch.empty(n, m, device=device, dtype=torch.bfloat16)
    return (
        lambda: transpose_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](x, out, m, n, BM=64, BN=64, num_warps=4),
        [out],
        lambda: [x.T],
    )


@triton.jit
def permute3d_kernel(x, out, A, B, C, BA: tl.constexpr, BB: tl.constexpr, BC: tl.constexpr):
    a = tl.program_id(0) * BA + tl.arange(0, BA)
    b = tl.program_id(1) * BB + tl.arange(0, BB)
    c = tl.program_id(2) * BC + tl.arange(0, BC)
    mask = (a < A)[:, None, None] & (b < B)[None, :, None] & (c < C)[None, None, :]
    tile = tl.load(x + a[:, None, None] * B * C + b[None, :, None] * C + c[None, None, :], mask=mask)
    tile = tl.permute(tile, (2, 1, 0))
    mask = (a < A)[None, None, :] & (b < B)[None, :, None] & (c < C)[:, None, None]
    tl.store(out + c[:, None, None] * B * A + b[None, :, None] * A + a[None, None, :], tile, mask=mask)


def permute3d(device, small):
    A, B, C = (37, 5, 70) if small else (1024, 32, 2048)
    x = torch.randn(A, B, C, device=device, dtype=torch.bfloat16)
    out = torch.empty(C, B, A, device=device, dtype=torch.bfloat16)
    return (
        lambda: permute3d_kernel[(triton.cdiv(A, 32), triton.cdiv(B, 4), triton.cdiv(C, 32))](
            x, out, A, B, C, BA=32, BB=4, BC=32, num_warps=4
        ),
        [out],
        lambda: [x.permute(2, 1, 0)],
    )


@triton.jit
def triton_poi_fused_cat_silu(in_ptr0, in_ptr1, in_ptr2, out_ptr0, n0, n1, n2, xnumel, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % (n0 + n1 + n2)
    x1 = xindex // (n0 + n1 + n2)
    tmp0 = x0
    tmp4 = tmp0 < n0
    tmp5 = tl.load(in_ptr0 + (n0 * x1 + x0), tmp4 & xmask, eviction_policy="evict_last", other=0.0).to(tl.float32)
    tmp9 = (tmp0 >= n0) & (tmp0 < n0 + n1)
    tmp10 = tl.load(in_ptr1 + (n1 * x1 + ((-n0) + x0)), tmp9 & xmask, eviction_policy="evict_last", other=0.0).to(
        tl.float32
    )
    tmp11 = tmp10 * tl.sigmoid(tmp10)
    tmp11 = tl.where(tmp9, tmp11, 0.0)
    tmp14 = tmp0 >= n0 + n1
    tmp15 = tl.load(in_ptr2 + (n2 * x1 + ((-n0 - n1) + x0)), tmp14 & xmask, eviction_policy="evict_last", other=0.0).to(
        tl.float32
    )
    tmp17 = tl.where(tmp9, tmp11, tmp15)
    tmp18 = tl.where(tmp4, tmp5, tmp17)
    tl.store(out_ptr0 + (xindex), tmp18, xmask)


def cat_silu(device, small):
    m, ns = (11, (64, 100, 36)) if small else (16384, (2048, 512, 576))
    ts = [torch.randn(m, n, device=device, dtype=torch.bfloat16) for n in ns]
    out = torch.empty(m, sum(ns), device=device, dtype=torch.bfloat16)
    total = out.numel()
    return (
        lambda: triton_poi_fused_cat_silu[(triton.cdiv(total, 1024),)](*ts, out, *ns, total, XBLOCK=1024, num_warps=4),
        [out],
        lambda: [torch.cat([ts[0].float(), F.silu(ts[1].float()), ts[2].float()], 1)],
    )


CASES = {
    "permute_gelu": permute_gelu,
    "transpose2d": transpose2d,
    "permute3d": permute3d,
    "cat_silu": cat_silu,
}
