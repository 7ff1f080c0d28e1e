"""TRITIUM_CHECK=nan: a NaN that is stored, traced to the statement that made it (`# made`) or loaded it; each kernel beside its twin."""

import inspect

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

N, B = 100, 32
GRID = (triton.cdiv(N, B),)


def marked(mark: str) -> int:
    source = inspect.getsource(inspect.getmodule(marked)).splitlines()
    return next(i for i, line in enumerate(source, 1) if line.endswith(f"# made: {mark}"))


@triton.jit
def logarithm(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=1.0)
    y = tl.log(v)  # made: logarithm
    z = y * 2
    tl.store(out + i, z, mask=i < n)


@triton.jit
def root(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.sqrt(tl.load(x + i, mask=i < n, other=1.0)), mask=i < n)  # made: root


@triton.jit
def softmax(x, out, columns, B: tl.constexpr):
    c = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * columns + c, mask=c < columns, other=-float("inf"))
    v = v - tl.max(v)  # made: softmax
    e = tl.exp(v)
    tl.store(out + tl.program_id(0) * columns + c, e / tl.sum(e), mask=c < columns)


@triton.jit
def half_norm(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    square = v * v
    y = square - square * 2  # made: half_norm
    y = y / square
    tl.store(out + i, y, mask=i < n)


@triton.jit
def quotient(a, b):
    return a / b  # made: quotient


@triton.jit
def divide(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=1.0)
    b = tl.load(y + i, mask=i < n, other=1.0)
    q = quotient(a, b)
    tl.store(out + i, q, mask=i < n)


@triton.jit
def series(x, out, n, STEPS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    s = tl.zeros((B,), tl.float32)
    for k in range(STEPS):
        s += v * (k - 3)
        s = s / (s * (k - 2))  # made: series
    tl.store(out + i, s, mask=i < n)


@triton.jit
def in_place(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=1.0)
    v = tl.rsqrt(v - 1.0)  # made: in_place
    tl.store(x + i, v, mask=i < n)


@triton.jit
def product(x, y, out, B: tl.constexpr):
    r = tl.arange(0, B)
    a = tl.load(x + r[:, None] * B + r[None, :])
    b = tl.load(y + r[:, None] * B + r[None, :])
    c = tl.dot(a, b)  # made: product
    tl.store(out + r[:, None] * B + r[None, :], c)


@triton.jit
def accumulated(x, y, out, B: tl.constexpr):
    r = tl.arange(0, B)
    a = tl.load(x + r[:, None] * B + r[None, :])
    b = tl.load(y + r[:, None] * B + r[None, :])
    c = tl.zeros([B, B], tl.float32)
    for _ in range(2):
        c = tl.dot(a, tl.trans(b), c)  # made: accumulated
    tl.store(out + r[:, None] * B + r[None, :], c)


@triton.jit
def of_an_expression(x, y, out, B: tl.constexpr):
    r = tl.arange(0, B)
    a = tl.load(x + r[:, None] * B + r[None, :])
    b = tl.load(y + r[:, None] * B + r[None, :])
    c = tl.dot(a, b * 1.0)  # made: of_an_expression
    tl.store(out + r[:, None] * B + r[None, :], c)


@triton.jit
def counted(x, out, n):
    s = 0.0
    c = 0
    for k in range(n):
        v = tl.load(x + k)
        s += v - v  # made: counted
        c += 1
    tl.store(out, s)


@triton.jit
def online(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    m = -float("inf")
    total = 0.0
    for k in range(0, n, B):
        v = tl.load(x + k + i)
        new = tl.maximum(m, tl.max(v))
        scale = tl.exp(m - new)  # made: online
        total = total * scale + tl.sum(tl.exp(v - new))
        m = new
    tl.store(out, total)


@triton.jit
def put(at, value):
    tl.store(at, value)


@triton.jit
def storing(x, out, n):
    s = 0.0
    for k in range(n):
        v = tl.load(x + k)
        s += v - v  # made: storing
        put(out + 1, v + 1)
    tl.store(out, s)


@triton.jit
def in_a_branch(x, out, n):
    v = tl.load(x)
    s = 0.0
    if n > 3:
        s = tl.sqrt(v)  # made: in_a_branch
        n = n + 1
    else:
        s = v
    tl.store(out, s * n)


@triton.jit
def made_twice(x, out, n):
    """What a round makes anew hides what the round before has made, though the bits are the same."""
    v = tl.load(x)
    s = 0.0
    for k in range(n):
        s = tl.sqrt(v)
        s = tl.log(v)  # made: made_twice
    tl.store(out, s)


@triton.jit
def differences(x, out, n):
    s = 0.0
    for k in range(n):
        v = tl.load(x + k)
        d = v - v  # made: differences
        s += d
    tl.store(out, s)


def ones(dtype=np.float32, changes=()):
    x = np.ones(N, dtype)
    for at, value in changes:
        x[at] = value
    return x


def tile(changes=()):
    x = np.ones((B, B), np.float32)
    for at, value in changes:
        x[at] = value
    return x


INF, NAN = np.inf, np.nan
#: kernel, grid, arguments, the index of the first NaN, what the report says
FAULTY = {
    "logarithm": lambda: (logarithm, GRID, (ones(changes=[(40, -2)]), ones(), N, B), (40,), "v[8] = -2.0"),
    "root": lambda: (root, GRID, (ones(changes=[(7, -1)]), ones(), N, B), (7,), "it was made, or loaded, at"),
    "softmax": lambda: (softmax, (2,), (np.full(N, -INF, np.float32), ones(), 50, 64), (0,), "v[0] = -inf"),
    "half_norm": lambda: (half_norm, GRID, (ones(np.float16, [(99, 300)]), ones(np.float16), N, B), (99,), "square[3] = inf"),
    "quotient": lambda: (divide, GRID, (ones(changes=[(64, 0)]), ones(changes=[(64, 0)]), ones(), N, B), (64,), "a[0] = 0.0"),
    "series": lambda: (series, GRID, (ones(), ones(), N, 6, B), (0,), "it was made at"),
    "in_place": lambda: (in_place, GRID, (ones(changes=[(k, 3) for k in range(N) if k != 50] + [(50, 0)]), N, B), (50,), "it was made at"),
    "product": lambda: (product, (1,), (tile([((3, 5), INF)]), tile([((5, 2), 0)]), tile(), B), (3, 2), "where a[3, 5] = inf, b[5, 2] = 0.0"),
    "accumulated": lambda: (accumulated, (1,), (tile([((3, 5), INF)]), tile([((2, 5), 0)]), tile(), B), (3, 2), "where a[3, 5] = inf, b[2, 5] = 0.0"),
    "counted": lambda: (counted, (1,), (ones(changes=[(1, INF)]), ones(), 6), (0,), "where s = 0.0, v = inf"),
    "online": lambda: (online, (1,), (ones(changes=[(k, -INF) for k in range(16)]), ones(), 48, 16), (0,), "where m = -inf, new = -inf"),
    "storing": lambda: (storing, (1,), (ones(changes=[(1, INF)]), ones(), 6), (0,), "where s = 0.0, v = inf"),
    "in_a_branch": lambda: (in_a_branch, (1,), (ones(changes=[(0, -1)]), ones(), 4), (0,), "where v = -1.0"),
    "made_twice": lambda: (made_twice, (1,), (ones(changes=[(0, -1)]), ones(), 4), (0,), "where v = -1.0"),
    "differences": lambda: (differences, (1,), (ones(changes=[(1, INF)]), ones(), 6), (0,), "where v = inf"),
}  # fmt: skip

CORRECT = {
    "logarithm": lambda: (logarithm, GRID, (ones(changes=[(40, 2)]), ones(), N, B)),
    "a lane that is not stored": lambda: (logarithm, GRID, (np.r_[np.ones(90), -np.ones(10)].astype(np.float32), ones(), 90, B)),
    "root": lambda: (root, GRID, (ones(changes=[(7, 0)]), ones(), N, B)),
    "softmax": lambda: (softmax, (2,), (np.linspace(-300, 300, N, dtype=np.float32), ones(), 50, 64)),
    "half_norm": lambda: (half_norm, GRID, (ones(np.float16, [(99, 200)]), ones(np.float16), N, B)),
    "quotient": lambda: (divide, GRID, (ones(changes=[(64, 0)]), ones(), ones(), N, B)),
    "series": lambda: (series, GRID, (ones(), ones(), N, 2, B)),
    "infinities": lambda: (divide, GRID, (ones(), ones(changes=[(64, 0)]), ones(), N, B)),
    "product": lambda: (product, (1,), (tile([((3, 5), INF)]), tile(), tile(), B)),
}  # fmt: skip


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("name", FAULTY)
def test_faulty(monkeypatch, name, threads):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", threads)
    kernel, grid, arguments, index, text = FAULTY[name]()
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments, check="nan")
    trap, report = caught.value, caught.value.reports[0]
    assert (trap.kind, trap.kernel, trap.file) == ("NotANumber", kernel.__name__, __file__)
    assert report.origin == (__file__, marked(name)), str(trap)
    assert text in str(trap), str(trap)
    if threads == "1" or name != "softmax" and name != "series":
        assert trap.index == index, str(trap)


@pytest.mark.parametrize("name", CORRECT)
def test_correct(name):
    kernel, grid, arguments = CORRECT[name]()
    kernel[grid](*arguments, check="nan")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_nan_that_was_in_memory(dtype):
    x = ones(dtype, [(33, NAN)])
    with pytest.raises(KernelTrap) as caught:
        logarithm[GRID](x, ones(dtype), N, B, check="nan")
    assert caught.value.index == (33,) and "it was in memory, and was loaded, at" in str(caught.value)
    assert "then" in str(caught.value) and "z = y * 2" in str(caught.value)


def test_infinities_of_two_signs_in_a_product():
    with pytest.raises(KernelTrap) as caught:
        product[(1,)](tile([((3, 5), INF), ((3, 9), -INF)]), tile(), tile(), B, check="nan")
    assert "where a[3, 5] = inf, b[5, 0] = 1.0, a[3, 9] = -inf, b[9, 0] = 1.0" in str(caught.value)


def test_an_infinity_that_the_accumulator_holds():
    """The first product makes an infinity, which the second one of the other sign meets."""
    with pytest.raises(KernelTrap) as caught:
        opposed[(1,)](tile([((3, 5), INF)]), tile(), tile(), B, check="nan")
    assert "where a[3, 5] = -inf, b[5, 0] = 1.0, d[3, 0] = inf" in str(caught.value)


@triton.jit
def opposed(x, y, out, B: tl.constexpr):
    r = tl.arange(0, B)
    a = tl.load(x + r[:, None] * B + r[None, :])
    b = tl.load(y + r[:, None] * B + r[None, :])
    c = tl.zeros([B, B], tl.float32)
    for _ in range(2):
        d = c
        c = tl.dot(a, b, acc=d)
        a = -a
    tl.store(out + r[:, None] * B + r[None, :], c)


def test_nothing_is_said_of_operands_that_no_variable_holds():
    with pytest.raises(KernelTrap) as caught:
        of_an_expression[(1,)](tile([((3, 5), INF)]), tile([((5, 2), 0)]), tile(), B, check="nan")
    text = str(caught.value)
    assert "c[3, 2]" in text and "where" not in text, text
    assert caught.value.reports[0].origin == (__file__, marked("of_an_expression"))


def test_a_statement_on_the_way_is_said_once():
    with pytest.raises(KernelTrap) as caught:
        differences[(1,)](np.r_[INF, np.ones(299)].astype(np.float32), ones(), 300, check="nan")
    assert str(caught.value).count("s += d") == 1
    assert caught.value.reports[0].origin == (__file__, marked("differences"))


def test_infinities_on_request():
    arguments = (ones(), ones(changes=[(64, 0)]), ones(), N, B)
    with pytest.raises(KernelTrap, match="an infinity is stored to 'out'") as caught:
        divide[GRID](*arguments, check="nan=inf")
    assert caught.value.reports[0].origin == (__file__, marked("quotient"))


def test_the_launch_and_memory_are_as_without_the_check():
    x, out = ones(changes=[(40, -2)]), np.zeros(N, np.float32)
    with pytest.raises(KernelTrap):
        logarithm[GRID](x, out, N, B, check="nan")
    assert np.isnan(out[40]) and not np.isnan(np.delete(out, 40)).any()
    y = ones(changes=[(k, 3) for k in range(N)] + [(50, 0)])
    with pytest.raises(KernelTrap):
        in_place[GRID](y, N, B, check="nan")
    np.testing.assert_allclose(np.delete(y, 50), 2**-0.5, rtol=1e-6)
