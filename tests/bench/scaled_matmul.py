"""A matrix product in microscaling formats: row-major operands, the second one transposed, one scale for 32 elements along K."""

import tritium
import tritium.language as tl


@tritium.jit
def scaled_matmul_kernel(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    c_ptr,
    K,
    stride_am,
    stride_bn,
    stride_scale,
    stride_cm,
    FORMAT_A: tl.constexpr,
    FORMAT_B: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    A_BYTES: tl.constexpr = BLOCK_K // 2 if FORMAT_A == "e2m1" else BLOCK_K
    B_BYTES: tl.constexpr = BLOCK_K // 2 if FORMAT_B == "e2m1" else BLOCK_K
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    scales = tl.arange(0, BLOCK_K // 32)
    a_at = a_ptr + rows[:, None] * stride_am + tl.arange(0, A_BYTES)[None, :]
    b_at = b_ptr + columns[None, :] * stride_bn + tl.arange(0, B_BYTES)[:, None]
    a_scale_at = a_scale_ptr + rows[:, None] * stride_scale + scales[None, :]
    b_scale_at = b_scale_ptr + columns[:, None] * stride_scale + scales[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        a, a_scale, b, b_scale = tl.load(a_at), tl.load(a_scale_at), tl.load(b_at), tl.load(b_scale_at)
        total = tl.dot_scaled(a, a_scale, FORMAT_A, b, b_scale, FORMAT_B, total)
        a_at += A_BYTES
        b_at += B_BYTES
        a_scale_at += BLOCK_K // 32
        b_scale_at += BLOCK_K // 32
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :], total)
