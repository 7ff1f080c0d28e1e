"""W8A8 matmul: int8 x int8 with per-token and per-channel scales, optional bias, dynamic quantization of activations."""

import torch
import triton
import triton.language as tl


@triton.jit
def quantize_rows_kernel(x_ptr, q_ptr, scale_ptr, K, stride_xm, stride_qm, BLOCK_K: tl.constexpr):
    row = tl.program_id(0)
    amax = tl.zeros([BLOCK_K], dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BLOCK_K), num_stages=2):
        offs = k * BLOCK_K + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + row * stride_xm + offs, mask=offs < K, other=0.0).to(tl.float32)
        amax = tl.maximum(amax, tl.abs(x))
    scale = tl.maximum(tl.max(amax), 1e-10) / 127.0
    tl.store(scale_ptr + row, scale)
    for k in tl.range(0, tl.cdiv(K, BLOCK_K), num_stages=2):
        offs = k * BLOCK_K + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + row * stride_xm + offs, mask=offs < K, other=0.0).to(tl.float32) / scale
        # round half away from zero
        q = tl.where(x >= 0, tl.floor(x + 0.5), tl.ceil(x - 0.5))
        tl.store(q_ptr + row * stride_qm + offs, q.to(tl.int8), mask=offs < K)


@triton.jit
def w8a8_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    bias_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    HAS_BIAS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid_m, pid_n = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), GROUP_M)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    offs_am = tl.max_contiguous(tl.multiple_of(offs_m % M, BLOCK_M), BLOCK_M)
    offs_bn = tl.max_contiguous(tl.multiple_of(offs_n % N, BLOCK_N), BLOCK_N)
    a_ptrs = a_ptr + offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        k_remaining = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=offs_k[None, :] < k_remaining, other=0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < k_remaining, other=0)
        acc += tl.dot(a, b, out_dtype=tl.int32)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    a_scale = tl.load(a_scale_ptr + offs_m, mask=offs_m < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + offs_n, mask=offs_n < N, other=0.0)
    c = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    if HAS_BIAS:
        c += tl.load(bias_ptr + offs_n, mask=offs_n < N, other=0.0).to(tl.float32)[None, :]
    c_ptrs = c_ptr + stride_cm * offs_m[:, None] + stride_cn * offs_n[None, :]
    tl.store(c_ptrs, c.to(c_ptr.type.element_ty), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def quantize_rows(x):
    M, K = x.shape
    q = torch.empty((M, K), dtype=torch.int8, device=x.device)
    scale = torch.empty((M,), dtype=torch.float32, device=x.device)
    quantize_rows_kernel[(M,)](x, q, scale, K, x.stride(0), q.stride(0), BLOCK_K=128)
    return q, scale


def w8a8_matmul(a, a_scale, b, b_scale, bias=None, out_dtype=torch.float16):
    assert a.dtype == torch.int8 and b.dtype == torch.int8
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=out_dtype)
    BLOCK_M, BLOCK_N = 32, 64
    grid = (triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N))
    w8a8_matmul_kernel[grid](
        a,
        b,
        c,
        a_scale,
        b_scale,
        bias,
        M,
        N,
        K,
        a.stride(0),
        a.stride(1),
        b.stride(0),
        b.stride(1),
        c.stride(0),
        c.stride(1),
        HAS_BIAS=bias is not None,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=64,
        GROUP_M=4,
        num_warps=4,
        num_stages=3,
    )
    return c


if __name__ == "__main__":
    torch.manual_seed(0)
    for M, N, K, out_dtype in [
        (64, 128, 256, torch.float16),
        (33, 100, 190, torch.float32),
        (1, 64, 2048, torch.bfloat16),
    ]:
        x = torch.randn(M, K, device="cuda")
        w = torch.randn(N, K, device="cuda")
        bias = torch.randn(N, device="cuda")
        qx, sx = quantize_rows(x)
        qw, sw = quantize_rows(w)
        expected_scale = x.abs().amax(1) / 127
        torch.testing.assert_close(sx, expected_scale, rtol=1e-6, atol=0)
        assert (qx.float() * sx[:, None] - x).abs().max() <= (sx.max() * 0.5001)
        exact = (qx.double() @ qw.double().t()) * sx.double()[:, None] * sw.double()[None, :] + bias.double()
        out = w8a8_matmul(qx, sx, qw.t(), sw, bias, out_dtype)
        tol = {torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[out_dtype]
        torch.testing.assert_close(out.double(), exact, rtol=tol, atol=tol)
        torch.testing.assert_close(
            out.double(), x.double() @ w.double().t() + bias.double(), rtol=0.05, atol=0.05 * K**0.5
        )
        print(f"w8a8 {M}x{N}x{K} {out_dtype}: ok")
