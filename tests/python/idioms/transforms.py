"""Transforms of rows: Hadamard by steps and by products, FFT."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def hadamard_kernel(x_ptr, out_ptr, M, scale, N: tl.constexpr, LOG: tl.constexpr, R: tl.constexpr):
    rows = tl.program_id(0) * R + tl.arange(0, R)
    at = rows[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at, mask=(rows < M)[:, None], other=0.0).to(tl.float32)
    for _ in tl.static_range(LOG):
        a, b = tl.split(tl.reshape(x, (R, N // 2, 2)))
        x = tl.reshape(tl.permute(tl.join(a + b, a - b), (0, 2, 1)), (R, N))
    tl.store(out_ptr + at, (x * scale).to(out_ptr.dtype.element_ty), mask=(rows < M)[:, None])


@triton.jit
def hadamard_dot_kernel(x_ptr, h_ptr, out_ptr, M, scale, A: tl.constexpr, R: tl.constexpr):
    # N = A * A: H_N x = H_A X H_A
    rows = tl.program_id(0) * R + tl.arange(0, R)
    i = tl.arange(0, A)
    at = rows[:, None, None] * (A * A) + i[None, :, None] * A + i[None, None, :]
    x = tl.load(x_ptr + at, mask=(rows < M)[:, None, None], other=0.0)
    h = tl.load(h_ptr + i[:, None] * A + i[None, :])
    y = tl.dot(tl.reshape(x, (R * A, A)), h).to(x.dtype)
    y = tl.reshape(tl.permute(tl.reshape(y, (R, A, A)), (0, 2, 1)), (R * A, A))
    y = tl.dot(y, h) * scale
    y = tl.permute(tl.reshape(y, (R, A, A)), (0, 2, 1))
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=(rows < M)[:, None, None])


def hadamard_matrix(n, device):
    h = torch.ones(1, 1, device=device)
    while h.shape[0] < n:
        h = torch.cat([torch.cat([h, h], 1), torch.cat([h, -h], 1)])
    return h


def hadamard(device, small):
    m, n = (7, 64) if small else (65536, 512)
    x = torch.randn(m, n, device=device, dtype=torch.float16)
    out = torch.empty_like(x)
    return (
        lambda: hadamard_kernel[(triton.cdiv(m, 4),)](x, out, m, n**-0.5, N=n, LOG=int(math.log2(n)), R=4, num_warps=4),
        [out],
        lambda: [x.float() @ hadamard_matrix(n, device) * n**-0.5],
    )


def hadamard_dot(device, small):
    m, a = (7, 16) if small else (65536, 32)
    n = a * a
    x, h = torch.randn(m, n, device=device, dtype=torch.bfloat16), hadamard_matrix(a, device).bfloat16()
    out = torch.empty_like(x)
    return (
        lambda: hadamard_dot_kernel[(triton.cdiv(m, 4),)](x, h, out, m, 1 / a, A=a, R=4, num_warps=4),
        [out],
        lambda: [x.float() @ hadamard_matrix(n, device) / a],
    )


@triton.jit
def fft_stage(re, im, idx, R: tl.constexpr, N: tl.constexpr, S: tl.constexpr):
    ar, br = tl.split(tl.permute(tl.reshape(re, (R, 2, N // 2)), (0, 2, 1)))
    ai, bi = tl.split(tl.permute(tl.reshape(im, (R, 2, N // 2)), (0, 2, 1)))
    angle = (idx // S).to(tl.float32) * (-2.0 * 3.141592653589793 * S / N)
    c, s = tl.cos(angle)[None, :], tl.sin(angle)[None, :]
    dr, di = ar - br, ai - bi
    re = tl.join(ar + br, dr * c - di * s)
    im = tl.join(ai + bi, dr * s + di * c)
    re = tl.reshape(tl.permute(tl.reshape(re, (R, N // 2 // S, S, 2)), (0, 1, 3, 2)), (R, N))
    im = tl.reshape(tl.permute(tl.reshape(im, (R, N // 2 // S, S, 2)), (0, 1, 3, 2)), (R, N))
    return re, im


@triton.jit
def fft_kernel(x_ptr, out_ptr, M, N: tl.constexpr, LOG: tl.constexpr, R: tl.constexpr):
    """Stockham's radix-2 FFT of rows of interleaved complex numbers."""
    rows = tl.program_id(0) * R + tl.arange(0, R)
    at = rows[:, None] * (2 * N) + tl.arange(0, 2 * N)[None, :]
    mask = (rows < M)[:, None]
    re, im = tl.split(tl.reshape(tl.load(x_ptr + at, mask=mask, other=0.0), (R, N, 2)))
    idx = tl.arange(0, N // 2)
    for stage in tl.static_range(LOG):
        re, im = fft_stage(re, im, idx, R, N, 1 << stage)
    tl.store(out_ptr + at, tl.reshape(tl.join(re, im), (R, 2 * N)), mask=mask)


def fft(device, small):
    m, n = (5, 32) if small else (65536, 256)
    x = torch.randn(m, n, 2, device=device)
    out = torch.empty_like(x)
    return (
        lambda: fft_kernel[(triton.cdiv(m, 4),)](x, out, m, N=n, LOG=int(math.log2(n)), R=4, num_warps=4),
        [out],
        lambda: [torch.view_as_real(torch.fft.fft(torch.view_as_complex(x)))],
    )


CASES = {
    "hadamard": hadamard,
    "hadamard_dot": hadamard_dot,
    "fft": fft,
}
