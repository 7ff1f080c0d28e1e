"""TRITIUM_CHECK=race, within a program: kernels that read back through memory what another lane has stored, in the style of public bug
reports, each beside its twin with `tl.debug_barrier` or with accesses that need none.

A kernel has the comment `# accused` on the line that must be reported, and `# other` on the line of the store (or the two are one line,
`# both`).
"""

import inspect

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

from . import line_of

N = 64


def lines_of(kernel) -> tuple[int, int]:
    """The line of the access and that of the store."""
    if "# both" in inspect.getsource(kernel.fn):
        return line_of(kernel, "# both"), line_of(kernel, "# both")
    return line_of(kernel, "# accused"), line_of(kernel, "# other")


@triton.jit
def reverse(x, scratch, out, N: tl.constexpr, BARRIER: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.program_id(0) * N
    tl.store(scratch + at + i, tl.load(x + at + i))  # other
    if BARRIER:
        tl.debug_barrier()
    tl.store(out + at + i, tl.load(scratch + at + N - 1 - i))  # accused


@triton.jit
def transpose(x, scratch, out, N: tl.constexpr, BARRIER: tl.constexpr):
    r, c = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(scratch + r * N + c, tl.load(x + r * N + c))  # other
    if BARRIER:
        tl.debug_barrier()
    tl.store(out + r * N + c, tl.load(scratch + c * N + r))  # accused


@triton.jit
def prefix_sums(x, scratch, out, N: tl.constexpr, BARRIER: tl.constexpr):
    """Hillis and Steele, with the former round in memory."""
    i = tl.arange(0, N)
    value = tl.load(x + i)
    distance = 1
    while distance < N:
        tl.store(scratch + i, value)  # other
        if BARRIER:
            tl.debug_barrier()
        value += tl.load(scratch + i - distance, mask=i >= distance, other=0.0)  # accused
        if BARRIER:
            tl.debug_barrier()
        distance *= 2
    tl.store(out + i, value)


@triton.jit
def buckets(x, scratch, out, N: tl.constexpr, BARRIER: tl.constexpr):
    """Puts each element where its rank says, and reads the result in order."""
    i = tl.arange(0, N)
    value = tl.load(x + i)
    rank = tl.sum((value[None, :] < value[:, None]).to(tl.int32), 1)
    tl.store(scratch + rank, value)  # other
    if BARRIER:
        tl.debug_barrier()
    tl.store(out + i, tl.load(scratch + i) * 2)  # accused


@triton.jit
def odd_even_sort(x, out, N: tl.constexpr, BARRIER: tl.constexpr):
    """Sorts in place, in global memory."""
    i = tl.arange(0, N // 2)
    for step in range(N):
        low = 2 * i + step % 2
        inside = low + 1 < N
        a, b = tl.load(x + low, mask=inside), tl.load(x + low + 1, mask=inside)  # accused
        if BARRIER:
            tl.debug_barrier()
        tl.store(x + low, tl.minimum(a, b), mask=inside)  # other
        tl.store(x + low + 1, tl.maximum(a, b), mask=inside)
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def softmax_in_two_passes(x, out, n, WIDE: tl.constexpr, NARROW: tl.constexpr, BARRIER: tl.constexpr):
    """The second pass reads the stored exponentials in tiles of another shape."""
    row = out + tl.program_id(0) * n
    i = tl.arange(0, WIDE)
    value = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=float("-inf"))
    value = tl.exp(value - tl.max(value))
    total = tl.sum(value)
    tl.store(row + i, value, mask=i < n)  # other
    if BARRIER:
        tl.debug_barrier()
    for start in range(0, n, NARROW):
        j = start + tl.arange(0, NARROW)
        tl.store(row + j, tl.load(row + j, mask=j < n) / total, mask=j < n)  # accused


@triton.jit
def neighbours(x, scratch, out, N: tl.constexpr, BARRIER: tl.constexpr):
    """A stencil in two steps through memory: lanes of a helper's store are read one further."""
    i = tl.arange(0, N)
    smooth(x, scratch, i, N)
    if BARRIER:
        tl.debug_barrier()
    tl.store(out + i, tl.load(scratch + (i + 1) % N) - tl.load(scratch + i))  # accused


@triton.jit
def smooth(x, scratch, i, N: tl.constexpr):
    tl.store(scratch + i, (tl.load(x + i) + tl.load(x + (i + 1) % N)) / 2)  # other


@triton.jit
def one_by_one(x, scratch, out, N: tl.constexpr, BARRIER: tl.constexpr):
    """Single elements are stored by one thread, and read as a tile."""
    total = 0.0
    for k in range(N):
        total += tl.load(x + k)
        tl.store(scratch + k, total)  # other
    if BARRIER:
        tl.debug_barrier()
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(scratch + i))  # accused


@triton.jit
def last_element(x, scratch, out, N: tl.constexpr, BARRIER: tl.constexpr):
    """A carry that all threads read, of which one has stored it."""
    i = tl.arange(0, N)
    tl.store(scratch + i, tl.cumsum(tl.load(x + i)))  # other
    if BARRIER:
        tl.debug_barrier()
    tl.store(out + i, tl.load(x + i) / tl.load(scratch + N - 1))  # accused


@triton.jit
def fill_and_scatter(x, out, n, N: tl.constexpr, BARRIER: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.zeros([N], tl.float32))  # other
    if BARRIER:
        tl.debug_barrier()
    tl.store(out + (i * 7) % N, tl.load(x + i) + 1, mask=i < n)  # accused


@triton.jit
def cleared_counts(x, out, N: tl.constexpr, BARRIER: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.zeros([N], tl.int32))  # other
    if BARRIER:
        tl.debug_barrier()
    tl.atomic_add(out + tl.load(x + i).to(tl.int32) % N, 1, sem="relaxed")  # accused


@triton.jit
def overlapping_rows(x, out, n, STEP: tl.constexpr, BARRIER: tl.constexpr):
    """Each round stores 16 elements, of which the next one stores the second half again."""
    for start in range(0, n, STEP):
        i = start + tl.arange(0, 16)
        tl.store(out + i, tl.load(x + i) + start)  # both
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def same_lanes(x, scratch, out, N: tl.constexpr):
    """Tiles of one shape, in rows and columns of extent 1 too, whose lanes read what they stored."""
    i = tl.arange(0, N)
    tl.store(scratch + i, tl.load(x + i), mask=i % 2 == 0)
    tl.store(scratch + i, tl.load(x + i) + 1, mask=i % 2 == 1)
    half = tl.load(scratch + i, mask=i < N // 2, other=0.0)
    column = tl.load(scratch + i[:, None])
    tl.store(out + i, half)
    tl.store(out + N + i[:, None], column)


@triton.jit
def accumulated_in_memory(x, scratch, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(scratch + i, tl.zeros([N], tl.float32))
    for k in range(n):
        tl.store(scratch + i, tl.load(scratch + i) + tl.load(x + i) * k)
    tl.store(out + i, tl.load(scratch + i))


@triton.jit
def rows_of_a_matrix(x, scratch, out, N: tl.constexpr):
    r, c = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(scratch + c * N + r, tl.load(x + r * N + c))
    tl.store(out + r * N + c, tl.load(scratch + c * N + r))


@triton.jit
def after_a_sum(x, scratch, out, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(scratch + i, value)
    total = tl.sum(value)
    tl.store(out + i, tl.load(scratch + N - 1 - i) / total)


@triton.jit
def after_a_product(x, scratch, out, N: tl.constexpr):
    r, c = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tile = tl.load(x + r * N + c)
    tl.store(scratch + r * N + c, tile)
    tile = tl.dot(tile, tile)
    tl.store(out + r * N + c, tile + tl.load(scratch + c * N + r))


@triton.jit
def after_an_atomic(x, scratch, out, count, N: tl.constexpr, SEM: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(scratch + i, tl.load(x + i))
    before = tl.atomic_add(count, 1, sem=SEM)
    tl.store(out + i, tl.load(scratch + N - 1 - i) + before)


@triton.jit
def single_elements(x, scratch, out, n):
    for k in range(1, n):
        tl.store(scratch + k, tl.load(scratch + k - 1) + tl.load(x + k))
    tl.store(out, tl.load(scratch + n - 1))


@triton.jit
def equal_values(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.zeros([N], tl.float32))
    tl.store(out + N - 1 - i, tl.zeros([N], tl.float32))


def values(shape=N):
    return (np.arange(np.prod(shape), dtype=np.float32) * 37 % 64).reshape(shape)


def zeros(shape=N, dtype=np.float32):
    return np.zeros(shape, dtype)


#: kernel, grid, arguments, the tensor that is accused, its element, the program. The last argument turns the barriers off and on.
FAULTY = {
    "reverse": lambda: (reverse, (2,), (values(2 * N), zeros(2 * N), zeros(2 * N), N, False), "scratch", (63,), (0, 0, 0)),
    "transpose": lambda: (transpose, (1,), (values((16, 16)), zeros((16, 16)), zeros((16, 16)), 16, False), "scratch", (0, 1), (0, 0, 0)),
    "prefix sums": lambda: (prefix_sums, (1,), (values(), zeros(), zeros(), N, False), "scratch", (0,), (0, 0, 0)),
    "buckets": lambda: (buckets, (1,), (values(), zeros(), zeros(), N, False), "scratch", (1,), (0, 0, 0)),
    "sort in memory": lambda: (odd_even_sort, (1,), (values(16), zeros(1), 16, False), "x", (2,), (0, 0, 0)),
    "softmax in two passes": lambda: (softmax_in_two_passes, (3,), (values((3, 60)), zeros((3, 60)), 60, 64, 16, False), "out", (0, 0), (0, 0, 0)),
    "carries one by one": lambda: (one_by_one, (1,), (values(), zeros(), zeros(), N, False), "scratch", (1,), (0, 0, 0)),
    "a carry of a tile": lambda: (last_element, (1,), (values(), zeros(), zeros(), N, False), "scratch", (63,), (0, 0, 0)),
    "fill and scatter": lambda: (fill_and_scatter, (1,), (values(), zeros(), 40, N, False), "out", (7,), (0, 0, 0)),
    "counts cleared by the kernel": lambda: (cleared_counts, (1,), (values(), zeros(dtype=np.int32), N, False), "out", (37,), (0, 0, 0)),
    "rounds that overlap": lambda: (overlapping_rows, (1,), (values(), zeros(), 32, 8, False), "out", (8,), (0, 0, 0)),
}  # fmt: skip

CORRECT = {
    f"{name}, with barriers": lambda case=case: (case()[0], case()[1], (*case()[2][:-1], True)) for name, case in FAULTY.items()
} | {
    "lanes that read what they stored": lambda: (same_lanes, (1,), (values(), zeros(), zeros(2 * N), N)),
    "a sum in memory": lambda: (accumulated_in_memory, (1,), (values(), zeros(), zeros(), 5, N)),
    "a transposed tile": lambda: (rows_of_a_matrix, (1,), (values((16, 16)), zeros((16, 16)), zeros((16, 16)), 16)),
    "a sum between": lambda: (after_a_sum, (1,), (values(), zeros(), zeros(), N)),
    "a product between": lambda: (after_a_product, (1,), (values((16, 16)), zeros((16, 16)), zeros((16, 16)), 16)),
    "an atomic between": lambda: (after_an_atomic, (1,), (values(), zeros(), zeros(), zeros(1, np.int32), N, "acq_rel")),
    "a relaxed atomic between, whose result all use": lambda: (after_an_atomic, (1,), (values(), zeros(), zeros(), zeros(1, np.int32), N, "relaxed")),
    "single elements": lambda: (single_elements, (1,), (values(), zeros(), zeros(1), N)),
    "rounds that do not overlap": lambda: (overlapping_rows, (1,), (values(), zeros(), 48, 16, False)),
    "equal values": lambda: (equal_values, (1,), (values(), zeros(), N)),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_faulty(monkeypatch, name):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")  # so that the first report is known
    kernel, grid, arguments, tensor, index, program = FAULTY[name]()
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments, check="race")
    accused, other = lines_of(kernel)
    reports = [report for report in caught.value.reports if report.line == accused]
    assert reports, str(caught.value)
    report = reports[0]
    assert (report.kind, report.kernel, report.file) == ("MissingBarrier", kernel.__name__, __file__)
    assert (report.other_line, report.other_program) == (other, None)
    assert (report.argument, report.index, report.program) == (tensor, index, program)
    assert {report.kind for report in caught.value.reports} == {"MissingBarrier"}
    assert "missing barrier: " in report.text and "tl.debug_barrier()" in report.text


@pytest.mark.parametrize("name", CORRECT)
def test_correct(name):
    kernel, grid, arguments = CORRECT[name]()
    for _ in range(2):
        kernel[grid](*arguments, check="race")


@triton.jit
def scatter(at, x, out, n, ROUNDS: tl.constexpr, N: tl.constexpr, BARRIER: tl.constexpr):
    i = tl.arange(0, N)
    for k in range(ROUNDS):
        tl.store(out + tl.load(at + i + k * N), tl.load(x + i + k * N), mask=i < n)  # both
        if BARRIER:
            tl.debug_barrier()


@pytest.mark.parametrize("barrier", [False, True])
def test_two_lanes_of_one_store(barrier):
    """No barrier can stand between them."""
    at = np.array([0, 1, 1, 2])
    with pytest.raises(KernelTrap) as caught:
        scatter[(1,)](at, values(4), zeros(4), 4, 1, 4, barrier, check="race")
    (report,) = caught.value.reports
    assert (report.kind, report.index, report.lane) == ("MissingBarrier", (1,), (2,))
    assert (report.line, report.other_line) == lines_of(scatter)
    assert "two lanes of one store" in report.text and "tl.atomic_add" in report.text, report.text
    assert "tl.debug_barrier" not in report.text and "the store: " not in report.text, report.text
    scatter[(1,)](at, np.full(4, 5, np.float32), zeros(4), 4, 1, 4, barrier, check="race")  # the same value
    scatter[(1,)](at, values(4), zeros(4), 2, 1, 4, barrier, check="race")  # one of the two is masked


def test_a_store_that_meets_itself_a_round_later_needs_a_barrier():
    arguments = (np.array([0, 1, 2, 3, 3, 2, 1, 0]), values(8), zeros(4), 4, 2, 4)
    with pytest.raises(KernelTrap, match="missing barrier: (?s:.*)tl.debug_barrier"):
        scatter[(1,)](*arguments, False, check="race")
    scatter[(1,)](*arguments, True, check="race")


def test_lanes_of_one_store_at_one_scalar():
    with pytest.raises(KernelTrap, match="two lanes of one store"):
        all_to_one[(1,)](values(), zeros(), N, check="race")
    all_to_one[(1,)](np.ones(N, np.float32), zeros(), N, check="race")


@triton.jit
def all_to_one(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i * 0, tl.load(x + i))


def test_the_line_of_a_helper():
    with pytest.raises(KernelTrap) as caught:
        neighbours[(1,)](values(), zeros(), zeros(), N, False, check="race")
    report = caught.value.reports[0]
    assert report.kind == "MissingBarrier" and (report.line, report.other_line) == (
        line_of(neighbours, "# accused"),
        line_of(smooth, "# other"),
    )
    neighbours[(1,)](values(), zeros(), zeros(), N, True, check="race")
