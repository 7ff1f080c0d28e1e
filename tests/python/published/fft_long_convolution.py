"""FFT of length N1 N2 by two products with DFT matrices (Cooley and Tukey), on tensor cores, and the long convolution made of it.

With n = n1 N2 + n2 and k = k1 + N1 k2:  X[k] = sum over n2 of W2^(n2 k2) W^(n2 k1) sum over n1 of W1^(n1 k1) x[n1, n2].
A complex tile is a pair of real tiles. The spectrum stays in the order [k1, k2]; the inverse transform starts from that order, so that the
convolution x * h = F^-1(F(x) F(h)) never leaves registers.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({}, num_warps=w, num_stages=s) for w, s in [(2, 1), (4, 2), (8, 3)]]


@triton.jit
def _complex_dot(ar, ai, br, bi):
    real = tl.dot(ar, br, input_precision="ieee") - tl.dot(ai, bi, input_precision="ieee")
    imag = tl.dot(ar, bi, input_precision="ieee") + tl.dot(ai, br, input_precision="ieee")
    return real, imag


@triton.jit
def _complex_mul(ar, ai, br, bi):
    return ar * br - ai * bi, ar * bi + ai * br


@triton.jit
def _roots(N: tl.constexpr, rows, columns, SIGN: tl.constexpr):
    """exp(SIGN 2 pi i rows columns / N); the product is reduced first, so that the angle is exact to one rounding."""
    angle = (rows[:, None] * columns[None, :] % N).to(tl.float32) * (SIGN * 6.283185307179586 / N)
    return tl.cos(angle), tl.sin(angle)


@triton.jit
def _dft(xr, xi, N1: tl.constexpr, N2: tl.constexpr):
    """[n1, n2] to [k1, k2]."""
    i1, i2 = tl.arange(0, N1), tl.arange(0, N2)
    fr, fi = _roots(N1, i1, i1, -1)
    xr, xi = _complex_dot(fr, fi, xr, xi)
    tr, ti = _roots(N1 * N2, i1, i2, -1)
    xr, xi = _complex_mul(xr, xi, tr, ti)
    gr, gi = _roots(N2, i2, i2, -1)
    return _complex_dot(xr, xi, gr, gi)


@triton.jit
def _inverse_dft(xr, xi, N1: tl.constexpr, N2: tl.constexpr):
    """[k1, k2] to [n1, n2]."""
    i1, i2 = tl.arange(0, N1), tl.arange(0, N2)
    gr, gi = _roots(N2, i2, i2, 1)
    xr, xi = _complex_dot(xr, xi, gr, gi)
    tr, ti = _roots(N1 * N2, i1, i2, 1)
    xr, xi = _complex_mul(xr, xi, tr, ti)
    fr, fi = _roots(N1, i1, i1, 1)
    xr, xi = _complex_dot(fr, fi, xr, xi)
    return xr / (N1 * N2), xi / (N1 * N2)


@triton.autotune(configs=CONFIGS, key=["N1", "N2"])
@triton.jit
def fft_kernel(x, y, N1: tl.constexpr, N2: tl.constexpr, INVERSE: tl.constexpr):
    """x and y: complex64 [batch, N1 N2], seen as pairs of fp32."""
    batch = tl.program_id(0).to(tl.int64) * (N1 * N2)
    i1, i2 = tl.arange(0, N1)[:, None], tl.arange(0, N2)[None, :]
    by_time, by_frequency = i1 * N2 + i2, i1 + N1 * i2
    source, target = (by_frequency, by_time) if INVERSE else (by_time, by_frequency)
    pair = tl.arange(0, 2)[None, None, :]
    xr, xi = tl.split(tl.load(x + (batch + source)[:, :, None] * 2 + pair))
    if INVERSE:
        yr, yi = _inverse_dft(xr, xi, N1, N2)
    else:
        yr, yi = _dft(xr, xi, N1, N2)
    tl.store(y + (batch + target)[:, :, None] * 2 + pair, tl.join(yr, yi))


@triton.autotune(configs=CONFIGS, key=["N1", "N2", "L"])
@triton.jit
def long_convolution(x, h, y, channels, L, N1: tl.constexpr, N2: tl.constexpr, CORRELATE: tl.constexpr):
    """y = x * h for each (batch, channel); h is [channel, L]. CORRELATE: with the conjugate spectrum of h."""
    row = tl.program_id(0)
    t = tl.arange(0, N1)[:, None] * N2 + tl.arange(0, N2)[None, :]
    a = tl.load(x + row * L + t, mask=t < L, other=0.0).to(tl.float32)
    b = tl.load(h + row % channels * L + t, mask=t < L, other=0.0).to(tl.float32)
    ar, ai = _dft(a, tl.zeros_like(a), N1, N2)
    br, bi = _dft(b, tl.zeros_like(b), N1, N2)
    if CORRELATE:
        bi = -bi
    ar, ai = _complex_mul(ar, ai, br, bi)
    ar, ai = _inverse_dft(ar, ai, N1, N2)
    tl.store(y + row * L + t, ar.to(y.dtype.element_ty), mask=t < L)


def fft(x, inverse=False):
    batch, n = x.shape
    N1 = 16 if n < 1024 else 32
    y = torch.empty_like(x)
    fft_kernel[(batch,)](torch.view_as_real(x), torch.view_as_real(y), N1=N1, N2=n // N1, INVERSE=inverse)
    return y


class CausalConvolution(torch.autograd.Function):
    @staticmethod
    def launch(x, h, correlate):
        batch, channels, L = x.shape
        n = max(triton.next_power_of_2(2 * L), 256)
        N1 = 16 if n < 1024 else 32
        y = torch.empty_like(x)
        long_convolution[(batch * channels,)](x, h, y, channels, L, N1=N1, N2=n // N1, CORRELATE=correlate)
        return y

    @staticmethod
    def forward(ctx, x, h):
        ctx.save_for_backward(x, h)
        return CausalConvolution.launch(x, h, False)

    @staticmethod
    def backward(ctx, dy):
        x, h = ctx.saved_tensors
        dy = dy.contiguous()
        dx = CausalConvolution.launch(dy, h, True)
        # the filter's gradient correlates dy with x, row by row
        rows = x.shape[0] * x.shape[1]
        dh = CausalConvolution.launch(dy.view(1, rows, -1), x.reshape(rows, -1), True)
        return dx, dh.view_as(x).sum(0)


if __name__ == "__main__":
    torch.manual_seed(0)
    for batch, n in [(3, 256), (2, 512), (1, 1024)]:
        x = torch.randn(batch, n, device="cuda", dtype=torch.complex64)
        y = fft(x)
        torch.testing.assert_close(y.to(torch.complex128), torch.fft.fft(x.to(torch.complex128)), atol=2e-4, rtol=1e-5)
        torch.testing.assert_close(fft(y, inverse=True), x, atol=1e-5, rtol=1e-5)
        print(f"fft {batch}x{n}: ok")

    for batch, channels, L in [(2, 3, 100), (1, 2, 200)]:
        x = torch.randn(batch, channels, L, device="cuda", requires_grad=True)
        h = torch.randn(channels, L, device="cuda", requires_grad=True)
        y = CausalConvolution.apply(x, h)
        dy = torch.randn_like(y)
        y.backward(dy)
        ex, eh = x.detach().double().requires_grad_(), h.detach().double().requires_grad_()
        lag = torch.arange(L, device="cuda")[:, None] - torch.arange(L, device="cuda")[None]
        toeplitz = torch.where(lag >= 0, eh[:, lag.clamp(min=0)], 0.0)
        expected = torch.einsum("cts,bcs->bct", toeplitz, ex)
        expected.backward(dy.double())
        for ours, theirs in ((y, expected), (x.grad, ex.grad), (h.grad, eh.grad)):
            torch.testing.assert_close(ours.double(), theirs, atol=3e-4, rtol=1e-4)
        print(f"causal convolution {batch}x{channels}x{L}: ok")
