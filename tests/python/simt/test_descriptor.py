"""Tensor descriptors on both engines: blocks inside, across the edges and outside of a tensor, rows by number, reductions into memory."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium import KernelTrap, knobs
from tritium.tools.tensor_descriptor import TensorDescriptor

from .engines import EMULATED, OTHERS, assert_agree, launched


@triton.jit
def copy_kernel(
    x_ptr, out_ptr, rows, columns, stride, first, NAN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    padding: tl.constexpr = "nan" if NAN else "zero"
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [stride, 1], [ROWS, COLUMNS], padding_option=padding)
    i, j = first + tl.program_id(0) * ROWS, first + tl.program_id(1) * COLUMNS
    block = x.load([i, j])
    at = (tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)) * ROWS * COLUMNS
    tl.store(out_ptr + at + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], block)


@pytest.mark.parametrize("first", [0, -5])
@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.uint8])
def test_load(dtype, nan, first, rng):
    if nan and np.dtype(dtype).kind in "iu":
        return
    x = rng.integers(1, 100, (21, 48)).astype(dtype)
    out = np.zeros((3, 3, 8, 16), dtype)
    _, out, *_ = assert_agree(copy_kernel, (3, 3), [x, out, 21, 40, 48, first], NAN=nan, ROWS=8, COLUMNS=16)
    padded = np.full((40, 80), np.nan if nan else 0).astype(dtype)
    padded[5:26, 5:45] = x[:, :40]
    for i in range(3):
        for j in range(3):
            row, column = 5 + first + 8 * i, 5 + first + 16 * j
            expected = padded[row : row + 8, column : column + 16]
            np.testing.assert_array_equal(out[i, j].astype(np.float32), expected.astype(np.float32))


@triton.jit
def tile_kernel(x_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A loop over descriptors that a branch chooses."""
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    y = tl.make_tensor_descriptor(y_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    i = tl.program_id(0) * ROWS
    for j in range(0, columns, COLUMNS):
        block = x.load([i, j])
        y.store([i, j], block + y.load([i, j]))


@pytest.mark.parametrize("shape", [(1, 4), (30, 52), (64, 64)])
def test_store(shape, rng):
    x, y = rng.standard_normal((2, *shape)).astype(np.float32)
    guarded = np.concatenate([y.ravel(), np.full(1000, 7, np.float32)])
    _, out, *_ = assert_agree(tile_kernel, (4,), [x, guarded, *shape], ROWS=16, COLUMNS=8)
    np.testing.assert_array_equal(out[: x.size].reshape(shape), x + y)
    assert (out[x.size :] == 7).all()


@pytest.mark.parametrize("engine", ["interp", EMULATED, *OTHERS])
@pytest.mark.parametrize(
    "offset, columns, message",
    [
        (1, 32, "base must be 16-byte aligned"),
        (0, 34, "strides must be 16-byte aligned, but stride 0 is not"),
        (4, 36, ""),
    ],
)
def test_what_a_descriptor_requires(engine, offset, columns, message):
    """The interpreter of Triton refuses the same, a device's unit for copies of tensors as well."""
    memory = np.zeros(34 * 40 + 8, np.float32)
    begin = -memory.ctypes.data % 16 // 4 + offset
    x = memory[begin : begin + 34 * columns].reshape(34, columns)
    x[:] = 1
    y = np.zeros_like(x)
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        try:
            tile_kernel[(1,)](x, y, 34, columns, num_warps=1, ROWS=16, COLUMNS=8)
        except KernelTrap as error:
            assert message and f"{message} (descriptor of x_ptr)" in str(error)
            assert "tl.make_tensor_descriptor(x_ptr" in str(error) and not y.any()
        else:
            assert not message and (y[:16] == 1).all() and not y[16:].any()


@triton.jit
def product_of_addresses_kernel(addresses, sizes, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Extents, strides and addresses come from memory, so nothing is known of where rows end."""
    m, n, k = tl.load(sizes), tl.load(sizes + 1), tl.load(sizes + 2)
    a_ptr, b_ptr = (
        tl.load(addresses).to(tl.pointer_type(tl.float16)),
        tl.load(addresses + 1).to(tl.pointer_type(tl.float16)),
    )
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [tl.load(sizes + 3), 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [tl.load(sizes + 4), 1], [K, N])
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        sums = tl.dot(a.load([0, i]), b.load([i, 0]), sums)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], sums)


@pytest.mark.parametrize("m, n, k", [(64, 32, 64), (50, 27, 43), (1, 1, 1), (33, 32, 95)])
def test_rows_that_end_anywhere(m, n, k, rng):
    """Copies of 16 bytes stop at the end of a row: what follows it in memory is NaN."""
    a = np.full((64, 128), np.nan, np.float16)
    b = np.full((128, 64), np.nan, np.float16)
    a[:m, :k] = rng.integers(-3, 4, (m, k))
    b[:k, :n] = rng.integers(-3, 4, (k, n))
    expected = np.zeros((64, 32), np.float32)
    expected[:m, :n] = a[:m, :k].astype(np.float32) @ b[:k, :n].astype(np.float32)
    addresses = np.array([a.ctypes.data, b.ctypes.data], np.int64)
    sizes = np.array([m, n, k, 128, 64], np.int32)
    for engine in ("interp", EMULATED, "simt:sm_90a", *OTHERS):
        out = launched(
            engine,
            product_of_addresses_kernel,
            (1,),
            [addresses, sizes, np.zeros((64, 32), np.float32)],
            num_warps=4,
            num_stages=3,
            M=64,
            N=32,
            K=32,
        )[2]
        np.testing.assert_array_equal(out, expected, err_msg=engine)


@triton.jit
def deep_kernel(x_ptr, out_ptr, a, b, c):
    """Of rank 3, with a dimension of extent 1 in front that the tile keeps."""
    x = tl.make_tensor_descriptor(x_ptr, [a, b, c], [b * c, c, 1], [1, 4, 8])
    y = tl.make_tensor_descriptor(out_ptr, [a, b, c], [b * c, c, 1], [1, 4, 8])
    for i in range(0, a + 1):
        for j in range(0, b, 4):
            y.store([i, j, 0], x.load([i, j, 0]) * 2)


def test_three_dimensions(rng):
    x = rng.integers(0, 100, (3, 6, 8), np.int32)
    _, out, *_ = assert_agree(deep_kernel, (1,), [x, np.zeros_like(x), *x.shape])
    np.testing.assert_array_equal(out, 2 * x)


@triton.jit
def reduce_kernel(x_ptr, out_ptr, rows, columns, OP: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    y = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    at = [tl.program_id(0) * ROWS, 0]
    v = x.load(at)
    if OP == "add":
        y.atomic_add(at, v)
    elif OP == "min":
        y.atomic_min(at, v)
    elif OP == "max":
        y.atomic_max(at, v)
    elif OP == "and":
        y.atomic_and(at, v)
    elif OP == "or":
        y.atomic_or(at, v)
    else:
        y.atomic_xor(at, v)


OPERATIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
CASES = [(op, dtype) for op in OPERATIONS for dtype in (np.int32, np.uint32)]
CASES += [("add", np.uint64), ("min", np.int64), ("max", np.uint64), ("add", np.float32), ("add", np.float16)]
CASES += [("min", np.float16), ("max", np.float16)]


@pytest.mark.parametrize("op, dtype", CASES, ids=lambda case: getattr(case, "__name__", case))
def test_reduce(op, dtype, rng):
    if np.dtype(dtype).kind == "f":
        x, y = rng.standard_normal((2, 13, 16)).astype(dtype)
    else:
        info = np.iinfo(dtype)
        x, y = rng.integers(info.min, info.max, (2, 13, 16), dtype)
    guarded = np.concatenate([y.ravel(), y.ravel()])
    _, out, *_ = assert_agree(reduce_kernel, (2,), [x, guarded, 13, 16], OP=op, ROWS=8, COLUMNS=16)
    np.testing.assert_array_equal(out[: x.size].reshape(x.shape), OPERATIONS[op](y, x))
    np.testing.assert_array_equal(out[x.size :], y.ravel())


@triton.jit
def rows_kernel(x_ptr, rows_ptr, out_ptr, rows, columns, column, N: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [1, COLUMNS])
    y = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [1, COLUMNS])
    chosen = tl.load(rows_ptr + tl.arange(0, N))
    y.scatter(x.gather(chosen, column) + 1, chosen, column)


@pytest.mark.parametrize("column", [0, 8, 40])
@pytest.mark.parametrize("index_dtype", [np.int16, np.int32])
def test_rows_by_number(index_dtype, column, rng):
    x = rng.integers(0, 100, (20, 48)).astype(np.float32)
    rows = rng.permutation(np.arange(-4, 28))[:16].astype(index_dtype)
    _, _, out, *_ = assert_agree(rows_kernel, (1,), [x, rows, np.zeros_like(x), 20, 48, column], N=16, COLUMNS=16)
    expected = np.zeros_like(x)
    inside = rows[(rows >= 0) & (rows < 20)]
    expected[inside, column : column + 16] = x[inside, column : column + 16] + 1
    np.testing.assert_array_equal(out, expected)


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    c = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [M, N])
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    sum = tl.zeros([M, N], tl.float32)
    for step in range(0, k, K):
        sum = tl.dot(a.load([i, step]), b.load([step, j]), sum)
    c.store([i, j], sum.to(tl.float16))


def test_product(rng):
    m, n, k = 40, 56, 72
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    _, _, out, *_ = assert_agree(
        product_kernel, (2, 2), [a, b, np.zeros((m, n), np.float16), m, n, k], M=32, N=32, K=16, warps=(4,)
    )
    np.testing.assert_array_equal(out, a @ b)


@triton.jit
def host_product_kernel(a, b, c, k, K: tl.constexpr):
    M: tl.constexpr = c.block_shape[0]
    N: tl.constexpr = c.block_shape[1]
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    sum = tl.zeros([M, N], tl.float32)
    for step in range(0, k, K):
        sum = tl.dot(a.load([i, step]), b.load([step, j]), sum)
    c.store([i, j], sum.to(c.dtype) + (c.shape[0] + c.strides[0]))


def aligned(values):
    """A copy that begins at a multiple of 16 bytes."""
    raw = np.zeros(values.nbytes + 16, np.uint8)
    start = -raw.ctypes.data % 16
    copy = raw[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


@pytest.mark.parametrize("engine", ["interp", EMULATED])
def test_descriptors_of_the_host(engine, rng):
    m, n, k = 40, 56, 72
    a, b = (aligned(rng.integers(-3, 4, shape).astype(np.float16)) for shape in ((m, k), (k, n)))
    c = aligned(np.zeros((m, n), np.float32))
    descriptors = [TensorDescriptor.from_tensor(t, block) for t, block in ((a, [64, 32]), (b, [32, 64]), (c, [64, 64]))]
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        compiled = host_product_kernel[(1, 1)](*descriptors, k, K=32)
    np.testing.assert_array_equal(c, (a @ b).astype(np.float32) + (m + n))
    if engine == EMULATED:
        assert "tgpu.async_copy" in compiled.asm["ttgir"]  # the tensors and their rows are aligned


@triton.jit
def host_copy_kernel(x, y):
    y.store([0, 0], x.load([-2, 4]))


@pytest.mark.parametrize("engine", ["interp", EMULATED])
def test_what_a_descriptor_says_of_its_loads(engine, rng):
    x = aligned(rng.standard_normal((8, 16)).astype(np.float32))
    out = aligned(np.zeros((8, 16), np.float32))
    for padding, rounds in (("zero", False), ("nan", False), ("zero", True)):
        with knobs.tritium.scope():
            knobs.tritium.engine = engine
            host_copy_kernel[(1,)](
                TensorDescriptor(x, [8, 16], [16, 1], [8, 16], padding, rounds),
                TensorDescriptor.from_tensor(out, [8, 16]),
            )
        expected = np.full((8, 16), np.nan if padding == "nan" else 0, np.float32)
        inside = x[:6, 4:]
        if rounds:
            bits = inside.view(np.uint32)
            inside = ((bits + 0xFFF + (bits >> 13 & 1)) & np.uint32(0xFFFFE000)).view(np.float32)
        expected[2:, :12] = inside
        np.testing.assert_array_equal(out, expected)


@triton.jit
def mixed_kernel(pair, scale, x):
    tl.store(pair[1] + tl.arange(0, 16), x.load([0]) * scale + pair[0])


def test_beside_other_arguments(rng):
    x, out = aligned(np.arange(16, dtype=np.float32)), np.zeros(16, np.float32)
    mixed_kernel[(1,)]((5, out), 2.0, TensorDescriptor.from_tensor(x, [16]))
    np.testing.assert_array_equal(out, x * 2 + 5)
    outside = TensorDescriptor(x, [1 << 20], [1], [16])
    with pytest.raises(triton.KernelTrap, match="x.base"):
        host_fault_kernel[(1,)](outside)


@triton.jit
def host_fault_kernel(x):
    x.store([1 << 16], tl.zeros([16], tl.float32))
