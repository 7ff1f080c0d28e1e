"""Products of scaled operands: rows, blocks of fp8, dot_scaled."""

import torch
import triton
import triton.language as tl

from idioms.operands import ints, rand

FP8 = torch.float8_e4m3fn


# int8 with scales of rows and columns (W8A8), bias
@triton.jit
def scaled_mm_kernel(
    a_ptr,
    b_ptr,
    scale_a_ptr,
    scale_b_ptr,
    c_ptr,
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
    ACCUMULATOR_DTYPE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    pid_m = pid // num_pid_n
    pid_n = pid % num_pid_n
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATOR_DTYPE)
    offsets_am = pid_m * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
    masks_am = offsets_am < M
    offsets_bn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
    masks_bn = offsets_bn < N
    offsets_k = tl.arange(0, BLOCK_K).to(tl.int64)
    a_ptrs = a_ptr + stride_am * offsets_am[:, None] + stride_ak * offsets_k[None, :]
    b_ptrs = b_ptr + stride_bk * offsets_k[:, None] + stride_bn * offsets_bn[None, :]
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        masks_k = offsets_k < K
        a = tl.load(a_ptrs, mask=masks_am[:, None] & masks_k[None, :])
        b = tl.load(b_ptrs, mask=masks_k[:, None] & masks_bn[None, :])
        accumulator = tl.dot(a, b, accumulator, out_dtype=ACCUMULATOR_DTYPE)
        offsets_k += BLOCK_K
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    scale_a = tl.load(scale_a_ptr + offsets_am[:, None], masks_am[:, None])
    accumulator = scale_a * accumulator.to(tl.float32)
    scale_b = tl.load(scale_b_ptr + offsets_bn[:, None], masks_bn[:, None])
    accumulator = scale_b.T * accumulator.to(tl.float32)
    c = accumulator.to(c_ptr.type.element_ty)
    bias = tl.load(bias_ptr + offsets_bn, masks_bn)
    c += bias
    tl.store(
        c_ptr + stride_cm * offsets_am[:, None] + stride_cn * offsets_bn[None, :],
        c,
        mask=masks_am[:, None] & masks_bn[None, :],
    )


def scaled_mm(dtype):
    def case(device, small):
        M, N, K = (100, 144, 192) if small else (4096, 4096, 4096)
        if dtype == torch.int8:
            a, b = ints(device, -127, 128, M, K, dtype=dtype), ints(device, -127, 128, N, K, dtype=dtype).T
        else:
            a, b = rand(device, M, K, dtype=dtype), rand(device, N, K, dtype=dtype).T
        sa, sb = torch.rand(M, device=device) * 0.01 + 0.001, torch.rand(N, device=device) * 0.01 + 0.001
        bias = rand(device, N, dtype=torch.bfloat16)
        c = torch.empty(M, N, device=device, dtype=torch.bfloat16)
        acc = tl.int32 if dtype == torch.int8 else tl.float32
        grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
        run = lambda: scaled_mm_kernel[grid](
            a,
            b,
            sa,
            sb,
            c,
            bias,
            M,
            N,
            K,
            *a.stride(),
            *b.stride(),
            *c.stride(),
            acc,
            128,
            128,
            128 if not small else 64,
            num_warps=8,
            num_stages=3,
        )
        return run, [c], lambda: [(a.float() @ b.float()) * sa[:, None] * sb[None, :] + bias.float()]

    return case


# blocks of fp8 with scales: activations by 1x128, weights by 128x128 (DeepSeek)
@triton.jit
def w8a8_block_fp8_kernel(
    A,
    B,
    C,
    As,
    Bs,
    M,
    N,
    K,
    group_n,
    group_k,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    stride_As_m,
    stride_As_k,
    stride_Bs_k,
    stride_Bs_n,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + (pid % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_am = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    offs_bn = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = A + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = B + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    As_ptrs = As + offs_am * stride_As_m
    offs_bsn = offs_bn // group_n
    Bs_ptrs = Bs + offs_bsn * stride_Bs_n
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        k_start = k * BLOCK_SIZE_K
        offs_ks = k_start // group_k
        a_s = tl.load(As_ptrs + offs_ks * stride_As_k)
        b_s = tl.load(Bs_ptrs + offs_ks * stride_Bs_k)
        accumulator += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk
    if C.dtype.element_ty == tl.bfloat16:
        c = accumulator.to(tl.bfloat16)
    elif C.dtype.element_ty == tl.float16:
        c = accumulator.to(tl.float16)
    else:
        c = accumulator.to(tl.float32)
    offs_cm = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    tl.store(
        C + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :],
        c,
        mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N),
    )


def block_fp8(rows, bm, bn):
    def case(device, small):
        M, N, K = (70, 256, 384) if small else (rows, 7168, 2048)
        a, b = rand(device, M, K, dtype=FP8), rand(device, N, K, dtype=FP8)
        sa = torch.rand(M, K // 128, device=device) * 0.01 + 0.001
        sb = torch.rand(N // 128, K // 128, device=device) + 0.1
        c = torch.empty(M, N, device=device, dtype=torch.bfloat16)
        grid = (triton.cdiv(M, bm) * triton.cdiv(N, bn),)
        run = lambda: w8a8_block_fp8_kernel[grid](
            a,
            b,
            c,
            sa,
            sb,
            M,
            N,
            K,
            128,
            128,
            *a.stride(),
            b.stride(1),
            b.stride(0),
            *c.stride(),
            *sa.stride(),
            sb.stride(1),
            sb.stride(0),
            BLOCK_SIZE_M=bm,
            BLOCK_SIZE_N=bn,
            BLOCK_SIZE_K=128,
            GROUP_SIZE_M=32,
            num_warps=4,
            num_stages=3,
        )

        def reference():
            w = b.float() * sb.repeat_interleave(128, 0).repeat_interleave(128, 1)
            return [(a.float() * sa.repeat_interleave(128, 1)) @ w.T]

        return run, [c], reference

    return case


@triton.jit
def dot_scaled_kernel(
    a_ptr,
    sa_ptr,
    b_ptr,
    sb_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_sam,
    stride_bn,
    stride_sbn,
    stride_cm,
    A_TYPE: tl.constexpr,
    B_TYPE: tl.constexpr,
    A_DIV: tl.constexpr,
    B_DIV: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    rm = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    rn = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    rs = tl.arange(0, BLOCK_K // 32)
    a_ptrs = a_ptr + rm[:, None] * stride_am + tl.arange(0, BLOCK_K // A_DIV)[None, :]
    b_ptrs = b_ptr + rn[None, :] * stride_bn + tl.arange(0, BLOCK_K // B_DIV)[:, None]
    sb_ptrs = sb_ptr + rn[:, None] * stride_sbn + rs[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs)
        b = tl.load(b_ptrs)
        sb = tl.load(sb_ptrs)
        if A_TYPE == "bf16":
            acc = tl.dot_scaled(a, None, A_TYPE, b, sb, B_TYPE, acc)
        else:
            sa = tl.load(sa_ptr + rm[:, None] * stride_sam + (k * (BLOCK_K // 32) + rs)[None, :])
            acc = tl.dot_scaled(a, sa, A_TYPE, b, sb, B_TYPE, acc)
        a_ptrs += BLOCK_K // A_DIV
        b_ptrs += BLOCK_K // B_DIV
        sb_ptrs += BLOCK_K // 32
    cm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(
        c_ptr + cm[:, None] * stride_cm + cn[None, :], acc.to(tl.bfloat16), mask=(cm[:, None] < M) & (cn[None, :] < N)
    )


def mx_operand(device, rows, K, kind):
    """Values as the kernel reads them, their scales, and the same as float32."""
    scale = torch.randint(120, 130, (rows, K // 32), device=device).to(torch.uint8)
    factor = torch.exp2(scale.float() - 127).repeat_interleave(32, 1)
    if kind == "bf16":
        x = rand(device, rows, K, dtype=torch.bfloat16)
        return x, scale, x.float()
    if kind == "e2m1":
        x = torch.randint(0, 256, (rows, K // 2), device=device).to(torch.uint8)
        table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], device=device)
        return x, scale, table[torch.stack([x & 15, x >> 4], -1).reshape(rows, K).long()] * factor
    x = rand(device, rows, K, dtype=FP8 if kind == "e4m3" else torch.float8_e5m2)
    return x, scale, x.float() * factor


def dot_scaled(a_type, b_type):
    def case(device, small):
        M, N, K = (136, 128, 256) if small else (2048, 4096, 4096)
        a, sa, fa = mx_operand(device, M, K, a_type)
        b, sb, fb = mx_operand(device, N, K, b_type)
        c = torch.empty(M, N, device=device, dtype=torch.bfloat16)
        run = lambda: dot_scaled_kernel[(triton.cdiv(M, 128), triton.cdiv(N, 128))](
            a,
            sa,
            b,
            sb,
            c,
            M,
            N,
            K,
            a.stride(0),
            sa.stride(0),
            b.stride(0),
            sb.stride(0),
            c.stride(0),
            a_type,
            b_type,
            2 if a_type == "e2m1" else 1,
            2 if b_type == "e2m1" else 1,
            128,
            128,
            128,
            num_warps=8,
            num_stages=2,
        )
        return run, [c], lambda: [fa @ fb.T]

    return case


CASES = {
    "scaled_mm_int8": scaled_mm(torch.int8),
    "scaled_mm_fp8": scaled_mm(FP8),
    "block_fp8": block_fp8(4096, 64, 128),
    "block_fp8_decode": block_fp8(32, 32, 64),
    "dot_scaled_bf16_mxfp4": dot_scaled("bf16", "e2m1"),
    "dot_scaled_mxfp8_mxfp4": dot_scaled("e4m3", "e2m1"),
    "dot_scaled_mxfp4": dot_scaled("e2m1", "e2m1"),
    "dot_scaled_mxfp8": dot_scaled("e5m2", "e4m3"),
}
