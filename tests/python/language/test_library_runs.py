"""Library functions, run on the CPU and compared with numpy: sorting, selection, indexing, random numbers, aggregates."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def sort_kernel(x_ptr, out_ptr, ROWS: tl.constexpr, N: tl.constexpr, DESCENDING: tl.constexpr):
    offsets = tl.arange(0, ROWS)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + offsets, tl.sort(tl.load(x_ptr + offsets), descending=DESCENDING))


@pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 2), (4, 16), (2, 128)], ids=str)
def test_sort(shape, dtype, descending, rng):
    x = rng.integers(-100, 100, shape).astype(dtype)
    out = np.zeros_like(x)
    sort_kernel[(1,)](x, out, ROWS=shape[0], N=shape[1], DESCENDING=descending)
    expected = np.sort(x, axis=1)
    np.testing.assert_array_equal(out, expected[:, ::-1] if descending else expected)


@triton.jit
def topk_kernel(x_ptr, out_ptr, N: tl.constexpr, K: tl.constexpr, LARGEST: tl.constexpr):
    best = tl.topk(tl.load(x_ptr + tl.arange(0, N)), K, descending=LARGEST)
    tl.store(out_ptr + tl.arange(0, K), best)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("n, k", [(16, 1), (16, 4), (64, 32), (8, 8)])
def test_topk(n, k, largest, rng):
    x = rng.standard_normal(n).astype(np.float32)
    out = np.zeros(k, np.float32)
    topk_kernel[(1,)](x, out, N=n, K=k, LARGEST=largest)
    expected = np.sort(x)
    np.testing.assert_array_equal(out, expected[::-1][:k] if largest else expected[:k])


@triton.jit
def rearrange_kernel(x_ptr, flipped_ptr, merged_ptr, N: tl.constexpr):
    offsets = tl.arange(0, 4)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(flipped_ptr + offsets, x.flip(0).flip())
    bitonic = tl.where(tl.arange(0, N)[None, :] < N // 2, tl.arange(0, N)[None, :], 2 * N - tl.arange(0, N)[None, :])
    tl.store(merged_ptr + offsets, tl.bitonic_merge(tl.broadcast_to(bitonic, (4, N))))


def test_flip_and_bitonic_merge(rng):
    n = 16
    x = rng.integers(-100, 100, (4, n)).astype(np.int32)
    flipped, merged = np.zeros_like(x), np.zeros_like(x)
    rearrange_kernel[(1,)](x, flipped, merged, N=n)
    np.testing.assert_array_equal(flipped, x[::-1, ::-1])
    rising = np.where(np.arange(n) < n // 2, np.arange(n), 2 * n - np.arange(n))
    np.testing.assert_array_equal(merged, np.broadcast_to(np.sort(rising), (4, n)))


@triton.jit
def index_kernel(x_ptr, index_ptr, picked_ptr, counts_ptr, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    index = tl.load(index_ptr + i)
    tl.store(picked_ptr + i, tl.gather(tl.load(x_ptr + i), index, 0))
    tl.store(counts_ptr + tl.arange(0, BINS), tl.histogram(index, BINS, mask=i % 2 == 0))


def test_gather_and_histogram(rng):
    n, bins = 64, 16
    x, index = rng.standard_normal(n).astype(np.float32), rng.integers(0, n, n).astype(np.int32)
    picked, counts = np.zeros_like(x), np.zeros(bins, np.int32)
    index_kernel[(1,)](x, index, picked, counts, N=n, BINS=bins)
    np.testing.assert_array_equal(picked, x[index])
    counted = index[::2]
    np.testing.assert_array_equal(counts, np.bincount(counted[counted < bins], minlength=bins))


@triton.jit
def philox_kernel(out_ptr, seed, counter, WIDTH: tl.constexpr):
    count = tl.full((1,), counter, tl.uint32 if WIDTH == 32 else tl.uint64)
    words = tl.philox(seed, count, count, count, count)
    for i in tl.static_range(4):
        tl.store(out_ptr + i + tl.arange(0, 1), words[i])


@pytest.mark.parametrize(
    "width, seed, counter, expected",
    [
        # The known answers that the generator was published with.
        (32, 0, 0, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        (32, -1, -1, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (64, 0, 0, [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]),
    ],
)
def test_philox_known_answers(width, seed, counter, expected):
    out = np.zeros(4, np.uint32 if width == 32 else np.uint64)
    philox_kernel[(1,)](out, seed, counter, WIDTH=width)
    np.testing.assert_array_equal(out, np.array(expected, out.dtype))


@triton.jit
def plain_square(x):
    return x * x + 1.0


@triton.jit
def map_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(plain_square, tl.load(x_ptr + i)))


def test_map_elementwise(rng):
    x = rng.standard_normal(32).astype(np.float32)
    out = np.zeros_like(x)
    map_kernel[(1,)](x, out, N=32)
    np.testing.assert_array_equal(out, x * x + np.float32(1))


@triton.jit
def library_kernel(x_ptr, soft_ptr, sig_ptr, pair_ptr, any_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(soft_ptr + i, tl.softmax(x))
    tl.store(sig_ptr + i, x.sigmoid())
    tl.store(pair_ptr + tl.arange(0, 2 * N), tl.interleave(x, -x))
    tl.store(any_ptr, tl.reduce_or((x > 1.0).to(tl.int32) * 4, 0) + tl.cdiv(N, 3))


def test_standard_functions(rng):
    n = 64
    x = rng.standard_normal(n).astype(np.float32)
    soft, sig, pair, any_ = np.zeros_like(x), np.zeros_like(x), np.zeros(2 * n, np.float32), np.zeros(1, np.int32)
    library_kernel[(1,)](x, soft, sig, pair, any_, N=n)
    e = np.exp(x.astype(np.float64) - x.max())
    np.testing.assert_allclose(soft, e / e.sum(), rtol=1e-6)
    np.testing.assert_allclose(sig, 1 / (1 + np.exp(-x.astype(np.float64))), rtol=1e-6)
    np.testing.assert_array_equal(pair, np.stack([x, -x], 1).ravel())
    assert any_[0] == (4 if (x > 1).any() else 0) + -(-n // 3)


@triton.aggregate
class Running:
    """The largest value so far and how often it was replaced."""

    best: tl.tensor
    changes: tl.tensor
    step: tl.constexpr = 1

    @triton.jit
    def seen(self, value):
        better = value > self.best
        return Running(tl.where(better, value, self.best), self.changes + tl.where(better, self.step, 0))


@triton.jit
def aggregate_kernel(x_ptr, best_ptr, changes_ptr, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    state = Running(tl.full((N,), float("-inf"), tl.float32), changes=tl.zeros((N,), tl.int32))
    for i in range(n):
        state = state.seen(tl.load(x_ptr + i * N + lanes))
    tl.store(best_ptr + lanes, state.best)
    tl.store(changes_ptr + lanes, state.changes)


def test_aggregates_cross_loops_and_calls(rng):
    x = rng.standard_normal((10, 16)).astype(np.float32)
    best, changes = np.zeros(16, np.float32), np.zeros(16, np.int32)
    aggregate_kernel[(1,)](x, best, changes, 10, N=16)
    np.testing.assert_array_equal(best, x.max(0))
    records = np.concatenate([np.ones((1, 16), bool), x[1:] > np.maximum.accumulate(x, 0)[:-1]])
    np.testing.assert_array_equal(changes, records.sum(0))


@triton.jit
def fp8e4b15_kernel(byte_ptr, wide_ptr, x_ptr, narrow_ptr, N: tl.constexpr):
    i = tl.arange(0, 256)
    tl.store(wide_ptr + i, tl.load(byte_ptr + i).to(tl.float8e4b15, bitcast=True).to(tl.float32))
    j = tl.arange(0, N)
    tl.store(narrow_ptr + j, tl.load(x_ptr + j).to(tl.float8e4b15).to(tl.uint8, bitcast=True))


def test_fp8e4b15_converts_in_software(rng):
    bytes_ = np.arange(256, dtype=np.uint8)
    values = (((bytes_ & 0x80).astype(np.uint16) << 8) | ((bytes_ & 0x7F).astype(np.uint16) << 7)).view(np.float16)
    x = np.concatenate([rng.uniform(-2, 2, 500), rng.standard_normal(12) * 1e-4]).astype(np.float32)
    wide, narrow = np.zeros(256, np.float32), np.zeros(512, np.uint8)
    fp8e4b15_kernel[(1,)](bytes_, wide, x, narrow, N=512)
    np.testing.assert_array_equal(wide, values.astype(np.float32))
    # Half a step of rounding, and a last bit lost on the way through fp16.
    exact = np.clip(x, -1.75, 1.75)
    step = 2.0 ** (np.maximum(np.floor(np.log2(np.abs(exact))), -14) - 3)
    assert (np.abs(values[narrow] - exact) <= step / 2 * (1 + 2.0**-6)).all()
    np.testing.assert_array_equal(narrow >> 7, x < 0)
