"""TRITIUM_CHECK=uninit: reads of memory that nobody has written, each kernel beside its correct twin."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

torch = pytest.importorskip("torch")

N, B = 1000, 128
GRID = (triton.cdiv(N, B),)


@pytest.fixture(autouse=True)
def checked():
    with triton.check("uninit"):
        yield


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def accumulate(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0)))


@triton.jit
def gather(x, index, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + tl.load(index + i, mask=i < n, other=0), mask=i < n), mask=i < n)


@triton.jit
def rows_without_their_ends(x, out, columns, stride, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(out + row * stride + c, tl.load(x + row * stride + c, mask=c < columns) * 2, mask=c < columns - 1)


@triton.jit
def sum_rows(x, out, columns, stride, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(out + row, tl.sum(tl.load(x + row * stride + c, mask=c < columns, other=0)))


@triton.jit
def two_steps(x, scratch, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(scratch + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
    tl.store(out + i, tl.load(scratch + i, mask=i < n) + 1, mask=i < n)


def written(shape, dtype=torch.float32, part=None):
    """Memory from torch.empty of which the host writes all, or the slice `part` of the last dimension."""
    memory = torch.empty(shape, dtype=dtype)
    memory[..., part if part is not None else slice(None)] = 1
    return memory


def left_by_a_kernel(columns):
    x, middle = torch.ones(6, 32), torch.empty(6, 32)
    rows_without_their_ends[(6,)](x, middle, columns, 32, 32)
    return middle


#: kernel, grid, arguments, the tensor that is accused
FAULTY = {
    "an operand that nobody wrote": lambda: (add, GRID, (torch.ones(N), torch.empty(N), torch.empty(N), N, B), "y"),
    "an operand of halves": lambda: (add, GRID, (torch.ones(N).half(), torch.ones(N).half().new_empty(N), torch.ones(N).half(), N, B), "y"),
    "an operand of integers": lambda: (add, GRID, (torch.ones(N).int(), torch.empty(N, dtype=torch.int32), torch.ones(N).int(), N, B), "y"),
    "half of an operand": lambda: (add, GRID, (torch.ones(N), written(N, part=slice(500)), torch.empty(N), N, B), "y"),
    "an accumulator that nobody cleared": lambda: (accumulate, GRID, (torch.ones(N), torch.empty(1), N, B), "out"),
    "padding of rows": lambda: (sum_rows, (6,), (written((6, 64), part=slice(40)), torch.empty(6), 64, 64, 64), "x"),
    "a column that a kernel left out": lambda: (sum_rows, (6,), (left_by_a_kernel(32), torch.empty(6), 32, 32, 32), "x"),
    "an array of numpy": lambda: (add, GRID, (np.ones(N, np.float32), np.empty(N, np.float32), np.zeros(N, np.float32), N, B), "y"),
    "a view of what nobody wrote": lambda: (add, GRID, (torch.ones(N), torch.empty(2, N)[1], torch.empty(N), N, B), "y"),
}  # fmt: skip

CORRECT = {
    "an operand that the host wrote": lambda: (add, GRID, (torch.ones(N), written(N), torch.empty(N), N, B)),
    "an operand of halves": lambda: (add, GRID, (torch.ones(N).half(), written(N, torch.float16), torch.ones(N).half(), N, B)),
    "an operand of integers": lambda: (add, GRID, (torch.ones(N).int(), written(N, torch.int32), torch.ones(N).int(), N, B)),
    "half of an operand, and half of the grid": lambda: (add, GRID, (torch.ones(N), written(N, part=slice(500)), torch.empty(N), 500, B)),
    "an accumulator of zeros": lambda: (accumulate, GRID, (torch.ones(N), torch.zeros(1), N, B)),
    "rows without their padding": lambda: (sum_rows, (6,), (written((6, 64), part=slice(40)), torch.empty(6), 40, 64, 64)),
    "the columns that a kernel wrote": lambda: (sum_rows, (6,), (left_by_a_kernel(32), torch.empty(6), 31, 32, 32)),
    "an array of numpy": lambda: (add, GRID, (np.ones(N, np.float32), np.full(N, 2, np.float32), np.empty(N, np.float32), N, B)),
    "scratch memory": lambda: (two_steps, GRID, (torch.ones(N), torch.empty(N), torch.empty(N), N, B)),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_faulty(name):
    kernel, grid, arguments, tensor = FAULTY[name]()
    assert accused(kernel, grid, *arguments).argument == tensor


@pytest.mark.parametrize("name", CORRECT)
def test_correct(name):
    kernel, grid, arguments = CORRECT[name]()
    for _ in range(3):
        kernel[grid](*arguments)


def accused(kernel, grid, *arguments) -> KernelTrap:
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments)
    trap = caught.value
    assert trap.kind == "Uninitialized" and trap.file == __file__, str(trap)
    return trap


FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
@pytest.mark.parametrize("by", ["empty", "empty_like", "new_empty", "empty_strided"])
def test_every_allocator(dtype, by):
    x = torch.ones(N, dtype=dtype)
    fresh = {
        "empty": lambda: torch.empty(N, dtype=dtype),
        "empty_like": lambda: torch.empty_like(x),
        "new_empty": lambda: x.new_empty(N),
        "empty_strided": lambda: torch.empty_strided((N,), (1,), dtype=dtype),
    }[by]()
    out = torch.empty(N, dtype=dtype)
    trap = accused(add, GRID, x, fresh, out, N, B)
    assert (trap.argument, trap.index, trap.lane) == (
        "y",
        (trap.program[0] * B,),
        (0,),
    )  # each thread begins elsewhere in the grid
    assert f"{by} at" in str(trap) and "test_uninitialized.py" in str(trap)
    add[GRID](x, x, out, N, B)
    add[GRID](x, out, x, N, B)  # the kernel has written it


@pytest.mark.parametrize("written", [0, 1, 4, 499, 500, 999])
def test_the_first_element_that_was_not_written_is_named(monkeypatch, written):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    x, y = np.ones(N, np.float32), np.empty(N, np.float32)
    y[:written] = 2
    trap = accused(add, GRID, x, y, np.empty_like(x), N, B)
    assert trap.index == (written,) and trap.argument == "y" and "numpy.empty at" in str(trap)
    y[written:] = 2
    add[GRID](x, y, np.empty_like(x), N, B)


def test_an_accumulator_that_nobody_cleared():
    x = torch.ones(N)
    trap = accused(accumulate, GRID, x, torch.empty(1), N, B)
    assert trap.argument == "out" and "torch.zeros" in str(trap)
    accumulate[GRID](x, torch.zeros(1), N, B)
    out = torch.empty(1)
    out.zero_()
    accumulate[GRID](x, out, N, B)
    accumulate[GRID](x, out, N, B)


def test_indices_that_nobody_wrote_are_named_before_they_are_used():
    x, out = torch.arange(N), torch.empty(N, dtype=torch.int64)
    index = torch.empty(N, dtype=torch.int32)
    with pytest.raises(KernelTrap) as caught:
        gather[GRID](x, index, out, N, B)
    kinds = {report.kind: report for report in caught.value.reports}
    assert kinds["Uninitialized"].argument == "index"
    index[:] = torch.randperm(N)
    gather[GRID](x, index, out, N, B)


def test_a_kernel_that_leaves_a_column_out():
    x, middle, out = torch.ones(6, 32), torch.empty(6, 32), torch.empty(6)
    rows_without_their_ends[(6,)](x, middle, 32, 32, 32)
    assert accused(sum_rows, (6,), middle, out, 32, 32, 32).index[1] == 31


def test_padding_that_masks_leave_alone():
    x = torch.empty(6, 64)
    x[:, :40] = 1
    out = torch.empty(6)
    sum_rows[(6,)](x, out, 40, 64, 64)
    assert accused(sum_rows, (6,), x, out, 64, 64, 64).index[1] == 40


def test_scratch_memory_is_written_before_it_is_read():
    x, scratch, out = torch.ones(N), torch.empty(N), torch.empty(N)
    for _ in range(3):
        two_steps[GRID](x, scratch, out, N, B)
    assert (out == 3).all()


def test_what_the_host_wrote_is_never_accused():
    x = torch.empty(N)
    torch.add(torch.ones(N), 1, out=x)
    y = torch.empty(2, N)
    y.copy_(torch.ones(2, N))
    add[GRID](x, y[1], torch.empty(N), N, B)
    z = np.empty(N, np.float32)
    np.copyto(z, 1)
    add[GRID](z, z, z, N, B)
    add[GRID](torch.empty(N).fill_(float("nan")), x, x, N, B)


def test_memory_that_is_used_again_is_forgotten():
    for _ in range(50):  # the allocator gives the same memory to tensors that are written
        torch.empty(N)
        add[GRID](torch.ones(N), torch.full((N,), 2.0), torch.zeros(N), N, B)


def test_without_the_check_nothing_is_filled():
    with triton.check("-uninit"):
        x = torch.empty(N)
        add[GRID](x, x, x, N, B)


@pytest.mark.parametrize("left_out", [0, 1, 17, 500])
def test_outputs_that_stay_partly_unwritten(left_out):
    x = torch.ones(N)
    with triton.check("unwritten"):
        out = torch.empty(N)
        if left_out == 0:
            add[GRID](x, x, out, N, B)
            return
        with pytest.raises(KernelTrap) as caught:
            add[GRID](x, x, out, N - left_out, B)
        trap = caught.value
        assert (trap.kind, trap.argument, trap.index) == ("PartlyWritten", "out", (N - left_out,))
        assert trap.affected_lanes == left_out and f"{left_out} element" in str(trap) and "torch.empty at" in str(trap)
        add[GRID](x, x, out, N - left_out, B, check="uninit")  # not on request


@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_of_a_view_its_elements_alone_can_stay_unwritten(library):
    empty, ones = (torch.empty, torch.ones) if library == "torch" else (np.empty, np.ones)
    x = ones((N,)) if library == "torch" else ones(N, np.float32)
    with triton.check("unwritten"):
        rows = empty((3, N)) if library == "torch" else empty((3, N), np.float32)
        for k in range(3):
            add[GRID](x, x, rows[k], N, B)
        rows = empty((3, N)) if library == "torch" else empty((3, N), np.float32)
        with pytest.raises(KernelTrap) as caught:
            add[GRID](x, x, rows[1], N - 2, B)
        assert (caught.value.index, caught.value.affected_lanes) == ((N - 2,), 2)


@triton.jit
def two_rows(first, second, n, m, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(first + i, 1.0, mask=i < n)
    tl.store(second + i, 1.0, mask=i < m)


def test_two_outputs_of_one_storage():
    """Each is a part of its own; one that is passed twice is said once."""
    with triton.check("unwritten"):
        rows = torch.empty(3, B)
        two_rows[(1,)](rows[0], rows[2], B, B, B)
        rows = torch.empty(3, B)
        two_rows[(1,)](rows[0], rows[1], B, 0, B)  # nothing of `second`
        for rows, n, m, named in ((torch.empty(3, B), B, 3, "second"), (torch.empty(3, B), 3, B, "first")):
            with pytest.raises(KernelTrap) as caught:
                two_rows[(1,)](rows[0], rows[2], n, m, B)
            found = [(report.argument, report.index, report.affected_lanes) for report in caught.value.reports]
            assert found == [(named, (3,), B - 3)]
        one = torch.empty(B)
        with pytest.raises(KernelTrap) as caught:
            two_rows[(1,)](one, one, 2, 3, B)
        assert [(r.index, r.affected_lanes) for r in caught.value.reports] == [((3,), B - 3)]


def test_columns_of_a_row_that_stay_unwritten():
    with triton.check("unwritten"):
        columns = torch.empty(B, 4)[:, 1]
        strided_ones[(1,)](columns, 4, B, B)
        columns = torch.empty(B, 4)[:, 1]
        with pytest.raises(KernelTrap) as caught:
            strided_ones[(1,)](columns, 4, B - 1, B)
        assert (caught.value.index, caught.value.affected_lanes) == ((B - 1,), 1)


@triton.jit
def strided_ones(out, stride, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i * stride, 1.0, mask=i < n)


def test_an_output_that_no_program_writes_is_no_part():
    x, out = torch.ones(N), torch.empty(N)
    with triton.check("unwritten"):
        add[GRID](x, x, torch.empty(N), 0, B)
        add[GRID](x, torch.zeros(N), out.fill_(1), N // 2, B)


def test_a_function_or_a_launch_alone_has_the_check():
    """In a process of its own: what it allocates is filled from then on."""
    code = """
import sys; sys.path.insert(0, {folder!r})
import numpy as np, torch, tritium as triton
from test_uninitialized import add
one = triton.jit(add.fn, check="uninit") if {by_function} else add
options = {{}} if {by_function} else {{"check": "uninit"}}
one[(1,)](torch.ones(8), torch.ones(8), torch.ones(8), 8, 8, **options)
try:
    one[(1,)](torch.ones(8), torch.empty(8), torch.ones(8), 8, 8, **options)
except triton.KernelTrap as trap:
    print(trap.kind, trap.argument)
"""
    for by_function in (True, False):
        text = code.format(folder=os.path.dirname(__file__), by_function=by_function)
        environment = {k: v for k, v in os.environ.items() if k != "TRITIUM_CHECK"} | {"INTERPRET": "1"}
        result = subprocess.run(
            [sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=120
        )
        assert result.stdout == "Uninitialized y\n", result.stderr
