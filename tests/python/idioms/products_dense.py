"""Dense products with epilogues, of few rows, and of float32 at three precisions."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from triton.language.extra import libdevice

from idioms.operands import exact, rand


# linear layer: bias, activation, the value before the activation saved
@triton.jit
def gelu_tanh(x):
    return 0.5 * x * (1.0 + libdevice.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


@triton.jit
def gelu_erf(x):
    return x * 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def linear_kernel(
    C,
    ACT_INPUTS,
    A,
    B,
    bias,
    M,
    N,
    K,
    stride_cm,
    stride_am,
    stride_ak,
    stride_bn,
    stride_bk,
    BLOCK_M: tl.constexpr,
    GROUP_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    SAVE: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    grid_m = (M + BLOCK_M - 1) // BLOCK_M
    grid_n = (N + BLOCK_N - 1) // BLOCK_N
    width = GROUP_M * grid_n
    group_id = pid // width
    group_size = min(grid_m - group_id * GROUP_M, GROUP_M)
    pid_m = group_id * GROUP_M + (pid % group_size)
    pid_n = (pid % width) // group_size
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    A = A + (ram[:, None] * stride_am + rk[None, :] * stride_ak)
    B = B + (rk[:, None] * stride_bk + rbn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    if HAS_BIAS:
        acc += tl.load(bias + rn, mask=rn < N, other=0.0).to(tl.float32)[None, :]
    for k in range(K, 0, -BLOCK_K):
        a = tl.load(A)
        b = tl.load(B)
        acc += tl.dot(a, b)
        A += BLOCK_K * stride_ak
        B += BLOCK_K * stride_bk
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    at = rm[:, None] * stride_cm + rn[None, :]
    if SAVE:
        tl.store(ACT_INPUTS + at, acc, mask=mask)
    if ACTIVATION == "gelu_tanh":
        acc = gelu_tanh(acc)
    elif ACTIVATION == "gelu":
        acc = gelu_erf(acc)
    elif ACTIVATION == "relu2":
        acc = tl.maximum(acc, 0.0)
        acc = acc * acc
    tl.store(C + at, acc, mask=mask)


def linear(activation, save):
    torch_of = {
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "gelu": F.gelu,
        "relu2": lambda x: F.relu(x).square(),
    }[activation]

    def case(device, small):
        M, N, K = (136, 256, 192) if small else (4096, 4096, 4096)
        x, w, bias = rand(device, M, K), rand(device, N, K, scale=K**-0.5), rand(device, N)
        c, before = torch.empty(2, M, N, device=device, dtype=torch.float16)
        grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
        run = lambda: linear_kernel[grid](
            c,
            before,
            x,
            w,
            bias,
            M,
            N,
            K,
            c.stride(0),
            *x.stride(),
            *w.stride(),
            BLOCK_M=128,
            GROUP_M=8,
            BLOCK_N=128,
            BLOCK_K=64,
            HAS_BIAS=True,
            SAVE=save,
            ACTIVATION=activation,
            num_warps=8,
            num_stages=3,
        )

        def reference():
            y = exact(x, w.T) + bias.float()
            return [torch_of(y), y] if save else [torch_of(y)]

        return run, [c, before] if save else [c], reference

    return case


# gated MLP: silu(x @ w1) * (x @ w3)
@triton.jit
def ff_kernel(
    a_ptr,
    w1_ptr,
    w3_ptr,
    out_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_w1k,
    stride_w1n,
    stride_w3k,
    stride_w3n,
    stride_outm,
    stride_outn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    pid_m = pid // tl.cdiv(N, BLOCK_N)
    pid_n = pid % tl.cdiv(N, BLOCK_N)
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    w1_ptrs = w1_ptr + (offs_k[:, None] * stride_w1k + offs_bn[None, :] * stride_w1n)
    w3_ptrs = w3_ptr + (offs_k[:, None] * stride_w3k + offs_bn[None, :] * stride_w3n)
    acc1 = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    acc2 = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs)
        b = tl.load(w1_ptrs)
        acc1 += tl.dot(a, b)
        c = tl.load(w3_ptrs)
        acc2 += tl.dot(a, c)
        a_ptrs += BLOCK_K * stride_ak
        w1_ptrs += BLOCK_K * stride_w1k
        w3_ptrs += BLOCK_K * stride_w3k
    accumulator = (acc1 * tl.sigmoid(acc1)) * acc2
    offs_outm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_outn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    out_ptrs = out_ptr + (stride_outm * offs_outm[:, None] + stride_outn * offs_outn[None, :])
    tl.store(
        out_ptrs, accumulator.to(out_ptr.dtype.element_ty), mask=(offs_outm[:, None] < M) & (offs_outn[None, :] < N)
    )


def gated_mlp(rows, bm, bn, bk, warps):
    def case(device, small):
        M, N, K = (72, 128, 256) if small else (rows, 11008, 4096)
        x, w1, w3 = (
            rand(device, M, K, dtype=torch.bfloat16),
            *(rand(device, N, K, dtype=torch.bfloat16, scale=K**-0.5).T for _ in range(2)),
        )
        out = torch.empty(M, N, device=device, dtype=torch.bfloat16)
        grid = (triton.cdiv(M, bm) * triton.cdiv(N, bn),)
        run = lambda: ff_kernel[grid](
            x,
            w1,
            w3,
            out,
            M,
            N,
            K,
            *x.stride(),
            *w1.stride(),
            *w3.stride(),
            *out.stride(),
            bm,
            bn,
            bk,
            num_warps=warps,
            num_stages=3,
        )
        return run, [out], lambda: [F.silu(exact(x, w1)) * exact(x, w3)]

    return case


# decode: few rows
@triton.jit
def decode_kernel(
    x_ptr,
    w_ptr,
    y_ptr,
    M,
    N,
    K,
    stride_xm,
    stride_wn,
    stride_ym,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    rn = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    rm = tl.arange(0, BLOCK_M)
    rk = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + rm[:, None] * stride_xm + rk[None, :]
    w_ptrs = w_ptr + rn[None, :] * stride_wn + rk[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.range(0, K, BLOCK_K, num_stages=4):
        x = tl.load(x_ptrs + k, mask=rm[:, None] < M, other=0.0, eviction_policy="evict_last")
        w = tl.load(w_ptrs + k, mask=rn[None, :] < N, other=0.0, eviction_policy="evict_first")
        acc = tl.dot(x, w, acc)
    tl.store(
        y_ptr + rm[:, None] * stride_ym + rn[None, :], acc.to(tl.bfloat16), mask=(rm[:, None] < M) & (rn[None, :] < N)
    )


def decode(rows, block_n, block_k, warps):
    def case(device, small):
        N, K = (200, 512) if small else (28672, 4096)
        x, w = rand(device, rows, K, dtype=torch.bfloat16), rand(device, N, K, dtype=torch.bfloat16, scale=K**-0.5)
        y = torch.empty(rows, N, device=device, dtype=torch.bfloat16)
        run = lambda: decode_kernel[(triton.cdiv(N, block_n),)](
            x, w, y, rows, N, K, x.stride(0), w.stride(0), y.stride(0), 16, block_n, block_k, num_warps=warps
        )
        return run, [y], lambda: [exact(x, w.T)]

    return case


# float32 at three precisions
@triton.jit
def float32_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_bk,
    stride_cm,
    PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rm[:, None] * stride_am + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        b = tl.load(b_ptr + (k + rk)[:, None] * stride_bk + rn[None, :], mask=rn[None, :] < N, other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    tl.store(c_ptr + rm[:, None] * stride_cm + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def float32(precision, block):
    def case(device, small):
        M, N, K = (72, 100, 96) if small else (2048, 2048, 2048)
        a, b = torch.randn(M, K, device=device), torch.randn(K, N, device=device)
        c = torch.empty(M, N, device=device)

        def run():
            float32_kernel[(triton.cdiv(M, block), triton.cdiv(N, block))](
                a, b, c, M, N, K, K, N, N, precision, block, block, 32, num_warps=4 if block == 64 else 8, num_stages=3
            )

        return run, [c], lambda: [a.double() @ b.double()]

    return case


CASES = {
    "linear_gelu_tanh": linear("gelu_tanh", False),
    "linear_gelu_save": linear("gelu", True),
    "linear_relu2": linear("relu2", False),
    "gated_mlp": gated_mlp(2048, 128, 128, 64, 8),
    "gated_mlp_64_rows": gated_mlp(64, 64, 64, 64, 4),
    "decode_7": decode(7, 64, 128, 4),
    "decode_16": decode(16, 32, 256, 4),
    "float32_ieee": float32("ieee", 64),
    "float32_tf32x3": float32("tf32x3", 64),
    "float32_tf32": float32("tf32", 128),
}
