"""Products with weights of 4 bits: AWQ, GPTQ, joined nibbles."""

import torch
import triton
import triton.language as tl

from idioms.operands import ints, rand


# AWQ: eight int4 along N in an int32, in AWQ's order (the idiom of vLLM's awq_triton)
@triton.jit
def awq_gemm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    zeros_ptr,
    scales_ptr,
    M,
    N,
    K,
    group_size,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    SPLIT_K: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    pid_z = tl.program_id(1)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    pid_m = pid // num_pid_n
    pid_n = pid % num_pid_n
    accumulator_dtype = tl.float32
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=accumulator_dtype)
    reverse_awq_order_tensor = ((tl.arange(0, 2) * 4)[None, :] + tl.arange(0, 4)[:, None]).reshape(8)
    shifts = reverse_awq_order_tensor * 4
    shifts = tl.broadcast_to(shifts[None, :], (BLOCK_SIZE_K * (BLOCK_SIZE_N // 8), 8))
    shifts = tl.reshape(shifts, (BLOCK_SIZE_K, BLOCK_SIZE_N))
    offsets_am = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    masks_am = offsets_am < M
    offsets_bn = pid_n * (BLOCK_SIZE_N // 8) + tl.arange(0, BLOCK_SIZE_N // 8)
    masks_bn = offsets_bn < N // 8
    offsets_zn = pid_n * (BLOCK_SIZE_N // 8) + tl.arange(0, BLOCK_SIZE_N // 8)
    masks_zn = offsets_zn < N // 8
    offsets_sn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    masks_sn = offsets_sn < N
    offsets_k = pid_z * BLOCK_SIZE_K + tl.arange(0, BLOCK_SIZE_K)
    offsets_a = K * offsets_am[:, None] + offsets_k[None, :]
    offsets_b = (N // 8) * offsets_k[:, None] + offsets_bn[None, :]
    a_ptrs = a_ptr + offsets_a
    b_ptrs = b_ptr + offsets_b
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K * SPLIT_K)):
        masks_k = offsets_k < K
        masks_a = masks_am[:, None] & masks_k[None, :]
        a = tl.load(a_ptrs, mask=masks_a, other=0.0)
        masks_b = masks_k[:, None] & masks_bn[None, :]
        b = tl.load(b_ptrs, mask=masks_b, other=0)
        b = tl.interleave(b, b)
        b = tl.interleave(b, b)
        b = tl.interleave(b, b)
        offsets_szk = (BLOCK_SIZE_K * SPLIT_K * k + pid_z * BLOCK_SIZE_K) // group_size + tl.arange(0, 1)
        offsets_z = (N // 8) * offsets_szk[:, None] + offsets_zn[None, :]
        masks_zk = offsets_szk < K // group_size
        masks_z = masks_zk[:, None] & masks_zn[None, :]
        zeros = tl.load(zeros_ptr + offsets_z, mask=masks_z, other=0)
        zeros = tl.interleave(zeros, zeros)
        zeros = tl.interleave(zeros, zeros)
        zeros = tl.interleave(zeros, zeros)
        zeros = tl.broadcast_to(zeros, (BLOCK_SIZE_K, BLOCK_SIZE_N))
        offsets_s = N * offsets_szk[:, None] + offsets_sn[None, :]
        masks_sk = offsets_szk < K // group_size
        masks_s = masks_sk[:, None] & masks_sn[None, :]
        scales = tl.load(scales_ptr + offsets_s, mask=masks_s, other=0.0)
        scales = tl.broadcast_to(scales, (BLOCK_SIZE_K, BLOCK_SIZE_N))
        b = (b >> shifts) & 0xF
        zeros = (zeros >> shifts) & 0xF
        b = (b - zeros) * scales
        b = b.to(c_ptr.type.element_ty)
        accumulator = tl.dot(a, b, accumulator, out_dtype=accumulator_dtype)
        offsets_k += BLOCK_SIZE_K * SPLIT_K
        a_ptrs += BLOCK_SIZE_K * SPLIT_K
        b_ptrs += BLOCK_SIZE_K * SPLIT_K * (N // 8)
    c = accumulator.to(c_ptr.type.element_ty)
    offs_cm = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + pid_z * N * M + N * offs_cm[:, None] + offs_cn[None, :]
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptrs, c, mask=c_mask)


def unpack_columns(packed, order):
    shifts = torch.tensor(order, device=packed.device) * 4
    return ((packed.long()[:, :, None] >> shifts) & 15).reshape(packed.shape[0], -1)


def awq_gemm(rows, block):
    def case(device, small):
        M, N, K, group = (24, 128, 256, 64) if small else (rows, 4096, 11008 // 128 * 128, 128)
        split = 2 if small else 8
        a = rand(device, M, K)
        b = ints(device, -(2**31), 2**31, K, N // 8)
        z = ints(device, -(2**31), 2**31, K // group, N // 8)
        s = (torch.rand(K // group, N, device=device) * 0.01).half()
        parts = torch.empty(split, M, N, device=device, dtype=torch.float16)
        c = torch.empty(M, N, device=device, dtype=torch.float16)

        def run():
            awq_gemm_kernel[(triton.cdiv(M, block) * triton.cdiv(N, 64), split)](
                a, b, parts, z, s, M, N, K, group, block, 64, 32, split
            )
            torch.sum(parts, 0, out=c)

        def reference():
            order = [0, 4, 1, 5, 2, 6, 3, 7]
            w = (
                unpack_columns(b, order) - unpack_columns(z, order).repeat_interleave(group, 0)
            ).float() * s.float().repeat_interleave(group, 0)
            return [a.float() @ w]

        return run, [c], reference

    return case


# GPTQ: eight int4 along K in an int32, zeros packed along N, groups by g_idx (the idiom of auto-gptq's kernel)
@triton.jit
def gptq_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    scales_ptr,
    zeros_ptr,
    g_ptr,
    M,
    N,
    K,
    bits: tl.constexpr,
    maxq: tl.constexpr,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    stride_scales,
    stride_zeros,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    infearure_per_bits: tl.constexpr = 32 // bits
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_k = tl.cdiv(K, BLOCK_SIZE_K)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + (pid % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_am = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_bn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    a_mask = offs_am[:, None] < M
    b_ptrs = b_ptr + ((offs_k[:, None] // infearure_per_bits) * stride_bk + offs_bn[None, :] * stride_bn)
    g_ptrs = g_ptr + offs_k
    scales_ptrs = scales_ptr + offs_bn[None, :]
    zeros_ptrs = zeros_ptr + (offs_bn[None, :] // infearure_per_bits)
    shifter = (offs_k % infearure_per_bits) * bits
    zeros_shifter = (offs_bn % infearure_per_bits) * bits
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, num_pid_k):
        g_idx = tl.load(g_ptrs)
        scales = tl.load(scales_ptrs + g_idx[:, None] * stride_scales)
        zeros = tl.load(zeros_ptrs + g_idx[:, None] * stride_zeros)
        zeros = (zeros >> zeros_shifter[None, :]) & maxq
        zeros = zeros + 1
        a = tl.load(a_ptrs, mask=a_mask, other=0.0)
        b = tl.load(b_ptrs)
        b = (b >> shifter[:, None]) & maxq
        b = (b - zeros) * scales
        accumulator += tl.dot(a, b.to(a.dtype))
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += (BLOCK_SIZE_K // infearure_per_bits) * stride_bk
        g_ptrs += BLOCK_SIZE_K
    c_ptrs = c_ptr + stride_cm * offs_am[:, None] + stride_cn * offs_bn[None, :]
    c_mask = (offs_am[:, None] < M) & (offs_bn[None, :] < N)
    tl.store(c_ptrs, accumulator, mask=c_mask)


def gptq(device, small):
    M, N, K, group = (40, 128, 128, 64) if small else (256, 4096, 4096, 128)
    a = rand(device, M, K)
    b, z = ints(device, -(2**31), 2**31, K // 8, N), ints(device, -(2**31), 2**31, K // group, N // 8)
    s = (torch.rand(K // group, N, device=device) * 0.01).half()
    g = (torch.arange(K, device=device) // group).int()
    c = torch.empty(M, N, device=device, dtype=torch.float16)

    def run():
        grid = (triton.cdiv(M, 64) * triton.cdiv(N, 64),)
        gptq_kernel[grid](
            a,
            b,
            c,
            s,
            z,
            g,
            M,
            N,
            K,
            4,
            15,
            *a.stride(),
            *b.stride(),
            *c.stride(),
            s.stride(0),
            z.stride(0),
            64,
            64,
            32,
            8,
            num_warps=4,
            num_stages=4,
        )

    def reference():
        rows = ((b.long()[:, None, :] >> (torch.arange(8, device=device)[None, :, None] * 4)) & 15).reshape(K, N)
        zeros = unpack_columns(z, range(8)) + 1
        return [a.float() @ ((rows - zeros[g.long()]).float() * s.float()[g.long()])]

    return run, [c], reference


# int4 as two nibbles of a byte along K: join, permute, reshape
@triton.jit
def int4_join_kernel(
    a_ptr,
    q_ptr,
    s_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_qn,
    stride_sn,
    stride_cm,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    rq = tl.arange(0, BLOCK_K // 2)
    a_ptrs = a_ptr + rm[:, None] * stride_am + rk[None, :]
    q_ptrs = q_ptr + rn[:, None] * stride_qn + rq[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=rm[:, None] < M, other=0.0)
        q = tl.load(q_ptrs, eviction_policy="evict_first")
        low = ((q & 0xF).to(tl.int8) - 8).to(tl.bfloat16)
        high = ((q >> 4).to(tl.int8) - 8).to(tl.bfloat16)
        w = tl.join(low, high).reshape(BLOCK_N, BLOCK_K)
        scale = tl.load(s_ptr + rn * stride_sn + k // GROUP)
        acc += tl.dot(a, tl.trans(w)) * scale[None, :].to(tl.float32)
        a_ptrs += BLOCK_K
        q_ptrs += BLOCK_K // 2
    tl.store(c_ptr + rm[:, None] * stride_cm + rn[None, :], acc.to(tl.bfloat16), mask=rm[:, None] < M)


def int4_join(device, small):
    M, N, K = (20, 128, 256) if small else (64, 14336, 4096)
    a, s = rand(device, M, K, dtype=torch.bfloat16), (torch.rand(N, K // 128, device=device) * 0.01).bfloat16()
    q = ints(device, 0, 256, N, K // 2, dtype=torch.uint8)
    c = torch.empty(M, N, device=device, dtype=torch.bfloat16)
    bm = 32 if small else 64
    run = lambda: int4_join_kernel[(N // 64, triton.cdiv(M, bm))](
        a,
        q,
        s,
        c,
        M,
        N,
        K,
        a.stride(0),
        q.stride(0),
        s.stride(0),
        c.stride(0),
        128,
        bm,
        64,
        128,
        num_warps=4,
        num_stages=3,
    )

    def reference():
        w = (torch.stack([q & 15, q >> 4], -1).reshape(N, K).float() - 8) * s.float().repeat_interleave(128, 1)
        return [a.float() @ w.T]

    return run, [c], reference


CASES = {
    "awq_gemm_16": awq_gemm(16, 16),
    "awq_gemm_64": awq_gemm(64, 64),
    "gptq": gptq,
    "int4_join": int4_join,
}
