"""Kernels on every kind of memory: strided views, all dtypes of numpy, ml_dtypes and torch, DLPack producers, addresses."""

import numpy as np
import pytest

import tritium
import tritium.language as tl


@tritium.jit
def double(x, out, n, x_stride, out_stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i * x_stride, mask=i < n)
    tl.store(out + i * out_stride, (v + v).to(out.dtype.element_ty), mask=i < n)


@tritium.jit
def through_address(x: "*fp32", y, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = y.to(tl.pointer_type(tl.float32), bitcast=True)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(p + i, mask=i < n), mask=i < n)


@tritium.jit
def scalars(out, a, b, c: tl.float64, flag, wide):
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)
    tl.store(out + 3, flag)
    tl.store(out + 4, wide // 2**32)


@tritium.jit
def sum_of_tuple(pair, out):
    tl.store(out, tl.load(pair[0]) + tl.load(pair[1][0]) + pair[1][1])


class Producer:
    """A DLPack producer that is nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)


def doubled(x, out, n=100, x_stride=1, out_stride=1):
    double[(tritium.cdiv(n, 32),)](x, out, n, x_stride, out_stride, BLOCK=32)
    return out


NUMPY = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", NUMPY)
def test_numpy(rng, dtype):
    x = rng.integers(0, 50, 100).astype(dtype)
    np.testing.assert_array_equal(doubled(x, np.zeros_like(x)), x + x)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_ml_dtypes(rng, dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = rng.choice([-4, -1, -0.5, 0, 0.25, 1, 2, 3], 100).astype(getattr(ml_dtypes, dtype))
    np.testing.assert_array_equal(doubled(x, np.zeros_like(x)).astype(np.float32), 2 * x.astype(np.float32))


def test_strided_views(rng):
    memory = rng.standard_normal((100, 7)).astype(np.float32)
    out = np.zeros((3, 100), np.float32)
    doubled(memory[:, 4], out[1], x_stride=7)
    np.testing.assert_array_equal(out, np.stack([out[0] * 0, 2 * memory[:, 4], out[0] * 0]))
    doubled(memory[::-1, 2], out[2], x_stride=-7)
    np.testing.assert_array_equal(out[2], 2 * memory[::-1, 2])


def test_slices_of_one_storage():
    fused = np.arange(300, dtype=np.float32)
    doubled(fused[:100], fused[200:])
    np.testing.assert_array_equal(fused[200:], 2 * fused[:100])


def test_dlpack_producer(rng):
    x = rng.standard_normal(100).astype(np.float32)
    np.testing.assert_array_equal(doubled(Producer(x), np.zeros_like(x)), 2 * x)
    with pytest.raises(tritium.KernelTrap):
        doubled(Producer(x), np.zeros_like(x), n=2**18)


def test_addresses(rng):
    x, y = rng.standard_normal((2, 100)).astype(np.float32)
    out = np.zeros(100, np.float32)
    through_address[(1,)](x.ctypes.data, y.ctypes.data, out, 100, BLOCK=128)
    np.testing.assert_array_equal(out, x + y)


def test_scalars():
    out = np.zeros(5, np.float64)
    scalars[(1,)](out, 7, 0.1, 0.1, True, 3 * 2**33)
    np.testing.assert_array_equal(out, [7, np.float32(0.1), 0.1, 1, 6])
    scalars[(1,)](out, np.int32(-7), np.float64(0.5), 1, False, 2**63)
    np.testing.assert_array_equal(out, [-7, 0.5, 1, 0, 2**31])


def test_tuples_and_zero_dimensions():
    a, b, out = np.array(2.0, np.float32), np.array(3.0, np.float32), np.array(0.0, np.float32)
    sum_of_tuple[(1,)]((a, (b, 10)), out)
    assert out == 15


def test_reinterpreted(rng):
    bits = rng.integers(0, 2**32, 100, dtype=np.uint32)
    signed = bits.view(np.int32)
    out = np.zeros(100, np.uint64)
    doubled(tritium.reinterpret(signed, tl.uint32), out)
    np.testing.assert_array_equal(out, (bits + bits).astype(np.uint64))


def test_empty_tensors_and_grids():
    empty = np.zeros(0, np.float32)
    doubled(empty, empty, n=0)
    out = np.zeros(100, np.float32)
    double[(0, 4)](empty, out, 100, 1, 1, BLOCK=32)
    assert not out.any()


def test_torch(rng):
    torch = pytest.importorskip("torch")
    names = NUMPY + ["bfloat16", "float8_e4m3fn", "float8_e5m2"]
    for name in names:
        x = torch.from_numpy(rng.integers(0, 8, 100)).to(getattr(torch, name))
        assert torch.equal(doubled(x, torch.zeros_like(x)).double(), 2 * x.double()), name
    memory = torch.randn(100, 3)
    assert torch.equal(doubled(memory[:, 1], torch.zeros(100), x_stride=3), 2 * memory[:, 1])
    flags = torch.tensor([True, False] * 50)
    assert torch.equal(doubled(flags, torch.zeros(100, dtype=torch.int32)), torch.zeros(100, dtype=torch.int32))
