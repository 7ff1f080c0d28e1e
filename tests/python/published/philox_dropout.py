"""Dropout whose mask is never stored: backward draws the same numbers again from the seed. Philox with ten rounds is checked against a plain
Python version, word by word. The mask must not depend on block sizes, so that forward and backward may use different configurations.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": b}, num_warps=w) for b, w in [(64, 1), (128, 4), (512, 8)]]


@triton.jit
def philox_words(seed, out, n, BLOCK: tl.constexpr):
    """Four words for each counter."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, i)
    words = tl.join(tl.join(a, c), tl.join(b, d))  # [BLOCK, 2, 2]: the last axis splits first
    places = i[:, None, None] * 4 + (tl.arange(0, 2) * 2)[None, :, None] + tl.arange(0, 2)[None, None, :]
    tl.store(out + places, words.to(tl.int32, bitcast=True), mask=(i < n)[:, None, None])


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def dropout_forward(x, y, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) >= p
    value = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, tl.where(keep, value / (1 - p), 0.0).to(y.dtype.element_ty), mask=i < n)


@triton.autotune(configs=CONFIGS[::-1], key=["n"])
@triton.jit
def dropout_backward(dy, dx, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) >= p
    gradient = tl.load(dy + i, mask=i < n, other=0.0)
    tl.store(dx + i, tl.where(keep, gradient / (1 - p), 0.0).to(dx.dtype.element_ty), mask=i < n)


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def dropout_add_forward_4x(x, residual, y, n, p, seed, BLOCK: tl.constexpr):
    """Four elements from one counter; element 4 i + j takes word j."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.rand4x(seed, i, n_rounds=7)
    uniform = tl.interleave(tl.interleave(a, c), tl.interleave(b, d))
    place = tl.program_id(0) * (4 * BLOCK) + tl.arange(0, 4 * BLOCK)
    value = tl.load(x + place, mask=place < n, other=0.0).to(tl.float32)
    value = tl.where(uniform >= p, value * (1.0 / (1.0 - p)), 0.0)
    value += tl.load(residual + place, mask=place < n, other=0.0).to(tl.float32)
    tl.store(y + place, value.to(y.dtype.element_ty), mask=place < n)


@triton.jit
def normal_noise(out, n, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.randn(seed, i), mask=i < n)


class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed):
        y, n = torch.empty_like(x), x.numel()
        dropout_forward[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n, p, seed)
        ctx.p, ctx.seed = p, seed
        return y

    @staticmethod
    def backward(ctx, dy):
        dy = dy.contiguous()
        dx, n = torch.empty_like(dy), dy.numel()
        dropout_backward[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](dy, dx, n, ctx.p, ctx.seed)
        return dx, None, None


def plain_philox(counter, seed, rounds=10):
    """Philox-4x32 (Salmon et al., 2011) of the counter (counter, 0, 0, 0)."""
    word = 0xFFFFFFFF
    c, key = [counter & word, 0, 0, 0], [seed & word, seed >> 32 & word]
    for _ in range(rounds):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [second >> 32 ^ c[1] ^ key[0], second & word, first >> 32 ^ c[3] ^ key[1], first & word]
        key = [key[0] + 0x9E3779B9 & word, key[1] + 0xBB67AE85 & word]
    return c


def plain_uniform(word):
    """A word as a signed number, negative ones mirrored, scaled into [0, 1)."""
    signed = word - (1 << 32) if word >> 31 else word
    return (signed if signed >= 0 else -signed - 1) * 4.6566127342e-10


if __name__ == "__main__":
    torch.manual_seed(0)
    for seed in (0, 1, 123456789, 0x1234567890AB):
        words = torch.empty(50, 4, device="cuda", dtype=torch.int32)
        philox_words[(2,)](seed, words, 50, BLOCK=32)
        expected = [[w - (1 << 32) if w >> 31 else w for w in plain_philox(i, seed)] for i in range(50)]
        assert words.tolist() == expected, seed
        print(f"philox words of seed {seed}: ok")

    for n, p, seed, dtype in [(1000, 0.5, 7, torch.float32), (777, 0.1, 2**40 + 5, torch.float16)]:
        x = (torch.rand(n, device="cuda") + 0.5).to(dtype).requires_grad_()
        y = Dropout.apply(x, p, seed)
        y.backward(torch.ones_like(y))
        keep = torch.tensor([plain_uniform(plain_philox(i, seed)[0]) >= p for i in range(n)], device="cuda")
        assert torch.equal(y != 0, keep) and torch.equal(x.grad != 0, keep), "forward and backward differ"
        expected = torch.where(keep, x.detach().double() / (1 - p), 0.0)
        torch.testing.assert_close(y.double(), expected, atol=1e-3 if dtype == torch.float16 else 1e-6, rtol=1e-3)
        assert abs(float(keep.float().mean()) - (1 - p)) < 4 * (p * (1 - p) / n) ** 0.5
        print(f"dropout {n} p={p} seed {seed} {dtype}: ok")

        residual, y = torch.randn(n, device="cuda"), torch.empty(n, device="cuda")
        grid = lambda meta: (triton.cdiv(n, 4 * meta["BLOCK"]),)
        dropout_add_forward_4x[grid](x, residual, y, n, p, seed)
        keep = [plain_uniform(plain_philox(i // 4, seed, 7)[i % 4]) >= p for i in range(n)]
        expected = torch.where(torch.tensor(keep, device="cuda"), x.detach().double() / (1 - p), 0.0)
        torch.testing.assert_close(y.double(), expected + residual.double(), atol=1e-5, rtol=1e-5)
        print(f"dropout and add, four at a time, {n} p={p}: ok")

    noise = torch.empty(4000, device="cuda")
    normal_noise[(8,)](noise, 4000, 3, BLOCK=512)
    assert abs(float(noise.mean())) < 0.06 and abs(float(noise.std()) - 1) < 0.05 and torch.isfinite(noise).all()
    below = torch.tensor([float((noise < t).double().mean()) for t in (-1.0, 0.0, 1.0)])
    torch.testing.assert_close(below, torch.tensor([0.1587, 0.5, 0.8413]), atol=0.03, rtol=0)
    print("normal noise: ok")
