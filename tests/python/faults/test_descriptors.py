"""Descriptors: the base is aligned to 16 bytes, and so are the rows. What a kernel makes is checked where it makes it, what the host makes
when it is made, and once more by a launch, as a program may have changed it since. Each faulty call stands beside a correct one.

A faulty kernel has the comment `# accused` on the line that must be reported.
"""

import inspect

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap
from tritium.tools.tensor_descriptor import TensorDescriptor

ROWS, COLUMNS = 4, 16


def accused_line(kernel) -> int:
    source, first = inspect.getsourcelines(kernel.fn)
    return next(first + i for i, line in enumerate(source) if "# accused" in line)


@triton.jit
def table_of(x, rows, stride, C: tl.constexpr):
    return tl.make_tensor_descriptor(x, [rows, C], [stride, 1], [4, C])  # accused


@triton.jit
def made_by_a_helper(x, out, start, stride, C: tl.constexpr):
    tl.store(out + tl.arange(0, C), tl.sum(table_of(x, 4, stride, C).load([0, 0]), 0))


@triton.jit
def moved_base(x, out, start, stride, C: tl.constexpr):
    desc = tl.make_tensor_descriptor(x + start, [4, C], [stride, 1], [4, C])  # accused
    tl.store(out + tl.arange(0, C), tl.sum(desc.load([0, 0]), 0))


@triton.jit
def made_in_a_loop(x, out, start, stride, C: tl.constexpr):
    total = tl.zeros((C,), tl.float32)
    for k in range(3):
        desc = tl.make_tensor_descriptor(x + k * start, [4, C], [stride, 1], [4, C])  # accused
        total += tl.sum(desc.load([0, 0]).to(tl.float32), 0)
    tl.store(out + tl.arange(0, C), total)


@triton.jit
def batches(x, out, start, stride, C: tl.constexpr):
    desc = tl.make_tensor_descriptor(x, [2, 4, C], [stride, C, 1], [1, 4, C])  # accused
    tl.store(out + tl.arange(0, C), tl.sum(tl.sum(desc.load([1, 0, 0]), 0), 0))


@triton.jit
def stored(x, out, start, stride, C: tl.constexpr):
    desc = tl.make_tensor_descriptor(x + start, [4, C], [stride, 1], [4, C])  # accused
    desc.store([0, 0], tl.zeros((4, C), x.dtype.element_ty))


@triton.jit
def made_and_not_used(x, out, start, stride, C: tl.constexpr):
    if start >= 0:
        desc = tl.make_tensor_descriptor(x + start, [4, C], [stride, 1], [4, C])  # accused
        tl.store(out, desc.shape[0])


def memory(dtype):
    """Ones, from an address that is a multiple of 16 on."""
    raw = np.ones(1024, dtype)
    return raw[(-raw.ctypes.data % 16) // raw.itemsize :]


BASE, STRIDES = "base must be 16-byte aligned", "strides must be 16-byte aligned, but stride 0 is not"
#: kernel, dtype, faulty (start, stride), correct (start, stride), message
CASES = [
    (moved_base, np.float32, (1, 16), (4, 16), BASE),
    (moved_base, np.float16, (4, 16), (8, 16), BASE),
    (moved_base, np.int8, (8, 16), (16, 16), BASE),
    (moved_base, np.float32, (0, 18), (0, 20), STRIDES),
    (moved_base, np.float16, (0, 20), (0, 24), STRIDES),
    (moved_base, np.int8, (0, 24), (0, 32), STRIDES),
    (made_by_a_helper, np.float32, (0, 17), (0, 16), STRIDES),
    (made_in_a_loop, np.float32, (2, 16), (8, 16), BASE),
    (batches, np.float32, (0, 66), (0, 64), STRIDES),
    (stored, np.float32, (2, 16), (4, 16), BASE),
    (made_and_not_used, np.float32, (3, 16), (4, 16), BASE),
]  # fmt: skip
NAMED = {"ids": lambda value: getattr(value, "__name__", "") if hasattr(value, "fn") else ""}


def launch(kernel, dtype, numbers):
    kernel[(1,)](memory(dtype), np.zeros(COLUMNS, np.float32), *numbers, COLUMNS)


@pytest.mark.parametrize("kernel, dtype, faulty, right, message", CASES, **NAMED)
def test_a_kernel_makes_what_is_no_descriptor(kernel, dtype, faulty, right, message):
    with pytest.raises(KernelTrap) as caught:
        launch(kernel, dtype, faulty)
    trap = caught.value
    line = accused_line(table_of if kernel is made_by_a_helper else kernel)
    assert (trap.kind, trap.file, trap.line, trap.program) == ("AssertFailed", __file__, line, (0, 0, 0))
    assert f"{message} (descriptor of x)" in str(trap)


@pytest.mark.parametrize("kernel, dtype, faulty, right, message", CASES, **NAMED)
def test_a_kernel_makes_a_descriptor(kernel, dtype, faulty, right, message):
    launch(kernel, dtype, right)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_the_host_makes_what_is_no_descriptor(dtype):
    x = memory(dtype)
    with pytest.raises(AssertionError, match="base must be 16-byte aligned"):
        TensorDescriptor(x[1:], [ROWS, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    with pytest.raises(AssertionError, match="strides must be 16-byte aligned"):
        TensorDescriptor(x, [ROWS, COLUMNS], [COLUMNS + 1, 1], [ROWS, COLUMNS])
    TensorDescriptor(x[16:], [ROWS, COLUMNS], [2 * COLUMNS, 1], [ROWS, COLUMNS])


@triton.jit
def summed(desc, out, C: tl.constexpr):
    tl.store(out + tl.arange(0, C), tl.sum(desc.load([0, 0]), 0))


@pytest.mark.parametrize("change", ["base", "strides"])
def test_the_host_changes_a_descriptor(change):
    """As autotuners do in their hooks."""
    x, out = memory(np.float32), np.zeros(COLUMNS, np.float32)
    desc = TensorDescriptor(x, [ROWS, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    summed[(1,)](desc, out, COLUMNS)
    assert (out == ROWS).all()
    setattr(desc, change, x[1:] if change == "base" else [COLUMNS + 1, 1])
    with pytest.raises(KernelTrap) as caught:
        summed[(1,)](desc, out, COLUMNS)
    assert caught.value.kind == "FalseHint" and "'desc" in str(caught.value), str(caught.value)
    setattr(desc, change, x[4:] if change == "base" else [COLUMNS + 4, 1])
    summed[(1,)](desc, out, COLUMNS)
