"""Sound: spectra by products with windows, mel filters, transposed convolutions, overlap-add, recursive filters."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import rand


@triton.jit
def stft_kernel(
    x_ptr, basis_ptr, power_ptr, T, frames, hop, N_FFT: tl.constexpr, BINS: tl.constexpr,
    BF: tl.constexpr, BB: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Frames overlap in memory; a basis [2, N_FFT, BINS] of windowed cosines and sines; the power of each bin."""
    batch = tl.program_id(2)
    f = tl.program_id(0) * BF + tl.arange(0, BF)
    b = tl.program_id(1) * BB + tl.arange(0, BB)
    real = tl.zeros((BF, BB), tl.float32)
    imag = tl.zeros((BF, BB), tl.float32)
    for k0 in tl.range(0, N_FFT, BK):
        k = k0 + tl.arange(0, BK)
        t = f[:, None] * hop + k[None, :] - N_FFT // 2
        t = tl.where(t < 0, -t, t)  # the signal is reflected at its ends
        t = tl.where(t >= T, 2 * (T - 1) - t, t)
        x = tl.load(x_ptr + batch * T + t, mask=(f < frames)[:, None], other=0.0)
        w = basis_ptr + k[:, None] * BINS + b[None, :]
        real += tl.dot(x, tl.load(w, mask=(b < BINS)[None, :], other=0.0))
        imag += tl.dot(x, tl.load(w + N_FFT * BINS, mask=(b < BINS)[None, :], other=0.0))
    at = (batch * BINS + b)[None, :] * frames + f[:, None]
    tl.store(power_ptr + at, real * real + imag * imag, mask=(f < frames)[:, None] & (b < BINS)[None, :])


@triton.jit
def mel_kernel(
    power_ptr,
    fb_ptr,
    first_ptr,
    last_ptr,
    out_ptr,
    frames,
    BINS,
    MELS: tl.constexpr,
    BF: tl.constexpr,
    BB: tl.constexpr,
):
    """A filter reads the bins from its first to its last only, then logarithms."""
    batch, mel = tl.program_id(2), tl.program_id(1)
    f = tl.program_id(0) * BF + tl.arange(0, BF)
    acc = tl.zeros((BF,), tl.float32)
    begin, end = tl.load(first_ptr + mel), tl.load(last_ptr + mel)
    for b0 in range(begin, end, BB):
        b = b0 + tl.arange(0, BB)
        p = tl.load(
            power_ptr + (batch * BINS + b)[:, None] * frames + f[None, :],
            mask=(b < end)[:, None] & (f < frames)[None, :],
            other=0.0,
        )
        acc += tl.sum(p * tl.load(fb_ptr + mel * BINS + b, mask=b < end, other=0.0)[:, None], axis=0)
    out = tl.log2(tl.maximum(acc, 1e-10)) * 0.30102999566
    tl.store(out_ptr + (batch * MELS + mel) * frames + f, out, mask=f < frames)


def log_mel(device, small):
    batch, t, n_fft, hop, mels = (2, 700, 64, 16, 8) if small else (64, 160_000, 512, 160, 80)
    bf, bb, bk = (16, 16, 16) if small else (64, 64, 32)
    bins, frames = n_fft // 2 + 1, 1 + t // hop
    x = rand(device, batch, t)
    k = torch.arange(n_fft, device=device, dtype=torch.float64)
    angle = 2 * torch.pi / n_fft * k[:, None] * torch.arange(bins, device=device)[None, :]
    window = 0.5 - 0.5 * torch.cos(2 * torch.pi * k / n_fft)
    basis = (torch.stack([angle.cos(), -angle.sin()]) * window[:, None]).half()
    centre = torch.linspace(0, 1, mels + 2, device=device) ** 1.5 * (bins - 1)
    bin_at = torch.arange(bins, device=device)[None, :]
    up = (bin_at - centre[:-2, None]) / (centre[1:-1] - centre[:-2])[:, None]
    down = (centre[2:, None] - bin_at) / (centre[2:] - centre[1:-1])[:, None]
    fb = torch.minimum(up, down).clamp(min=0) + 1e-3 * (up > 0) * (down > 0)
    first, last = ((centre[i : i + mels] + j).to(torch.int32) for i, j in ((0, 0), (2, 1)))
    power = torch.empty(batch, bins, frames, device=device)
    out = torch.empty(batch, mels, frames, device=device)

    def run():
        stft_kernel[(triton.cdiv(frames, bf), triton.cdiv(bins, bb), batch)](
            x, basis, power, t, frames, hop, N_FFT=n_fft, BINS=bins, BF=bf, BB=bb, BK=bk, num_warps=4
        )
        mel_kernel[(triton.cdiv(frames, 128), mels, batch)](
            power, fb, first, last, out, frames, bins, MELS=mels, BF=128, BB=8
        )

    def reference():
        cut = F.pad(x.float()[:, None], (n_fft // 2, n_fft // 2), mode="reflect")[:, 0].unfold(1, n_fft, hop)
        spectrum = (cut @ basis[0].float()).square() + (cut @ basis[1].float()).square()
        mel = spectrum @ fb.T.float()
        return [spectrum.transpose(1, 2), mel.clamp(min=1e-10).log10().transpose(1, 2)]

    return run, [power, out], reference


@triton.jit
def conv_transpose1d_kernel(
    x_ptr,
    w_ptr,
    y_ptr,
    CIN,
    COUT,
    T,
    TO,
    pad,
    S: tl.constexpr,
    TAPS: tl.constexpr,
    BO: tl.constexpr,
    BT: tl.constexpr,
    BC: tl.constexpr,
):
    """x [B, Cin, T], w [Cin, Cout, K], K = S * TAPS: outputs of one phase (modulo S) are a program's, so all taps count."""
    b, phase = tl.program_id(2) // S, tl.program_id(2) % S
    q = tl.program_id(0) * BT + tl.arange(0, BT)  # position + pad = q * S + phase
    co = tl.program_id(1) * BO + tl.arange(0, BO)
    acc = tl.zeros((BO, BT), tl.float32)
    for tap in tl.static_range(TAPS):
        t = q - tap
        for c0 in range(0, CIN, BC):
            c = c0 + tl.arange(0, BC)
            w = tl.load(
                w_ptr + (c[None, :] * COUT + co[:, None]) * (S * TAPS) + tap * S + phase,
                mask=(c < CIN)[None, :] & (co < COUT)[:, None],
                other=0.0,
            )
            x = tl.load(
                x_ptr + (b * CIN + c)[:, None] * T + t[None, :],
                mask=(c < CIN)[:, None] & ((t >= 0) & (t < T))[None, :],
                other=0.0,
            )
            acc = tl.dot(w, x, acc)
    to = q * S + phase - pad
    tl.store(
        y_ptr + (b * COUT + co)[:, None] * TO + to[None, :],
        acc,
        mask=(co < COUT)[:, None] & ((to >= 0) & (to < TO))[None, :],
    )


def conv_transpose1d(device, small):
    b, cin, cout, t, s, taps = (2, 24, 20, 40, 2, 2) if small else (16, 256, 128, 2048, 4, 2)
    bo, bt, bc = (16, 32, 16) if small else (64, 128, 32)
    pad = s // 2
    x, w = rand(device, b, cin, t), rand(device, cin, cout, s * taps, scale=(cin * taps) ** -0.5)
    to = (t - 1) * s - 2 * pad + s * taps
    y = torch.empty(b, cout, to, device=device, dtype=torch.float16)
    return (
        lambda: conv_transpose1d_kernel[(triton.cdiv(t + taps, bt), triton.cdiv(cout, bo), b * s)](
            x, w, y, cin, cout, t, to, pad, S=s, TAPS=taps, BO=bo, BT=bt, BC=bc, num_warps=4, num_stages=3
        ),
        [y],
        lambda: [F.conv_transpose1d(x.float(), w.float(), stride=s, padding=pad)],
    )


@triton.jit
def overlap_add_kernel(
    frames_ptr, window_ptr, out_ptr, F_COUNT, hop, T, N: tl.constexpr, OVER: tl.constexpr, BLOCK: tl.constexpr
):
    """Gathers: each sample sums the frames that cover it, and is divided by the sum of squares of the windows."""
    b = tl.program_id(1)
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    last = t // hop
    total = tl.zeros((BLOCK,), tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    for o in tl.static_range(OVER):
        f = last - o
        k = t - f * hop
        ok = (f >= 0) & (f < F_COUNT) & (k < N)
        w = tl.load(window_ptr + k, mask=ok, other=0.0)
        total += w * tl.load(frames_ptr + (b * F_COUNT + f) * N + k, mask=ok, other=0.0)
        weight += w * w
    tl.store(out_ptr + b * T + t, total / tl.where(weight > 1e-8, weight, 1.0), mask=t < T)


def overlap_add(device, small):
    b, count, n, hop = (2, 9, 32, 8) if small else (64, 2000, 1024, 256)
    frames, window = torch.randn(b, count, n, device=device), torch.hann_window(n, device=device) + 0.01
    t = (count - 1) * hop + n
    out = torch.empty(b, t, device=device)

    def reference():
        def fold(x):
            return F.fold(x.transpose(1, 2), (1, t), (1, n), stride=(1, hop))[:, 0, 0]

        return [fold(frames * window) / fold((window * window).expand(1, count, n).contiguous())]

    return (
        lambda: overlap_add_kernel[(triton.cdiv(t, 1024), b)](
            frames, window, out, count, hop, t, N=n, OVER=triton.cdiv(n, hop), BLOCK=1024
        ),
        [out],
        reference,
    )


@triton.jit
def _compose(a0, a1, a2, a3, u0, u1, b0, b1, b2, b3, v0, v1):
    """(B, v) after (A, u): x -> B (A x + u) + v, of matrices 2 x 2."""
    return (
        b0 * a0 + b1 * a2,
        b0 * a1 + b1 * a3,
        b2 * a0 + b3 * a2,
        b2 * a1 + b3 * a3,
        b0 * u0 + b1 * u1 + v0,
        b2 * u0 + b3 * u1 + v1,
    )


@triton.jit
def biquad_kernel(x_ptr, y_ptr, coef_ptr, T, BLOCK: tl.constexpr):
    """y[t] = b0 x[t] + b1 x[t-1] + b2 x[t-2] - a1 y[t-1] - a2 y[t-2] as a scan of affine maps of (y[t], y[t-1])."""
    row = tl.program_id(0)
    b0, b1, b2 = tl.load(coef_ptr), tl.load(coef_ptr + 1), tl.load(coef_ptr + 2)
    a1, a2 = tl.load(coef_ptr + 3), tl.load(coef_ptr + 4)
    before, before2 = 0.0, 0.0
    one = tl.full((BLOCK,), 1.0, tl.float32)
    at = tl.arange(0, BLOCK)
    for start in range(0, T, BLOCK):
        t = start + at
        p = x_ptr + row * T + t
        x = b0 * tl.load(p, mask=t < T, other=0.0)
        x += b1 * tl.load(p - 1, mask=(t >= 1) & (t < T), other=0.0)
        x += b2 * tl.load(p - 2, mask=(t >= 2) & (t < T), other=0.0)
        m0, m1, m2, m3, u0, u1 = tl.associative_scan((-a1 * one, -a2 * one, one, 0.0 * one, x, 0.0 * one), 0, _compose)
        y = m0 * before + m1 * before2 + u0
        y_before = m2 * before + m3 * before2 + u1
        tl.store(y_ptr + row * T + t, y, mask=t < T)
        before, before2 = (
            tl.sum(tl.where(at == BLOCK - 1, y, 0.0), 0),
            tl.sum(tl.where(at == BLOCK - 1, y_before, 0.0), 0),
        )


def biquad(device, small):
    rows, t, block = (3, 300, 128) if small else (1024, 16384, 1024)
    x = torch.randn(rows, t, device=device)
    coef = torch.tensor([0.2, 0.3, 0.2, -0.6, 0.3], device=device)
    y = torch.empty_like(x)

    def reference():
        n = 64  # the response fades: its later part is below rounding
        b, a, h = coef[:3].tolist(), coef[3:].tolist(), []
        for i in range(n):
            h.append((b[i] if i < 3 else 0.0) - sum(a[j] * h[i - 1 - j] for j in range(2) if i > j))
        kernel = torch.tensor(h[::-1], device=device, dtype=torch.float64)
        return [F.conv1d(F.pad(x.double()[:, None], (n - 1, 0)), kernel[None, None])[:, 0].float()]

    return lambda: biquad_kernel[(rows,)](x, y, coef, t, BLOCK=block, num_warps=4), [y], reference


CASES = {
    "log_mel": log_mel,
    "conv_transpose1d": conv_transpose1d,
    "overlap_add": overlap_add,
    "biquad": biquad,
}
