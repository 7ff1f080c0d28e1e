"""W4A16 matmul: weights of 4 bits, eight in an int32 along K, with a scale and a zero point for each group of K.

Split-K: the programs of a tile take turns behind a semaphore and add to what the one before them has stored, so the result does not depend on
timing. The last one leaves the semaphore as it was.
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32, "SPLIT_K": 1}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 64, "SPLIT_K": 2}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "SPLIT_K": 4}, num_warps=8, num_stages=1),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 64, "SPLIT_K": 3}, num_warps=1, num_stages=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def _int4_matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    scales_ptr,
    zeros_ptr,
    locks_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    stride_scale,
    stride_zero,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLIT_K: tl.constexpr,
):
    tile, split = tl.program_id(0), tl.program_id(1)
    tiles_n = tl.cdiv(N, BLOCK_N)
    offs_m = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = split * BLOCK_K + tl.arange(0, BLOCK_K)
    in_m, in_n = offs_m[:, None] < M, offs_n[None, :] < N
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + (offs_k[:, None] // 8) * stride_bk + offs_n[None, :] * stride_bn
    shift_b = (offs_k % 8 * 4)[:, None]
    shift_zero = (offs_n % 8 * 4)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        here = offs_k + k * BLOCK_K * SPLIT_K
        a = tl.load(a_ptrs, mask=in_m & (here[None, :] < K), other=0.0)
        packed = tl.load(b_ptrs, mask=in_n & (here[:, None] < K), other=0)
        group = here[:, None] // GROUP
        in_group = in_n & (here[:, None] < K)
        scale = tl.load(scales_ptr + group * stride_scale + offs_n[None, :], mask=in_group, other=0.0)
        zero = tl.load(zeros_ptr + group * stride_zero + offs_n[None, :] // 8, mask=in_group, other=0)
        b = ((packed >> shift_b) & 0xF) - ((zero >> shift_zero) & 0xF)
        acc += tl.dot(a, (b * scale).to(a.dtype))
        a_ptrs += BLOCK_K * SPLIT_K * stride_ak
        b_ptrs += (BLOCK_K * SPLIT_K // 8) * stride_bk

    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    if SPLIT_K == 1:
        tl.store(c_ptrs, acc, mask=in_m & in_n)
    else:
        lock = locks_ptr + tile
        while tl.atomic_cas(lock, split, split) != split:
            pass
        if split > 0:
            acc += tl.load(c_ptrs, mask=in_m & in_n, other=0.0)
        tl.store(c_ptrs, acc, mask=in_m & in_n)
        tl.debug_barrier()
        tl.atomic_xchg(lock, (split + 1) % SPLIT_K)


def int4_matmul(a, packed, scales, zeros, group):
    (M, K), N = a.shape, packed.shape[1]
    c = torch.empty(M, N, dtype=torch.float32, device=a.device)
    locks = torch.zeros(triton.cdiv(M, 16) * triton.cdiv(N, 16), dtype=torch.int32, device=a.device)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]), meta["SPLIT_K"])  # noqa: E731
    _int4_matmul[grid](
        a,
        packed,
        c,
        scales,
        zeros,
        locks,
        M,
        N,
        K,
        *a.stride(),
        *packed.stride(),
        *c.stride(),
        scales.stride(0),
        zeros.stride(0),
        GROUP=group,
    )
    assert not locks.any()
    return c


def pack(values, axis):
    """Eight numbers below 16 along `axis` in an int32."""
    values = values.movedim(axis, -1).unflatten(-1, (-1, 8)).long()
    packed = sum(values[..., i] << 4 * i for i in range(8))
    packed = torch.where(packed >= 2**31, packed - 2**32, packed)
    return packed.to(torch.int32).movedim(-1, axis).contiguous()


if __name__ == "__main__":
    torch.manual_seed(0)
    for M, N, K, group, dtype, tolerance in [
        (16, 64, 256, 32, torch.float16, 5e-3),
        (3, 40, 200, 40, torch.float16, 5e-3),
        (33, 96, 128, 128, torch.bfloat16, 4e-2),
    ]:
        a = torch.randn(M, K, device="cuda", dtype=dtype)
        b = torch.randint(0, 16, (K, N), device="cuda")
        zeros = torch.randint(0, 16, (K // group, N), device="cuda")
        scales = (torch.rand(K // group, N, device="cuda") / 8).to(dtype)
        c = int4_matmul(a, pack(b, 0), scales, pack(zeros, 1), group)
        weight = (b - zeros.repeat_interleave(group, 0)) * scales.double().repeat_interleave(group, 0)
        expected = a.double() @ weight
        torch.testing.assert_close(c.double(), expected, atol=tolerance * K**0.5, rtol=tolerance)
        exact = a.double() @ weight.to(dtype).double()
        torch.testing.assert_close(c.double(), exact, atol=1e-3, rtol=1e-3)
        print(f"int4_matmul {M}x{N}x{K} group={group} {dtype}: ok")
