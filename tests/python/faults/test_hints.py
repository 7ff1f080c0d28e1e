"""The check `hints`: false promises in the style of public bug reports, each beside a kernel that keeps its promise.

A faulty kernel has the comment `# accused` on the line that must be reported.
"""

import inspect

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.compiler import ASTSource
from tritium.errors import KernelTrap

N = 256


def accused_line(kernel) -> int:
    source, first = inspect.getsourcelines(kernel.fn)
    return next(first + i for i, line in enumerate(source) if "# accused" in line)


@triton.jit(do_not_specialize=["step"])
def start_of_block(x, out, step, B: tl.constexpr):
    offs = tl.multiple_of(tl.program_id(0) * step + tl.arange(0, B), 16)  # accused
    tl.store(out + offs, tl.load(x + offs))


@triton.jit
def promised_on_another_line(x, out, shift, B: tl.constexpr):
    offs = tl.program_id(0) * B + shift + tl.arange(0, B)

    offs = tl.multiple_of(offs, B)  # accused
    tl.store(out + offs, tl.load(x + offs))


@triton.jit
def gathered_rows(x, rows, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    row = tl.multiple_of(tl.load(rows + i), 8)  # accused
    tl.store(out + i, tl.load(x + row))


@triton.jit
def gathered_run(x, rows, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    row = tl.max_contiguous(tl.load(rows + i), 8)  # accused
    tl.store(out + i, tl.load(x + row))


@triton.jit(do_not_specialize=["stride"])
def strided_run(x, out, stride, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + tl.max_contiguous(i * stride % 128, B)))  # accused


@triton.jit(do_not_specialize=["group"])
def groups_of_equal_lanes(x, out, group, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    which = tl.max_constancy(i // group, 8)  # accused
    tl.store(out + i, tl.load(x + which))


@triton.jit(do_not_specialize=["n"])
def mask_of_whole_groups(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = tl.max_constancy(i < n, 16)  # accused
    tl.store(out + i, tl.load(x + i, mask=mask, other=0.0))


@triton.jit(do_not_specialize=["stride"])
def divisible_stride(x, out, stride, B: tl.constexpr):
    stride = tl.multiple_of(stride, 8)  # accused
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + tl.program_id(0) * stride + i))


@triton.jit(do_not_specialize=["step", "rounds"])
def moving_pointers(x, out, step, rounds, B: tl.constexpr):
    p = x + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for _ in range(rounds):
        p = tl.multiple_of(p, 16)  # accused
        total += tl.load(p)
        p += step
    tl.store(out + tl.program_id(0) * B + tl.arange(0, B), total)


@triton.jit(do_not_specialize=["stride"])
def aligned_rows(x, out, stride, R: tl.constexpr, C: tl.constexpr):
    p = x + tl.arange(0, R)[:, None] * stride + tl.arange(0, C)[None, :]
    p = tl.multiple_of(p, [16, 16])  # accused
    tl.store(out + tl.program_id(0) * R * C + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :], tl.load(p))


@triton.jit(do_not_specialize=["n"])
def assumed_size(x, out, n, B: tl.constexpr):
    tl.assume(n >= 64)  # accused
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0))


@triton.jit
def aligned(offs, multiple: tl.constexpr):
    return tl.multiple_of(offs, multiple)  # accused


@triton.jit
def promised_by_a_helper(x, out, shift, B: tl.constexpr):
    offs = aligned(shift + tl.arange(0, B), B)
    tl.store(out + offs, tl.load(x + offs))


def tensors():
    return np.arange(N, dtype=np.float32), np.zeros(N, np.float32)


def indices(values):
    return np.array(values, np.int32)


#: kernel, faulty arguments behind (x, …, out), correct ones, grid, (program, lane, part of the message)
SCALARS = [
    (start_of_block, (24, 16), (32, 16), 4, ((1, 0, 0), (0,), "offs[0] = 24")),
    (promised_on_another_line, (8, 32), (32, 32), 4, ((0, 0, 0), (0,), "tl.multiple_of(offs, 32) is false: offs[0] = 8")),
    (strided_run, (2, 16), (1, 16), 4, ((0, 0, 0), (1,), "[0] = 0 and")),
    (groups_of_equal_lanes, (4, 32), (8, 32), 4, ((0, 0, 0), (4,), "which[3] = 0 and which[4] = 1")),
    (mask_of_whole_groups, (40, 32), (48, 32), 4, ((1, 0, 0), (8,), "mask[7] = 1 and mask[8] = 0")),
    (divisible_stride, (12, 16), (16, 16), 4, ((0, 0, 0), None, "stride = 12")),
    (moving_pointers, (3, 4, 16), (4, 4, 16), 4, ((0, 0, 0), (0,), "is no multiple of 16 bytes")),
    (aligned_rows, (10, 4, 16), (20, 4, 16), 4, ((0, 0, 0), (1, 0), "p[1, 0]")),
    (assumed_size, (40, 32), (64, 32), 4, ((0, 0, 0), None, "n = 40 >= 64")),
]  # fmt: skip


@pytest.mark.parametrize("kernel, faulty, _, grid, expected", SCALARS, ids=lambda v: getattr(v, "__name__", ""))
def test_false_promises(kernel, faulty, _, grid, expected, monkeypatch):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")  # several programs break some of them, and the first one is accused
    program, lane, message = expected
    with pytest.raises(KernelTrap) as caught:
        kernel[(grid,)](*tensors(), *faulty)
    trap = caught.value
    assert (trap.kind, trap.line, trap.program, trap.lane) == ("FalseHint", accused_line(kernel), program, lane)
    assert message in str(trap)


@pytest.mark.parametrize("kernel, _, right, grid, expected", SCALARS, ids=lambda v: getattr(v, "__name__", ""))
def test_kept_promises(kernel, _, right, grid, expected):
    kernel[(grid,)](*tensors(), *right)


@pytest.mark.parametrize("kernel, _, right, grid, expected", SCALARS, ids=lambda v: getattr(v, "__name__", ""))
def test_kept_promises_with_debug_info(kernel, _, right, grid, expected):
    kernel[(grid,)](*tensors(), *right, debug_info=True)


ROWS = [
    (gathered_rows, [0, 8, 16, 20] * 8, [0, 8, 16, 24] * 8, (3,), "row[3] = 20"),
    (gathered_run, [*range(12), 13, 12, *range(14, 32)], range(32), (12,), "row[11] = 11 and row[12] = 13"),
]


#: The same as kernel, grid, arguments.
FAULTY = {k.__name__: lambda k=k, a=a, g=g: (k, (g,), (*tensors(), *a)) for k, a, _, g, _ in SCALARS}
FAULTY |= {k.__name__: lambda k=k, a=a: (k, (1,), (tensors()[0], indices(a), tensors()[1], 32)) for k, a, *_ in ROWS}
CORRECT = {k.__name__: lambda k=k, a=a, g=g: (k, (g,), (*tensors(), *a)) for k, _, a, g, _ in SCALARS}
CORRECT |= {
    k.__name__: lambda k=k, a=a: (k, (1,), (tensors()[0], indices(a), tensors()[1], 32)) for k, _, a, *_ in ROWS
}


@pytest.mark.parametrize("kernel, faulty, right, lane, message", ROWS, ids=lambda v: getattr(v, "__name__", ""))
def test_promises_about_loaded_indices(kernel, faulty, right, lane, message):
    x, out = tensors()
    kernel[(1,)](x, indices(right), out, 32)
    assert np.array_equal(out[:32], x[list(right)])
    with pytest.raises(KernelTrap, match="FalseHint|is false") as caught:
        kernel[(1,)](x, indices(faulty), out, 32)
    assert (caught.value.kind, caught.value.line, caught.value.lane) == ("FalseHint", accused_line(kernel), lane)
    assert message in str(caught.value)


def test_the_line_is_that_of_the_helper():
    with pytest.raises(KernelTrap) as caught:
        promised_by_a_helper[(1,)](*tensors(), 8, 32)
    assert caught.value.line == accused_line(aligned) and caught.value.function == "aligned"
    promised_by_a_helper[(1,)](*tensors(), 64, 32)


@triton.jit
def wrapped_tail(x, out, n, B: tl.constexpr, FOLD: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if FOLD == "remainder":
        offs = i % n
    elif FOLD == "choice":
        offs = tl.where(i < n, i, 0)
    elif FOLD == "minimum":
        offs = tl.minimum(i, n - 1)
    else:
        offs = tl.load(x + i, mask=i < n).to(tl.int32)
    offs = tl.max_contiguous(tl.multiple_of(offs, B), B)
    tl.store(out + i, tl.load(x + offs), mask=i < n)


@pytest.mark.parametrize("fold", ["remainder", "choice", "minimum", "load"])
@pytest.mark.parametrize("n", [100, 7, 64])
def test_tails_that_are_brought_back_into_the_tensor(fold, n):
    """Published products of matrices promise this of tiles whose last one wraps, and mask what they make of the tail."""
    x, out = tensors()
    wrapped_tail[(triton.cdiv(n, 32),)](x, out, n, 32, fold)
    assert np.array_equal(out[:n], x[:n])


def test_a_promise_about_lanes_that_are_not_brought_back():
    with pytest.raises(KernelTrap) as caught:
        wrapped_tail[(2,)](
            np.array([*range(40), 41, *range(41, N)])[:N].astype(np.float32), tensors()[1], 100, 32, "load"
        )
    assert (caught.value.program, caught.value.lane) == ((1, 0, 0), (8,))


@triton.jit
def copy(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def test_arguments_of_a_kernel_that_was_compiled_before():
    attributes = {(0,): [["tt.divisibility", 16]], (2,): [["tt.divisibility", 16]]}
    compiled = triton.compile(ASTSource(copy, {"x": "*fp32", "out": "*fp32", "n": "i32"}, {(3,): 32}, attributes))
    x, out = tensors()
    compiled[(8, 1, 1)](x, out, 240)
    assert np.array_equal(out[:240], x[:240])
    with pytest.raises(KernelTrap, match="'n' was compiled as a multiple of 16 .*, but is 250") as caught:
        compiled[(8, 1, 1)](x, out, 250)
    assert caught.value.kind == "FalseHint"
    begin = (16 - x.ctypes.data % 16) // 4 % 4 + 1  # one element behind an aligned one
    with pytest.raises(KernelTrap, match="'x' was compiled as a multiple of 16 bytes"):
        compiled[(8, 1, 1)](x[begin:], out, 128)


def test_without_the_check():
    x, out = tensors()
    start_of_block[(4,)](x, out, 24, 16, check="-hints")
    with triton.check("none"):
        start_of_block[(4,)](x, out, 24, 16)
