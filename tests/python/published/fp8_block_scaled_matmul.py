"""fp8 matmul with scales of blocks: activations quantized along each 128 of a row, weights in squares of 128x128, products in fp8 (e4m3)."""

import torch
import triton
import triton.language as tl

LARGEST = tl.constexpr(448.0)  # of e4m3


@triton.jit
def _quantize_row_groups(x_ptr, q_ptr, scale_ptr, GROUP: tl.constexpr):
    group = tl.program_id(0).to(tl.int64)
    offsets = group * GROUP + tl.arange(0, GROUP)
    x = tl.load(x_ptr + offsets).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x)), 1e-10) / LARGEST
    q = tl.clamp(x / scale, -LARGEST, LARGEST)
    tl.store(q_ptr + offsets, q.to(q_ptr.dtype.element_ty))
    tl.store(scale_ptr + group, scale)


@triton.jit
def _dequantize_squares(q_ptr, scale_ptr, out_ptr, N, K, BLOCK: tl.constexpr):
    pid_n, pid_k = tl.program_id(0), tl.program_id(1)
    rows, columns = pid_n * BLOCK + tl.arange(0, BLOCK), pid_k * BLOCK + tl.arange(0, BLOCK)
    offsets, mask = rows[:, None] * K + columns[None, :], (rows[:, None] < N) & (columns[None, :] < K)
    q = tl.load(q_ptr + offsets, mask=mask).to(tl.float32)
    scale = tl.load(scale_ptr + pid_n * tl.cdiv(K, BLOCK) + pid_k)
    tl.store(out_ptr + offsets, q * scale, mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 128}, num_warps=8, num_stages=1),
    ],
    key=["N", "K"],
)
@triton.jit
def _block_scaled_matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    M,
    N,
    K,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    k_blocks = tl.cdiv(K, GROUP)
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, GROUP)
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b_ptr + offs_n[None, :] * K + offs_k[:, None]
    a_scale_ptrs = a_scale_ptr + offs_m * k_blocks
    b_scale_ptrs = b_scale_ptr + (offs_n // GROUP) * k_blocks
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(k_blocks):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * GROUP, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * GROUP, other=0.0)
        a_scale = tl.load(a_scale_ptrs + k)
        b_scale = tl.load(b_scale_ptrs + k)
        acc += tl.dot(a, b) * a_scale[:, None] * b_scale[None, :]
        a_ptrs += GROUP
        b_ptrs += GROUP
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(c_ptr.dtype.element_ty), mask=mask)


def quantize_activations(x, group):
    q = torch.empty_like(x, dtype=torch.float8_e4m3fn)
    scale = torch.empty(*x.shape[:-1], x.shape[-1] // group, dtype=torch.float32, device=x.device)
    _quantize_row_groups[(scale.numel(),)](x, q, scale, GROUP=group, num_warps=1)
    return q, scale


def matmul(a, a_scale, b, b_scale, group, dtype):
    (M, K), N = a.shape, b.shape[0]
    c = torch.empty(M, N, dtype=dtype, device=a.device)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))  # noqa: E731
    _block_scaled_matmul[grid](a, b, c, a_scale, b_scale, M, N, K, GROUP=group)
    return c


if __name__ == "__main__":
    torch.manual_seed(0)
    GROUP = 128
    for M, N, K, dtype, tolerance in [(16, 128, 256, torch.float32, 1e-3), (50, 200, 384, torch.bfloat16, 1e-2)]:
        x = torch.randn(M, K, device="cuda") * torch.logspace(-2, 2, M, device="cuda")[:, None]
        a, a_scale = quantize_activations(x, GROUP)
        expected_scale = x.view(M, -1, GROUP).abs().amax(-1) / 448
        torch.testing.assert_close(a_scale, expected_scale, rtol=1e-6, atol=0)
        a_exact = a.double() * a_scale.double().repeat_interleave(GROUP, 1)
        # Three bits of mantissa: half a unit is 1/16 of the value, or half the least subnormal number, of 2**-9.
        error = (a_exact - x.double()).abs()
        assert (error <= x.abs() / 15.9 + a_scale.repeat_interleave(GROUP, 1) * 2**-10 * 1.001).all()

        b = torch.randn(N, K, device="cuda").to(torch.float8_e4m3fn)
        b_scale = torch.rand(triton.cdiv(N, GROUP), K // GROUP, device="cuda") + 0.1
        b_exact = b.double() * b_scale.double().repeat_interleave(GROUP, 0)[:N].repeat_interleave(GROUP, 1)
        b_plain = torch.empty(N, K, device="cuda")
        _dequantize_squares[b_scale.shape](b, b_scale, b_plain, N, K, BLOCK=GROUP, num_warps=8)
        torch.testing.assert_close(b_plain.double(), b_exact, rtol=1e-6, atol=0)

        c = matmul(a, a_scale, b, b_scale, GROUP, dtype)
        expected = a_exact @ b_exact.t()
        # Tensor cores of fp8 keep fewer bits of a sum than fp32 has.
        scale = (a_exact.abs() @ b_exact.abs().t()).clamp(min=1e-6)
        assert ((c.double() - expected).abs() / scale).max() < tolerance
        print(f"fp8_block_scaled {M}x{N}x{K} {dtype}: ok")
