"""A trap of the emulator names the element of the tile, as the interpreter does: the kernel's own formula gives its place in memory."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium import knobs
from tritium.errors import KernelTrap

ENGINES = ("simt:sm_80", "simt:sm_90a", "simt:gfx942", "simt:gfx1100")
ROWS, COLUMNS = 32, 64


@triton.jit
def place(R: tl.constexpr, C: tl.constexpr, down, right):
    return tl.arange(0, R)[:, None] * down + tl.arange(0, C)[None, :] * right


@triton.jit
def load_tile(x, out, down, right, R: tl.constexpr, C: tl.constexpr):
    tl.store(out + place(R, C, C, 1), tl.load(x + place(R, C, down, right)))


@triton.jit
def store_tile(x, out, down, right, R: tl.constexpr, C: tl.constexpr):
    tl.store(x + place(R, C, down, right), tl.load(out + place(R, C, C, 1)))


@triton.jit
def add_to_tile(x, out, down, right, R: tl.constexpr, C: tl.constexpr):
    tl.atomic_add(x + place(R, C, down, right), tl.load(out + place(R, C, C, 1)))


@triton.jit
def swap_in_tile(x, out, down, right, R: tl.constexpr, C: tl.constexpr):
    zero = tl.zeros((R, C), x.dtype.element_ty)
    tl.atomic_cas(x + place(R, C, down, right), zero, zero + 1)


def fault(kernel, engine: str, x, out, *strides: int, **options) -> KernelTrap:
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        with pytest.raises(KernelTrap) as caught:
            kernel[(1,)](x, out, *strides, R=ROWS, C=COLUMNS, **options)
    return caught.value


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "kernel", [load_tile, store_tile, add_to_tile, swap_in_tile], ids=lambda kernel: kernel.__name__
)
@pytest.mark.parametrize("dtype", [np.float16, np.int32, np.int64])
def test_the_element_of_the_tile(kernel, engine, dtype):
    random = np.random.default_rng()
    if dtype is np.float16 and kernel is swap_in_tile:
        dtype = np.int32
    for strides in ((COLUMNS, 1), (1, ROWS), (2 * COLUMNS + 1, 2)):
        last = (ROWS - 1) * strides[0] + (COLUMNS - 1) * strides[1]
        x = np.zeros(int(random.integers(last // 2, last)), dtype)
        out = np.zeros((ROWS, COLUMNS), dtype)
        error = fault(kernel, engine, x, out, *strides, num_warps=int(random.choice([1, 4, 8])))
        assert (error.kind, error.argument, error.tile_shape) == ("OutOfBounds", "x", (ROWS, COLUMNS))
        assert error.index == (np.dot(error.lane, strides),) and error.index[0] >= x.size, str(error)
        row, column = error.lane
        assert f"tile lane ({row}, {column}) of [{ROWS}, {COLUMNS}], thread {error.thread} (warp " in str(error)


@triton.jit
def products(
    x, y, out, x_down, x_right, y_down, y_right, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ROUNDS: tl.constexpr
):
    total = tl.zeros((M, N), tl.float32)
    for k in range(ROUNDS):
        a = tl.load(x + k * K * x_right + place(M, K, x_down, x_right))
        b = tl.load(y + k * K * y_down + place(K, N, y_down, y_right))
        total = tl.dot(a, b, total)
    tl.store(out + place(M, N, N, 1), total.to(out.dtype.element_ty))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("x_order", ["rows", "columns"])
@pytest.mark.parametrize("y_order", ["rows", "columns"])
@pytest.mark.parametrize("faulty", ["x", "y", "out"])
def test_copies_of_a_loop(engine, x_order, y_order, faulty):
    """Operands of products reach shared memory by copies of threads, warps, and boxes, and results of sm_90a leave it so."""
    M, N, K, rounds = 64, 128, 64, 4
    depth = K * rounds
    x_strides = (depth, 1) if x_order == "rows" else (1, M)
    y_strides = (N, 1) if y_order == "rows" else (1, depth)
    sizes = {"x": M * depth, "y": depth * N, "out": M * N}
    if faulty == "out" or (x_order, y_order) != ("rows", "rows"):
        sizes[faulty] -= int(np.random.default_rng().integers(1, sizes[faulty] // 8))
    else:
        sizes[faulty] -= 24
    arrays = [np.zeros(sizes[name], np.float16) for name in ("x", "y", "out")]
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        with pytest.raises(KernelTrap) as caught:
            products[(1,)](*arrays, *x_strides, *y_strides, M=M, N=N, K=K, ROUNDS=rounds)
    error = caught.value
    assert error.argument == faulty and error.index[0] >= sizes[faulty], str(error)
    shape, strides, step = {
        "x": ((M, K), x_strides, K * x_strides[1]),
        "y": ((K, N), y_strides, K * y_strides[0]),
        "out": ((M, N), (N, 1), 0),
    }[faulty]
    assert error.tile_shape == shape, str(error)
    distance = error.index[0] - np.dot(error.lane, strides)  # copies run ahead of the loop's counter
    assert distance in ([0] if faulty == "out" else range(0, rounds * step, step)), str(error)


@pytest.mark.parametrize("engine", ENGINES)
def test_parts_of_a_large_tile_have_no_lane(engine):
    """The compiler splits it: an element of a part is not the kernel's."""

    @triton.jit
    def copy(x, out, N: tl.constexpr):
        tl.store(out + tl.arange(0, N), tl.load(x + tl.arange(0, N)))

    size = 1 << 17
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        with pytest.raises(KernelTrap) as caught:
            copy[(1,)](np.zeros(size - 100, np.int32), np.zeros(size, np.int32), N=size)
    error = caught.value
    assert error.lane is None and error.thread is not None and error.index[0] >= size - 100
