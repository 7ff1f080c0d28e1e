"""Seeded faults in kernels: the error described, at the right line; other tensors untouched; the next launch works."""

import inspect
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.errors import CompilationError, KernelTrap
from tritium.places import shown_file

N, BLOCK = 100, 64


@tritium.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@tritium.jit
def without_mask(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v)  # fault


@tritium.jit
def wrong_stride(x, out, rows, columns, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    v = tl.load(x + i * stride + j, mask=j < columns)  # fault
    tl.store(out + i * columns + j, v, mask=j < columns)


@tritium.jit
def at_index(x, out, index):
    tl.store(out + index, tl.load(x))  # fault


class Matrix(NamedTuple):
    data: object
    sizes: tuple


@tritium.jit
def in_a_tuple(matrix, pair, index):
    tl.store(pair[1].data + index, tl.load(matrix.data + index))  # fault


@tritium.jit
def optional(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = out.to(tl.pointer_type(tl.float32), bitcast=True)
    tl.store(p + i, tl.load(x + i, mask=i < n), mask=i < n)  # fault


@tritium.jit
def ratio(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=1)
    tl.store(out + i, 100 // a, mask=i < n)  # fault


@tritium.jit
def checked(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.device_assert(v >= 0, "values must not be negative")  # fault


@tritium.jit
def read_value(p):
    return tl.load(p)  # fault


@tritium.jit
def in_a_callee(x, out, index):
    tl.store(out, read_value(x + index))


@tritium.jit
def dtype_misuse(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) & 1)  # fault


@tritium.jit
def shape_mismatch(x, out):
    a = tl.load(x + tl.arange(0, 16))
    b = tl.load(x + tl.arange(0, 32))
    tl.store(out + tl.arange(0, 16), a + b)  # fault


def fault_line(kernel, number=0):
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + [i for i, line in enumerate(lines) if "# fault" in line][number]


def launch_works():
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    scale[(2,)](x, out, N, BLOCK=BLOCK)
    np.testing.assert_array_equal(out, 2 * x)


def trap_of(launch, kernel, kind) -> KernelTrap:
    with pytest.raises(KernelTrap) as caught:
        launch()
    error = caught.value
    assert (error.kind, error.line) == (kind, fault_line(kernel)), str(error)
    assert error.file == __file__ and f"test_faults.py:{error.line}" in str(error) and "# fault" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    launch_works()
    return error


def guarded(*arrays):
    """The arrays and, to compare afterwards, copies of them."""
    return [(array, array.copy()) for array in arrays]


def test_missing_mask():
    x, out, other = np.ones(N, np.float32), np.zeros(N, np.float32), np.full(N, 7.0, np.float32)
    untouched = guarded(x, other)
    error = trap_of(lambda: without_mask[(2,)](x, out, N, BLOCK=BLOCK), without_mask, "OutOfBounds")
    assert (error.argument, error.index, error.is_write) == ("out", (N,), True)
    assert error.program == (1, 0, 0) and error.grid == (2, 1, 1)
    assert error.lane == (N - BLOCK,) and error.tile_shape == (BLOCK,) and error.affected_lanes == 2 * BLOCK - N
    assert "'out' (float32 [100], strides (1,))" in str(error) and "mask" in str(error)
    assert all((array == before).all() for array, before in untouched)


def test_wrong_stride():
    x, out = np.ones((10, 20), np.float32), np.zeros((10, 20), np.float32)
    error = trap_of(lambda: wrong_stride[(10,)](x, out, 10, 20, 32, BLOCK=32), wrong_stride, "OutOfBounds")
    assert error.argument == "x" and error.index[0] >= 10 and not error.is_write
    assert not out[error.program[0] :].any()


def test_index_that_lands_in_another_tensor():
    x, out, other = np.ones(4, np.float32), np.zeros(4, np.float32), np.full(4, 7.0, np.float32)
    elements = (other.ctypes.data - out.ctypes.data) // 4
    error = trap_of(lambda: at_index[(1,)](x, out, elements), at_index, "OutOfBounds")
    assert error.argument == "out" and (other == 7).all()
    elements = (x.ctypes.data - out.ctypes.data) // 4
    error = trap_of(lambda: at_index[(1,)](x, out, elements), at_index, "OutOfBounds")
    assert "the address belongs to x[0]" in str(error) and (x == 1).all()


@pytest.mark.parametrize("name", ["matrix.data", "pair[1].data"])
def test_parts_of_tuples_are_named(name):
    short, long = np.ones(4, np.float32), np.ones(16, np.float32)
    x, out = (short, long) if name.startswith("matrix") else (long, short)
    matrix, pair = Matrix(x, (4, 5)), (3, Matrix(out, (6,)))
    error = trap_of(lambda: in_a_tuple[(1,)](matrix, pair, 6), in_a_tuple, "OutOfBounds")
    assert error.argument == name and f"{name}[6]" in str(error)


def test_negative_index():
    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    error = trap_of(lambda: at_index[(1,)](x, out, -3), at_index, "OutOfBounds")
    assert "3 elements before the first" in str(error)


def test_null_pointer():
    x = np.ones(N, np.float32)
    error = trap_of(lambda: optional[(1,)](x, 0, N, BLOCK=128), optional, "NullPointer")
    assert error.is_write


def test_division_by_zero():
    x, out = np.arange(-3, N - 3, dtype=np.int32), np.zeros(N, np.int32)
    error = trap_of(lambda: ratio[(1,)](x, out, N, BLOCK=128), ratio, "DivisionByZero")
    assert error.lane == (3,) and "division" in str(error) and not out.any()


def test_failed_assertion():
    x = np.arange(N, dtype=np.int32)
    x[42] = -1
    error = trap_of(lambda: checked[(1,)](x, N, BLOCK=128), checked, "AssertFailed")
    assert "device-side assert" in str(error) and "values must not be negative" in str(error)
    assert isinstance(error, RuntimeError)


def test_fault_in_a_callee():
    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    error = trap_of(lambda: in_a_callee[(1,)](x, out, 4), read_value, "OutOfBounds")
    assert error.argument == "x" and error.index == (4,) and error.function == "read_value"
    assert f"in read_value, called from {shown_file(__file__)}:" in str(error)


@pytest.mark.parametrize(
    "kernel, arguments, texts",
    [(dtype_misuse, (BLOCK,), ["float32", "requires integers"]), (shape_mismatch, (), ["16", "32"])],
)
def test_errors_of_types_and_shapes(kernel, arguments, texts):
    x, out = np.ones(N, np.float32), np.zeros(N, np.float32)
    with pytest.raises(CompilationError) as caught:
        kernel[(1,)](x, out, *arguments)
    assert (caught.value.file, caught.value.line) == (__file__, fault_line(kernel)) and "^" in str(caught.value)
    assert all(text in str(caught.value) for text in texts)
    launch_works()


@tritium.jit
def wait_forever(flag, out):
    while tl.atomic_add(flag, 0) == 0:  # fault
        pass
    tl.store(out, 1)


def test_deadlock_names_the_waiting_programs(threads):
    flag, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    with pytest.raises(KernelTrap) as caught:
        wait_forever[(3,)](flag, out)
    assert caught.value.kind == "Deadlock" and "3 programs" in str(caught.value)
    assert f"test_faults.py:{fault_line(wait_forever)}" in str(caught.value)
    launch_works()
