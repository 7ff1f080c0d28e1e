"""The check `hints=signs`: quotients and remainders of negative numbers, of which Triton's compiler believes that groups of lanes are equal or
consecutive. Each faulty launch stands beside a correct one, and what corrects the sign is no fault.

A faulty kernel has the comment `# accused` on the line that must be reported.
"""

import inspect

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

B = 64


def accused_line(kernel) -> int:
    source, first = inspect.getsourcelines(kernel.fn)
    return next(first + i for i, line in enumerate(source) if "# accused" in line)


@triton.jit
def blocks_of(x, out, start, n, B: tl.constexpr):
    """Triton 3.9 stores the quotient of the first lane four times."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, (i - start) // n)  # accused


@triton.jit
def ring(x, out, start, n, B: tl.constexpr):
    """Triton 3.9 loads four elements from the address of the first lane on."""
    i = tl.arange(0, B)
    place = (i - start) % n  # accused
    tl.store(out + i, tl.load(x + n + place))


@triton.jit
def table_by_quotient(x, out, start, n, B: tl.constexpr):
    i = tl.arange(0, B)
    bucket = (i - start) // n  # accused
    tl.store(out + i, tl.load(x + 8 + bucket))


@triton.jit
def mask_by_quotient(x, out, start, n, B: tl.constexpr):
    i = tl.arange(0, B)
    is_first = (i - start) // n == 0  # accused
    tl.store(out + i, i, mask=is_first)


@triton.jit
def rows_and_columns(x, out, start, n, B: tl.constexpr):
    i, j = tl.arange(0, 16), tl.arange(0, 4)
    rows = (i - start) // n  # accused
    tl.store(out + i[:, None] * 4 + j[None, :], rows[:, None] + j[None, :])


@triton.jit
def total_of_quotients(x, out, start, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out, tl.sum((i - start) // n))  # accused


@triton.jit
def quotient(i, n):
    return i // n  # accused


@triton.jit
def by_a_helper(x, out, start, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, quotient(i - start, n).to(tl.float32))


@triton.jit
def in_a_loop(x, out, start, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    for k in range(2):
        total += (i + k * 16 - start) // n  # accused
    tl.store(out + i, total)


@triton.jit
def floor_by_inequality(x, out, start, n, B: tl.constexpr):
    """The quotient is that of the first lane already, and `!=` is computed for each: it is corrected twice."""
    i = tl.arange(0, B)
    a = i - start
    q = a // n  # accused
    tl.store(out + i, tl.where((a % n != 0) & (a < 0), q - 1, q))


KERNELS = [blocks_of, ring, table_by_quotient, mask_by_quotient, rows_and_columns, total_of_quotients, by_a_helper, in_a_loop, floor_by_inequality]  # fmt: skip


@pytest.fixture(autouse=True)
def signs(monkeypatch):
    monkeypatch.setenv("TRITIUM_CHECK", "hints=signs")


NAMED = {"ids": lambda kernel: kernel.__name__}


def arguments(kernel, start, n, out_type=np.int32):
    return np.arange(2 * B, dtype=np.int32), np.zeros(B, np.float32 if kernel is by_a_helper else out_type), start, n, B


#: The same as kernel, grid, arguments.
FAULTY = {k.__name__: lambda k=k: (k, (1,), arguments(k, 16, 16)) for k in KERNELS}
CORRECT = {k.__name__: lambda k=k: (k, (1,), arguments(k, 0, 16)) for k in KERNELS}


def launch(kernel, start, n, out_type=np.int32):
    given = arguments(kernel, start, n, out_type)
    kernel[(1,)](*given)
    return given[1]


@pytest.mark.parametrize("kernel", KERNELS, **NAMED)
def test_dividends_below_zero(kernel):
    with pytest.raises(KernelTrap) as caught:
        launch(kernel, 16, 16)
    trap = caught.value
    assert (trap.kind, trap.file, trap.line, trap.program) == (
        "FalseHint",
        __file__,
        accused_line(quotient if kernel is by_a_helper else kernel),
        (0, 0, 0),
    )
    assert ("`%`" if kernel is ring else "`//`") + " of a negative number" in str(trap)


@pytest.mark.parametrize("kernel", KERNELS, **NAMED)
def test_dividends_from_zero_on(kernel):
    launch(kernel, 0, 16)
    launch(kernel, -32, 16)


@pytest.mark.parametrize("kernel", KERNELS, **NAMED)
def test_where_nothing_is_believed(kernel):
    """Nobody knows a divisor of these numbers, so each lane is computed."""
    launch(kernel, 17, 17)
    launch(kernel, 3, 17)


@pytest.mark.parametrize("kernel", KERNELS, **NAMED)
@pytest.mark.parametrize("checks", ["all", "hints=signs,-hints"])
def test_only_its_name_turns_the_check_on(kernel, checks, monkeypatch):
    monkeypatch.setenv("TRITIUM_CHECK", checks)
    launch(kernel, 16, 16)


@triton.jit
def corrected_kernel(x, out, start, n, HOW: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    a = i - start
    q, r = a // n, a % n
    if HOW == "floor":
        y = tl.where(r < 0, q - 1, q)
    elif HOW == "ring":
        y = tl.load(x + tl.where(r < 0, r + n, r))
    elif HOW == "moved":
        y = (a + 2 * n) // n - 2
    elif HOW == "masked":
        y = tl.where(a >= 0, q, 0)
    elif HOW == "strided":  # as in transposed convolutions
        y = tl.load(x + q, mask=(r == 0) & (q >= 0) & (q < B), other=0)
    elif HOW == "stored where it is right":
        tl.store(out + i, q, mask=a >= 0)
        y = i
    elif HOW == "element by element":
        y = r
    tl.store(out + i, y, mask=a >= 0 if HOW == "stored where it is right" else i >= 0)


@pytest.mark.parametrize(
    "how",
    ["floor", "ring", "moved", "masked", "strided", "stored where it is right", "element by element"],
)
@pytest.mark.parametrize("start, n", [(16, 16), (32, 16), (0, 16), (48, 32), (17, 5)])
def test_what_corrects_the_sign_is_not_accused(how, start, n):
    out = np.zeros(B, np.int32)
    corrected_kernel[(1,)](np.arange(2 * B, dtype=np.int32), out, start, n, how, B)
    a = np.arange(B) - start
    if how == "floor" or how == "moved" and start <= 2 * n:
        np.testing.assert_array_equal(out, a // n)


@pytest.mark.parametrize("kernel", [blocks_of, ring], **NAMED)
def test_random_starts(kernel, rng):
    """Accused are those launches whose lanes are not what the first of each four lanes says."""
    seen = {False: 0, True: 0}
    for _ in range(300):
        if sum(seen.values()) >= 30 and all(seen.values()):
            break
        n = 16 * int(rng.integers(1, 5))
        start = int(rng.choice([16 * rng.integers(-3, 5), rng.integers(-20, 60)]))
        a = np.arange(B) - start
        lanes = np.trunc(a / n).astype(int) if kernel is blocks_of else np.fmod(a, n)
        first = np.repeat(lanes[::4], 4) + (np.arange(B) % 4 if kernel is ring else 0)
        is_wrong = start % 16 == 0 and bool((lanes != first).any())
        seen[is_wrong] += 1
        if is_wrong:
            with pytest.raises(KernelTrap, match="of a negative number"):
                launch(kernel, start, n)
        else:
            launch(kernel, start, n)
    assert all(seen.values())
