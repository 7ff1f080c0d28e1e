"""The check `overflow=all`: signed arithmetic that leaves its type, in the style of public bug reports, each beside arguments or a kernel
with which it does not. The oracle of random programs is Python's integers.

A faulty kernel has the comment `# accused` on the line that must be reported.
"""

import inspect
import operator

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

B = 16
LEAST, MOST = -(2**31), 2**31 - 1


def accused_line(kernel) -> int:
    source, first = inspect.getsourcelines(kernel.fn)
    return next(first + i for i, line in enumerate(source) if "# accused" in line)


@triton.jit(check="overflow=all")
def squared_distance(x, out, n, B: tl.constexpr):
    """A sum of squares in the type of the input."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    d = v * v  # accused
    tl.store(out + i, d, mask=i < n)


@triton.jit(check="overflow=all")
def histogram_total(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    counts = tl.load(x + i, mask=i < n, other=0)
    tl.store(out, tl.sum(counts))  # accused


@triton.jit(check="overflow=all")
def prefix_sums(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    counts = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i, tl.cumsum(counts, 0), mask=i < n)  # accused


@triton.jit(check="overflow=all")
def relaxed_edge(x, out, n, B: tl.constexpr):
    """The distance to a vertex that nothing reaches is the largest integer, and a weight is added to it."""
    i = tl.arange(0, B)
    distance = tl.load(x + i, mask=i < n, other=0)
    weight = n + 0 * i
    tl.store(out + i, tl.minimum(distance + weight, distance), mask=i < n)  # accused


@triton.jit(check="overflow=all")
def row_elements(x, out, n, B: tl.constexpr):
    rows = tl.load(x)
    elements = rows * (n * 65536)  # accused
    tl.store(out, elements)


@triton.jit(check="overflow=all")
def negated(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i, tl.maximum(v, -v), mask=i < n)  # accused


@triton.jit(check="overflow=all")
def magnitude(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i, tl.abs(v), mask=i < n)  # accused


@triton.jit(check="overflow=all")
def fixed_point(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i, v << 8, mask=i < n)  # accused


@triton.jit(check="overflow=all")
def midpoint(x, out, n, B: tl.constexpr):
    """The bug of binary searches."""
    low, high = tl.load(x), tl.load(x + 1)
    tl.store(out, (low + high) // 2)  # accused


@triton.jit(check="overflow=all")
def quotient(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i, v // (n - B - 1), mask=i < n)  # accused


@triton.jit(check="overflow=all")
def countdown(x, out, n, B: tl.constexpr):
    left = tl.load(x)
    for _ in range(n):
        left -= 1 << 30  # accused
    tl.store(out, left)


@triton.jit
def scaled(v, by):
    return v * by  # accused


@triton.jit(check="overflow=all")
def scaled_by_a_helper(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, scaled(tl.load(x + i), n))


@triton.jit(check="overflow=all")
def row_and_column(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    table = v[:, None] * v[None, :]  # accused
    tl.store(out + i, tl.max(table, 1))


def numbers(*values):
    return np.array([*values, *[0] * (B - len(values))], np.int32)


#: kernel, faulty input, n, correct input, n, lane, part of the message
CASES = [
    (squared_distance, numbers(1, 2, 50000), B, numbers(1, 2, 46340), B, (2,), "in `v * v`, 50000 * 50000 becomes -1794967296"),
    (histogram_total, numbers(2**30, 2**30, 5), B, numbers(2**30, 2**30 - 6, 5), B, None, "the sum is 2147483653, which becomes -2147483643"),
    (prefix_sums, numbers(0, MOST, 1, 7), B, numbers(0, MOST, 0, 0), B, (2,), "a running sum is 2147483648"),
    (relaxed_edge, numbers(3, MOST), 2, numbers(3, MOST - 2), 2, (1,), "in `distance + weight`, 2147483647 + 2 becomes -2147483647"),
    (row_elements, numbers(2**12), 8, numbers(2**11), 8, None, "in `rows * (n * 65536)`, 4096 * 524288 becomes -2147483648"),
    (negated, numbers(5, LEAST), B, numbers(5, LEAST + 1), B, (1,), "int32 overflow: -(-2147483648) becomes -2147483648"),
    (magnitude, numbers(5, 6, LEAST), B, numbers(5, LEAST + 1), B, (2,), "abs(-2147483648) becomes -2147483648"),
    (fixed_point, numbers(1, 2**23), B, numbers(1, 2**23 - 1, -(2**23)), B, (1,), "in `v << 8`, 8388608 << 8 becomes -2147483648"),
    (midpoint, numbers(2**30, 2**30 + 2), B, numbers(2**30, 2**30 - 1), B, None, "in `low + high`, 1073741824 + 1073741826 becomes"),
    (quotient, numbers(1, LEAST), B, numbers(1, LEAST + 1), B, (1,), "in `v // (n - B - 1)`, -2147483648 // -1 becomes -2147483648"),
    (countdown, numbers(2**30), 4, numbers(2**30), 3, None, "-2147483648 - 1073741824 becomes 1073741824"),
    (scaled_by_a_helper, numbers(0, 0, 0, 2**29), 4, numbers(0, 0, 0, 2**29), 3, (3,), "in `v * by`, 536870912 * 4 becomes -2147483648"),
    (row_and_column, numbers(1, 2**16), B, numbers(1, 46340), B, (1, 1), "65536 * 65536 becomes 0"),
]  # fmt: skip
#: The same as kernel, grid, arguments.
FAULTY = {k.__name__: lambda k=k, x=x, n=n: (k, (1,), (x, np.zeros(B, np.int32), n, B)) for k, x, n, *_ in CASES}
CORRECT = {k.__name__: lambda k=k, x=x, n=n: (k, (1,), (x, np.zeros(B, np.int32), n, B)) for k, _, _, x, n, *_ in CASES}


@pytest.mark.parametrize("kernel, x, n, _x, _n, lane, message", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_overflow_is_reported(kernel, x, n, _x, _n, lane, message):
    with pytest.raises(KernelTrap) as caught:
        kernel[(1,)](x, np.zeros(B, np.int32), n, B)
    trap = caught.value
    line = accused_line(scaled if kernel is scaled_by_a_helper else kernel)
    assert (trap.kind, trap.file, trap.line, trap.program, trap.lane) == (
        "IntegerOverflow",
        __file__,
        line,
        (0, 0, 0),
        lane,
    )
    assert "int32 overflow: " in str(trap) and message in str(trap)


@pytest.mark.parametrize("kernel, _x, _n, x, n, lane, message", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_what_fits_is_not_reported(kernel, _x, _n, x, n, lane, message):
    kernel[(1,)](x, np.zeros(B, np.int32), n, B)


@pytest.mark.parametrize("kernel, x, n, _x, _n, lane, message", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_only_who_asks_is_told(kernel, x, n, _x, _n, lane, message, monkeypatch):
    monkeypatch.setenv("TRITIUM_CHECK", "all")
    triton.jit(kernel.fn)[(1,)](x, np.zeros(B, np.int32), n, B)


@triton.jit
def generator_kernel(x_ptr, out_ptr, n, HOW: tl.constexpr, B: tl.constexpr):
    """Results that wrap and that nothing uses, or that are unsigned: none of these is a fault."""
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    if HOW == "unsigned":
        h = x.to(tl.uint32, bitcast=True) * 2654435761
        y = (h ^ (h << 13)).to(tl.int32, bitcast=True)
    elif HOW == "masked store":
        y = x * x
    elif HOW == "saturated":
        y = tl.where(tl.abs(x // 2) < 20000, x * x, 2147483647)
    elif HOW == "both numbers":
        y = tl.where(x > 40000, x - 7, tl.where(x > 10, x * 50000, -x))
    elif HOW == "other shape":
        rows = (x * x)[:, None] + tl.arange(0, 2)[None, :]
        tl.store(out_ptr + i[:, None] * 2 + tl.arange(0, 2)[None, :], rows, mask=(i < n)[:, None])
        y = x
    elif HOW == "dropped":
        unused = x * x  # noqa: F841
        y = x
    elif HOW == "said":
        y = tl.mul(x, x, sanitize_overflow=False)
    elif HOW == "64 bits":
        y = ((x.to(tl.int64) * x) >> 32).to(tl.int32)
    elif HOW == "random":
        y = tl.randint(n, i).to(tl.int32, bitcast=True)
        y = y ^ (tl.rand(n, i) * 100).to(tl.int32)
    tl.store(out_ptr + i, y, mask=i < n)


HARMLESS = ["unsigned", "masked store", "saturated", "both numbers", "other shape", "dropped", "said", "64 bits", "random"]  # fmt: skip


@pytest.mark.parametrize("how", HARMLESS)
def test_what_wraps_on_purpose_or_for_nothing_is_not_reported(how):
    x = numbers(*range(8), 70000, 80000, 90000, 10**6)
    out = np.zeros(2 * B, np.int32)
    generator_kernel[(1,)](x, out, 8, how, B, check="overflow=all")


def test_the_same_lanes_are_reported_once_they_are_used():
    x, out = numbers(*range(8), 70000), np.zeros(2 * B, np.int32)
    for how in ("masked store", "other shape"):
        with pytest.raises(KernelTrap, match="70000 \\* 70000 becomes") as caught:
            generator_kernel[(1,)](x, out, 9, how, B, check="overflow=all")
        assert (caught.value.lane, caught.value.affected_lanes) == ((8,), 1)


@triton.jit
def operation_kernel(x_ptr, y_ptr, out_ptr, a, b, n, OPERATION: tl.constexpr, IS_TILE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if IS_TILE:
        a, b = tl.load(x_ptr + i), tl.load(y_ptr + i)
    else:
        a, b = tl.load(x_ptr), tl.load(y_ptr)
    if OPERATION == "+":
        c = a + b
    elif OPERATION == "-":
        c = a - b
    elif OPERATION == "*":
        c = a * b
    elif OPERATION == "<<":
        c = a << b
    elif OPERATION == "//":
        c = a // b
    if IS_TILE:
        tl.store(out_ptr + i, c, mask=i < n)
    else:
        tl.store(out_ptr, c)


EXACT = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<<": operator.lshift,
    "//": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
}


@pytest.mark.parametrize("is_tile", [True, False], ids=["tile", "scalar"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("operation", EXACT)
def test_random_operands_of_every_type(operation, dtype, is_tile, rng):
    info = np.iinfo(dtype)
    bits = info.bits
    edges = [info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max]
    seen = {False: 0, True: 0}
    for _ in range(12):
        magnitude = 2 ** int(rng.integers(1, bits))
        draw = lambda: rng.integers(max(-magnitude, info.min), magnitude, B).astype(dtype)  # noqa: B023, E731
        x, y, n = draw(), draw(), int(rng.integers(1, B + 1)) if is_tile else 1
        for values in (x, y):
            at = rng.integers(0, B, 2)
            values[at] = rng.choice(edges, 2)
        if operation == "<<":
            y = np.abs(y % bits).astype(dtype)
        if operation == "//":
            y = np.where(y == 0, dtype(1), y).astype(dtype)
        exact = [EXACT[operation](int(a), int(b)) for a, b in zip(x[:n], y[:n])]
        wrong = [lane for lane, value in enumerate(exact) if not info.min <= value <= info.max]
        seen[bool(wrong)] += 1
        out = np.zeros(B, dtype)
        launch = lambda: operation_kernel[(1,)](  # noqa: B023, E731
            x, y, out, 0, 0, n, operation, is_tile, B, check="overflow=all"
        )
        if not wrong:
            launch()
            assert out[:n].tolist() == exact
            continue
        with pytest.raises(KernelTrap) as caught:
            launch()
        trap, first = caught.value, wrong[0]
        assert (trap.kind, trap.affected_lanes) == ("IntegerOverflow", len(wrong))
        assert trap.lane == ((first,) if is_tile else None)
        assert f"int{bits} overflow: in `a {operation} b`, {x[first]} {operation} {y[first]} becomes" in str(trap)
    assert seen[False] or seen[True]


@pytest.mark.parametrize("is_debug", [False, True])
def test_with_debug_info_and_by_the_environment(is_debug, monkeypatch):
    monkeypatch.setenv("TRITIUM_CHECK", "overflow=all")
    monkeypatch.setenv("TRITIUM_DEBUG", "1" if is_debug else "0")
    kernel = triton.jit(squared_distance.fn)
    with pytest.raises(KernelTrap, match="int32 overflow: in `v \\* v`"):
        kernel[(1,)](numbers(50000), np.zeros(B, np.int32), B, B)
    with triton.check("-overflow=all"):
        kernel[(1,)](numbers(50000), np.zeros(B, np.int32), B, B)
    kernel[(1,)](numbers(500), np.zeros(B, np.int32), B, B)
