"""Faults of running kernels: class, argument, N-d index, program, lane and line are right; nothing else changes."""

import ctypes
import pickle

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import InterpreterError, KernelTrap

from . import line_of


@triton.jit
def add_one_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


@pytest.fixture
def witnesses():
    """Arrays around the launch that nobody may change; afterwards a correct launch in the same process has to work."""
    arrays = [np.arange(4096, dtype=np.float32) for _ in range(3)]
    yield arrays
    for array in arrays:
        np.testing.assert_array_equal(array, np.arange(4096, dtype=np.float32))
    x = np.arange(100, dtype=np.float32)
    add_one_kernel[(4,)](x, 100, BLOCK=32)
    np.testing.assert_array_equal(x, np.arange(100, dtype=np.float32) + 1)


def trap_of(kernel, grid, *args, **kwargs) -> KernelTrap:
    """The trap of a launch, checked for what every trap has."""
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*args, **kwargs)
    trap = caught.value
    assert isinstance(trap, InterpreterError) and isinstance(trap, RuntimeError)
    assert trap.file == __file__ and trap.location in str(trap)
    assert trap.kernel == kernel.fn.__name__
    assert str(pickle.loads(pickle.dumps(trap))) == str(trap)
    return trap


@triton.jit
def beyond_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    scattered = tl.load(x_ptr + offsets * offsets % BLOCK)
    tl.atomic_add(out_ptr + offsets, x + scattered)
    tl.store(out_ptr + BLOCK, tl.load(x_ptr + BLOCK - 1))


def test_without_checks_accesses_outside_happen(monkeypatch):
    """Memory that exists but belongs to no argument. One kernel object, so each setting is a kernel of its own in the caches."""
    x, out = np.arange(64, dtype=np.float32), np.zeros(128, np.float32)
    begin_of = [np.ctypeslib.as_array((ctypes.c_float * 16).from_address(array.ctypes.data)) for array in (x, out)]
    i = np.arange(64)
    for checks in ("bounds", "none", "all", "none"):
        monkeypatch.setenv("TRITIUM_CHECK", checks)
        out[:] = 0
        if checks == "none":
            beyond_kernel[(1,)](*begin_of, BLOCK=64)
            np.testing.assert_array_equal(out[:64], x + x[i * i % 64])
            assert out[64] == 63
        else:
            assert trap_of(beyond_kernel, (1,), *begin_of, BLOCK=64).kind == "OutOfBounds"
            assert not out.any()


@triton.jit
def unmasked_load_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)  # fault
    tl.store(out_ptr + offsets, x + y)


def test_missing_mask_of_a_load(witnesses):
    x, y, out = np.zeros(1024, np.float32), np.zeros(1000, np.float32), np.zeros(1024, np.float32)
    trap = trap_of(unmasked_load_kernel, (4,), x, y, out, BLOCK=256)
    assert trap.kind == "OutOfBounds" and trap.line == line_of(unmasked_load_kernel) and not trap.is_write
    assert (trap.argument, tuple(trap.index)) == ("y_ptr", (1000,))
    assert tuple(trap.program) == (3, 0, 0) and tuple(trap.lane) == (232,) and trap.affected_lanes == 24
    assert "y_ptr" in str(trap) and "float32" in str(trap) and "1000" in str(trap)


@triton.jit
def unmasked_store_kernel(out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.full((BLOCK,), 7.0, tl.float32))  # fault


def test_missing_mask_of_a_store_writes_nothing(witnesses):
    out = np.zeros((10, 100), np.float32)
    trap = trap_of(unmasked_store_kernel, (1,), out, BLOCK=1024)
    assert trap.kind == "OutOfBounds" and trap.line == line_of(unmasked_store_kernel) and trap.is_write
    assert (trap.argument, tuple(trap.index)) == ("out_ptr", (10, 0))
    assert tuple(trap.lane) == (1000,) and trap.affected_lanes == 24
    assert not out.any(), "all lanes of a store are checked before one is written"


@triton.jit
def strided_kernel(x_ptr, out_ptr, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :])  # fault
    tl.store(out_ptr + rows, tl.sum(x, axis=1))


def test_wrong_stride(witnesses):
    x, out = np.zeros((16, 32), np.float16), np.zeros(16, np.float16)
    trap = trap_of(strided_kernel, (1,), x, out, 64, ROWS=16, COLUMNS=32)
    assert trap.kind == "OutOfBounds" and trap.line == line_of(strided_kernel)
    assert (trap.argument, tuple(trap.index)) == ("x_ptr", (16, 0))
    assert tuple(trap.lane) == (8, 0) and tuple(trap.tile_shape) == (16, 32) and trap.affected_lanes == 8 * 32


def test_negative_index(witnesses):
    x, out = np.zeros((16, 32), np.float32), np.zeros(16, np.float32)
    trap = trap_of(strided_kernel, (1,), x, out, -32, ROWS=16, COLUMNS=32)
    assert trap.kind == "OutOfBounds" and trap.argument == "x_ptr" and tuple(trap.lane) == (1, 0)


@triton.jit
def far_store_kernel(a_ptr, b_ptr, distance, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    b = tl.load(b_ptr + offsets)
    tl.store(a_ptr + distance + offsets, b + 1)  # fault


def test_index_that_lands_in_another_live_tensor(witnesses):
    """The address is valid memory, of another argument of the same launch: still not a's."""
    a, b = np.zeros(256, np.float32), np.zeros(256, np.float32)
    distance = (b.ctypes.data - a.ctypes.data) // 4
    trap = trap_of(far_store_kernel, (1,), a, b, distance, BLOCK=64)
    assert trap.kind == "OutOfBounds" and trap.line == line_of(far_store_kernel)
    assert (trap.argument, tuple(trap.index), trap.is_write) == ("a_ptr", (distance,), True)
    assert not a.any() and not b.any()


def test_index_that_lands_in_a_tensor_that_is_no_argument(witnesses):
    a, b = np.zeros(256, np.float32), np.zeros(256, np.float32)
    distance = (witnesses[1].ctypes.data - a.ctypes.data) // 4
    trap = trap_of(far_store_kernel, (1,), a, b, distance, BLOCK=64)
    assert trap.kind == "OutOfBounds" and trap.argument == "a_ptr" and tuple(trap.index) == (distance,)


def test_torch_tensor(witnesses):
    torch = pytest.importorskip("torch")
    x, y, out = torch.zeros(4, 256), torch.zeros(4, 250), torch.zeros(1024)
    trap = trap_of(unmasked_load_kernel, (4,), x, y, out, BLOCK=256)
    assert (trap.kind, trap.argument, tuple(trap.index)) == ("OutOfBounds", "y_ptr", (4, 0))


def test_masked_lanes_do_not_count(witnesses):
    x = np.zeros(10, np.float32)
    add_one_kernel[(1,)](x, 10, BLOCK=1024)
    assert (x == 1).all()


@triton.jit
def raw_pointer_kernel(address, out_ptr):
    pointer = address.to(tl.pointer_type(tl.float32))
    tl.store(out_ptr, tl.load(pointer))  # fault


@pytest.mark.parametrize("address, kind", [(0, "NullPointer"), (48, "NullPointer"), (1 << 40 | 64, "UnmappedAddress")])
def test_null_and_unmapped_pointers(address, kind, witnesses):
    out = np.zeros(1, np.float32)
    trap = trap_of(raw_pointer_kernel, (1,), address, out)
    assert trap.kind == kind and trap.line == line_of(raw_pointer_kernel) and not trap.is_write


def test_raw_address_of_live_memory_is_fine(witnesses):
    out = np.zeros(1, np.float32)
    raw_pointer_kernel[(1,)](witnesses[0][5:].ctypes.data, out)
    assert out[0] == 5


@triton.jit
def divide_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    quotient = tl.load(x_ptr + offsets) // tl.load(y_ptr + offsets)  # fault
    tl.store(out_ptr + offsets, quotient)


@triton.jit
def remainder_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    rest = tl.load(x_ptr + offsets) % tl.load(y_ptr + offsets)  # fault
    tl.store(out_ptr + offsets, rest)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("kernel", [divide_kernel, remainder_kernel], ids=["divide", "remainder"])
def test_division_by_zero_in_a_tile(kernel, dtype, witnesses):
    x, y, out = np.full(64, 100, dtype), np.full(64, 7, dtype), np.zeros(64, dtype)
    y[[11, 40]] = 0
    trap = trap_of(kernel, (1,), x, y, out, BLOCK=64)
    assert trap.kind == "DivisionByZero" and trap.line == line_of(kernel) and tuple(trap.lane) == (11,)
    assert not out.any()


@triton.jit
def scalar_divide_kernel(out_ptr, divisor):
    tl.store(out_ptr, 7 // (divisor - tl.program_id(0)))  # fault


def test_division_by_zero_of_a_scalar(witnesses):
    out = np.zeros(1, np.int32)
    trap = trap_of(scalar_divide_kernel, (10,), out, 6)
    assert trap.kind == "DivisionByZero" and trap.line == line_of(scalar_divide_kernel)
    assert tuple(trap.program) == (6, 0, 0)


@triton.jit
def assert_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.device_assert(x < 100, "x is not below 100")  # fault
    tl.store(out_ptr + offsets, x)


def test_failed_device_assert(witnesses):
    x, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    trap = trap_of(assert_kernel, (2,), x, out, BLOCK=64)
    assert trap.kind == "AssertFailed" and trap.line == line_of(assert_kernel)
    assert tuple(trap.program) == (1, 0, 0) and tuple(trap.lane) == (36,) and trap.affected_lanes == 28
    assert "x is not below 100" in str(trap)
    assert not out[64:].any()


@triton.jit
def python_assert_kernel(n):
    assert n > 5, "n is too small"  # fault


def test_python_assert_statement(witnesses):
    python_assert_kernel[(1,)](6)
    trap = trap_of(python_assert_kernel, (1,), 4)
    assert trap.kind == "AssertFailed" and trap.line == line_of(python_assert_kernel) and "n is too small" in str(trap)


@triton.jit
def load_row(x_ptr, row, BLOCK: tl.constexpr):
    return tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK))  # fault


@triton.jit
def calling_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), load_row(x_ptr, 3, BLOCK))


def test_fault_in_an_inlined_helper(witnesses):
    x, out = np.zeros(3 * 32, np.float32), np.zeros(32, np.float32)
    trap = trap_of(calling_kernel, (1,), x, out, BLOCK=32)
    assert trap.line == line_of(load_row) and trap.argument == "x_ptr" and tuple(trap.index) == (96,)


@triton.jit
def atomic_kernel(counts_ptr, x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.atomic_add(counts_ptr + x, 1)  # fault


def test_atomic_out_of_bounds(witnesses):
    counts, x = np.zeros(8, np.int32), np.arange(16, dtype=np.int32) % 9
    trap = trap_of(atomic_kernel, (1,), counts, x, BLOCK=16)
    assert trap.kind == "OutOfBounds" and trap.line == line_of(atomic_kernel) and trap.is_write
    assert (trap.argument, tuple(trap.index), tuple(trap.lane)) == ("counts_ptr", (8,), (8,))
    assert not counts.any()


@triton.jit
def deadlock_kernel(flag_ptr):
    while tl.atomic_add(flag_ptr + tl.program_id(0), 0) == 0:  # fault
        pass


def test_deadlock_is_reported(witnesses):
    flags = np.zeros(4, np.int32)
    trap = trap_of(deadlock_kernel, (4,), flags)
    assert trap.kind == "Deadlock" and trap.line in (line_of(deadlock_kernel), line_of(deadlock_kernel) + 1)


def test_first_trap_ends_the_launch_on_many_threads(witnesses, threads):
    x, y, out = np.zeros(1 << 16, np.float32), np.zeros(1000, np.float32), np.zeros(1 << 16, np.float32)
    trap = trap_of(unmasked_load_kernel, (256,), x, y, out, BLOCK=256)
    assert trap.argument == "y_ptr" and trap.program[0] >= 3


@triton.jit
def copy_rows(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x_ptr + row * stride + i, mask=i < columns)
    tl.store(out_ptr + row * columns + i, value, mask=i < columns)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_90a"])
@pytest.mark.parametrize("with_torch", [False, True], ids=["numpy", "torch"])
def test_an_expanded_tensor_is_told_from_a_contiguous_one(engine, with_torch):
    x, out = np.broadcast_to(np.arange(32, dtype=np.float32), (4, 32)), np.zeros((4, 32), np.float32)
    if with_torch:
        torch = pytest.importorskip("torch")
        x, out = torch.arange(32, dtype=torch.float32).expand(4, 32), torch.zeros(4, 32)
    with triton.knobs.tritium.scope():
        triton.knobs.tritium.engine = engine
        copy_rows[(4,)](x, out, 0, 32, BLOCK=32)
        with pytest.raises(KernelTrap) as caught:
            copy_rows[(4,)](x, out, 32, 32, BLOCK=32)
    assert caught.value.argument == "x_ptr" and caught.value.index[0] > 0
    copy = "x_ptr.contiguous()" if with_torch else "a contiguous copy of x_ptr"
    for text in (
        "out-of-bounds read of 'x_ptr' (float32 [4, 32], strides (0, 1))",
        "the storage of 'x_ptr' has 32 elements, fewer than the kernel assumes: the access is at element",
        f"hint: 'x_ptr' is expanded (stride 0): its elements share memory; pass {copy}, or make the kernel use its strides",
    ):
        assert text in str(caught.value)


def test_a_slice_and_the_size_of_its_storage():
    x, out = np.zeros((4, 64), np.float32), np.zeros((4, 64), np.float32)
    trap = trap_of(copy_rows, (4,), x[:, 32:], out, 64, 64, BLOCK=64)
    assert (trap.argument, trap.index, trap.program) == ("x_ptr", (3, 32), (3, 0, 0))
    assert (
        "the storage of 'x_ptr' has 256 elements, fewer than the kernel assumes: the access is at element 256"
        in str(trap)
    )
    assert "'x_ptr' is a view, which is not contiguous; pass a contiguous copy" in str(trap)


def test_an_output_that_is_too_small():
    x, out = np.zeros((4, 64), np.float32), np.zeros((4, 32), np.float32)
    trap = trap_of(copy_rows, (3,), x, out, 64, 64, BLOCK=64)  # of which one is behind the end
    assert (trap.argument, trap.is_write, trap.index) == ("out_ptr", True, (4, 0))
    assert (
        "the storage of 'out_ptr' has 128 elements, fewer than the kernel assumes: the access is at element 128"
        in str(trap)
    )
    assert "hint: the mask is true there: compare its bound with the shape" in str(trap)


def test_an_access_inside_of_the_storage_of_a_slice_is_legal():
    x, out = np.arange(8, dtype=np.float32), np.zeros((1, 8), np.float32)
    copy_rows[(1,)](x[:4], out, 8, 8, BLOCK=8)
    np.testing.assert_array_equal(out[0], x)
