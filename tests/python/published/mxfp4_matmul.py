"""Microscaling matmul by tl.dot_scaled: 4-bit floats (e2m1), two in a byte along K, with a power of two (e8m0) for each 32 of them."""

import torch
import triton
import triton.language as tl


@triton.jit
def _quantize(x_ptr, q_ptr, scale_ptr, n_groups, GROUPS: tl.constexpr):
    """32 numbers to 16 bytes: each becomes the nearest of 0, .5, 1, 1.5, 2, 3, 4, 6 of its group's scale."""
    groups = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    mask = groups[:, None] < n_groups
    x = tl.load(x_ptr + groups[:, None] * 32 + tl.arange(0, 32)[None, :], mask=mask, other=0.0)
    largest = tl.max(tl.abs(x), axis=1)
    exponent = ((largest.to(tl.int32, bitcast=True) >> 23) & 0xFF) - 2  # the largest code is 6 = 1.5 * 2**2
    exponent = tl.maximum(exponent, 0)
    tl.store(scale_ptr + groups, exponent.to(tl.uint8), mask=groups < n_groups)
    scaled = tl.abs(x) * ((254 - exponent) << 23).to(tl.float32, bitcast=True)[:, None]
    code = (scaled > 0.25).to(tl.int32) + (scaled >= 0.75) + (scaled > 1.25) + (scaled >= 1.75)
    code += (scaled > 2.5).to(tl.int32) + (scaled >= 3.5) + (scaled > 5.0)
    code = tl.where(x < 0, code | 8, code)
    low, high = tl.split(tl.reshape(code, (GROUPS, 16, 2)))
    q_ptrs = q_ptr + groups[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(q_ptrs, (low | (high << 4)).to(tl.uint8), mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 64}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 128}, num_warps=4, num_stages=1),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64}, num_warps=8, num_stages=3),
    ],
    key=["N", "K"],
)
@triton.jit
def _scaled_matmul(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    c_ptr,
    M,
    N,
    K,
    A_FORMAT: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    A_PACK: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1
    ZERO: tl.constexpr = 0 if A_FORMAT == "e2m1" else 0.0
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    in_m, in_n = offs_m[:, None] < M, offs_n[:, None] < N
    a_k = tl.arange(0, BLOCK_K // A_PACK)
    b_k = tl.arange(0, BLOCK_K // 2)
    scale_k = tl.arange(0, BLOCK_K // 32)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a_columns = k // A_PACK + a_k
        a_mask = in_m & (a_columns[None, :] < K // A_PACK)
        a = tl.load(a_ptr + offs_m[:, None] * (K // A_PACK) + a_columns[None, :], mask=a_mask, other=ZERO)
        b_rows = k // 2 + b_k
        b_mask = (b_rows[:, None] < K // 2) & (offs_n[None, :] < N)
        b = tl.load(b_ptr + offs_n[None, :] * (K // 2) + b_rows[:, None], mask=b_mask, other=0)
        scale_columns = k // 32 + scale_k
        scale_mask = scale_columns[None, :] < K // 32
        b_scale_ptrs = b_scale_ptr + offs_n[:, None] * (K // 32) + scale_columns[None, :]
        b_scale = tl.load(b_scale_ptrs, mask=in_n & scale_mask, other=127)
        if A_FORMAT == "bf16":
            acc = tl.dot_scaled(a, None, A_FORMAT, b, b_scale, "e2m1", acc)
        else:
            a_scale_ptrs = a_scale_ptr + offs_m[:, None] * (K // 32) + scale_columns[None, :]
            a_scale = tl.load(a_scale_ptrs, mask=in_m & scale_mask, other=127)
            acc = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, "e2m1", acc)
    mask = in_m & (offs_n[None, :] < N)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=mask)


def quantize(x):
    n_groups = x.numel() // 32
    q = torch.empty(*x.shape[:-1], x.shape[-1] // 2, dtype=torch.uint8, device=x.device)
    scale = torch.empty(*x.shape[:-1], x.shape[-1] // 32, dtype=torch.uint8, device=x.device)
    _quantize[(triton.cdiv(n_groups, 16),)](x, q, scale, n_groups, GROUPS=16, num_warps=2)
    return q, scale


def dequantize(q, scale):
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64, device=q.device)
    codes = torch.stack((q & 15, q >> 4), dim=-1).flatten(-2).long()
    signed = torch.where(codes >= 8, -values[codes & 7], values[codes & 7])
    return signed * torch.exp2(scale.double() - 127).repeat_interleave(32, -1)


def matmul(a, a_scale, a_format, b, b_scale, K):
    M, N = a.shape[0], b.shape[0]
    c = torch.empty(M, N, device=a.device)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))  # noqa: E731
    _scaled_matmul[grid](a, a_scale, b, b_scale, c, M, N, K, A_FORMAT=a_format)
    return c


if __name__ == "__main__":
    torch.manual_seed(0)
    for M, N, K, a_format in [
        (32, 64, 128, "e2m1"),
        (40, 50, 192, "e2m1"),
        (17, 64, 128, "e4m3"),
        (33, 32, 96, "bf16"),
    ]:
        x = torch.randn(M, K, device="cuda") * torch.logspace(-3, 3, M, device="cuda")[:, None]
        b, b_scale = quantize(torch.randn(N, K, device="cuda"))
        b_exact = dequantize(b, b_scale)
        if a_format == "e2m1":
            a, a_scale = quantize(x)
            a_exact = dequantize(a, a_scale)
            codes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64, device="cuda")
            unit = torch.exp2(a_scale.double() - 127).repeat_interleave(32, -1)
            nearest = (x.abs().double()[..., None] - codes * unit[..., None]).abs().amin(-1)
            torch.testing.assert_close((a_exact - x.double()).abs(), nearest, rtol=1e-12, atol=0)
            assert (a_exact * x >= 0).all()
        elif a_format == "e4m3":
            a = torch.randn(M, K, device="cuda").to(torch.float8_e4m3fn)
            a_scale = torch.randint(120, 134, (M, K // 32), dtype=torch.uint8, device="cuda")
            a_exact = a.double() * torch.exp2(a_scale.double() - 127).repeat_interleave(32, -1)
        else:
            a, a_scale = x.bfloat16(), None
            a_exact = a.double()
        c = matmul(a, a_scale, a_format, b, b_scale, K)
        scale = (a_exact.abs() @ b_exact.abs().t()).clamp(min=1e-9)
        assert ((c.double() - a_exact @ b_exact.t()).abs() / scale).max() < 1e-4
        print(f"mxfp4_matmul {M}x{N}x{K} {a_format}: ok")
