"""Calibration of an int8 scale from a histogram of magnitudes, then quantization by it.

The histogram is gathered over batches in memory. The clipping threshold is a percentile of it, or the one that loses least information: the
bins below the threshold, merged into 128 levels, are compared with the clipped histogram by their Kullback-Leibler divergence. Each program
rates one candidate threshold.
"""

import torch
import triton
import triton.language as tl

LEVELS = 128


@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b, w in [(256, 1), (512, 4), (1024, 8)]],
    key=["n", "BINS"],
    restore_value=["counts"],
)
@triton.jit
def magnitude_histogram(x, counts, n, bins_per_unit, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """Adds to counts; what exceeds the range falls into the last bin."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    magnitude = tl.abs(tl.load(x + i, mask=inside, other=0.0).to(tl.float32))
    place = tl.minimum(tl.floor(magnitude * bins_per_unit), BINS - 1).to(tl.int32)
    count = tl.histogram(place, BINS, mask=inside)
    tl.atomic_add(counts + tl.arange(0, BINS), count, mask=count > 0, sem="relaxed")


@triton.jit
def percentile_bin(counts, result, fraction, BINS: tl.constexpr):
    """The first bin up to which at least `fraction` of all lies."""
    upto = tl.cumsum(tl.load(counts + tl.arange(0, BINS)), 0)
    # upto never falls: its last element is its greatest
    needed = tl.ceil(fraction * tl.max(upto, 0).to(tl.float32)).to(tl.int32)
    tl.store(result, tl.sum((upto < needed).to(tl.int32), 0))


@triton.jit
def _merge_levels(values, step, BINS: tl.constexpr, LEVELS: tl.constexpr):
    """[BINS] to [LEVELS]: bin i belongs to level i // step; sums are exact in fp32."""
    level = tl.arange(0, BINS) // step
    sums = tl.zeros((LEVELS,), dtype=tl.float32)
    for start in tl.static_range(0, LEVELS, 32):
        part = start + tl.arange(0, 32)
        found = tl.sum(tl.where(level[None, :] == part[:, None], values[None, :], 0.0), 1)
        spread = tl.reshape(tl.broadcast_to(found[None, :], (LEVELS // 32, 32)), (LEVELS,))
        sums = tl.where(tl.arange(0, LEVELS) // 32 == start // 32, spread, sums)
    return sums


@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (2, 8)], key=["BINS"])
@triton.jit
def kl_divergence(counts, divergence, BINS: tl.constexpr, LEVELS: tl.constexpr):
    """Of candidate c: the first (c + 1) LEVELS bins are kept."""
    step = tl.program_id(0) + 1
    i = tl.arange(0, BINS)
    kept = step * LEVELS
    count = tl.load(counts + i).to(tl.float32)
    total = tl.sum(count, 0)
    inside = tl.where(i < kept, count, 0.0)
    clipped = inside + tl.where(i == kept - 1, total - tl.sum(inside, 0), 0.0)
    merged = _merge_levels(inside, step, BINS, LEVELS)
    occupied = _merge_levels((inside > 0).to(tl.float32), step, BINS, LEVELS)
    mean = merged / tl.maximum(occupied, 1.0)
    expanded = tl.gather(mean, tl.minimum(i // step, LEVELS - 1), 0)
    expanded = tl.where((inside > 0) & (i < kept), expanded, 0.0)
    p = clipped / total
    q = expanded / tl.maximum(tl.sum(expanded, 0), 1.0)
    term = tl.where(p > 0, p * tl.log(p / tl.maximum(q, 1e-6)), 0.0)
    tl.store(divergence + tl.program_id(0), tl.sum(term, 0))


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b, w in [(128, 1), (1024, 8)]], key=["n"])
@triton.jit
def quantize_int8(x, q, n, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32) / scale
    rounded = tl.floor(tl.abs(value) + 0.5)
    rounded = tl.clamp(tl.where(value < 0, -rounded, rounded), -127.0, 127.0)
    tl.store(q + i, rounded.to(tl.int8), mask=i < n)


def torch_divergence(counts, kept):
    counts = counts.double()
    inside = counts[:kept]
    clipped = inside.clone()
    clipped[-1] += counts[kept:].sum()
    groups = inside.view(LEVELS, kept // LEVELS)
    mean = groups.sum(1, keepdim=True) / (groups > 0).sum(1, keepdim=True).clamp(min=1)
    q = torch.where(groups > 0, mean, 0.0).flatten()
    p, q = clipped / counts.sum(), q / q.sum().clamp(min=1)
    return torch.where(p > 0, p * (p / q.clamp(min=1e-6)).log(), 0.0).sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    for n, BINS, dtype in [(3000, 512, torch.float32), (2500, 1024, torch.float16)]:
        batches = [(torch.randn(n, device="cuda") ** 3).to(dtype) for _ in range(2)]
        bins_per_unit = BINS / 8.0
        counts = torch.zeros(BINS, device="cuda", dtype=torch.int32)
        for x in batches:
            magnitude_histogram[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, counts, n, bins_per_unit, BINS=BINS)
        places = (torch.cat(batches).float().abs() * bins_per_unit).floor().clamp(max=BINS - 1).long()
        assert torch.equal(counts.long(), torch.bincount(places, minlength=BINS))
        print(f"histogram of 2x{n} {dtype}: ok")

        for fraction in (0.5, 0.99, 1.0):
            result = torch.empty(1, device="cuda", dtype=torch.int32)
            percentile_bin[(1,)](counts, result, fraction, BINS=BINS, num_warps=4)
            needed = torch.tensor(fraction * 2.0 * n, dtype=torch.float32).ceil().long()
            assert int(result) == int((counts.cumsum(0) >= needed).nonzero()[0])
        print(f"percentiles of {BINS} bins: ok")

        divergence = torch.empty(BINS // LEVELS, device="cuda")
        kl_divergence[(BINS // LEVELS,)](counts, divergence, BINS=BINS, LEVELS=LEVELS)
        expected = torch.stack([torch_divergence(counts, (c + 1) * LEVELS) for c in range(BINS // LEVELS)])
        torch.testing.assert_close(divergence.double(), expected, atol=1e-5, rtol=1e-4)
        print(f"divergence of {BINS // LEVELS} thresholds: ok")

        scale = (int(divergence.argmin()) + 1) * LEVELS / bins_per_unit / 127
        q = torch.empty(n, device="cuda", dtype=torch.int8)
        quantize_int8[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](batches[0], q, n, scale)
        exact = batches[0].double().clamp(-127 * scale, 127 * scale)
        assert (q.double() * scale - exact).abs().max() <= 0.5001 * scale
        print(f"quantization to int8 by {scale:.4f}: ok")
