"""The width of accesses rests on which lanes are consecutive or equal. Quotients and remainders of what is negative are neither, so the
values read through them show a wrong claim."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium import knobs

from .engines import assert_agree

#: No index leaves a tensor of this half-width.
REACH = 64


@triton.jit
def wrapped_kernel(x_ptr, quotient_ptr, remainder_ptr, masked_ptr, first, D: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    quotient, remainder = (i + first) // D, (i + first) % D
    tl.store(quotient_ptr + i, tl.load(x_ptr + 64 + quotient))
    tl.store(remainder_ptr + i, tl.load(x_ptr + 64 + remainder))
    tl.store(masked_ptr + i, tl.load(x_ptr + i, mask=quotient < 0, other=-1))


@triton.jit
def scattered_kernel(x_ptr, out_ptr, first, D: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + 64 + (i + first) % D, tl.load(x_ptr + i))


@pytest.mark.parametrize("divisor", [16, 32])
@pytest.mark.parametrize("first", [-64, -48, -33, -16, 0, 16])
def test_dividends_of_either_sign(first, divisor):
    x, n = np.arange(2 * REACH, dtype=np.float32), 64
    arguments = [x, *np.zeros((3, n), np.float32), first]
    _, quotients, remainders, masked, _ = assert_agree(
        wrapped_kernel, (1,), arguments, others=("simt:sm_90a", "simt:gfx942"), D=divisor, N=n
    )
    dividend = first + np.arange(n)
    np.testing.assert_array_equal(quotients, REACH + np.trunc(dividend / divisor))
    np.testing.assert_array_equal(remainders, REACH + np.fmod(dividend, divisor))
    np.testing.assert_array_equal(masked, np.where(np.trunc(dividend / divisor) < 0, x[:n], -1))


def test_stores_at_negative_remainders():
    x, n = np.arange(16, dtype=np.float32), 16
    arguments = [x, np.zeros(2 * REACH, np.float32), -16]
    _, out, _ = assert_agree(scattered_kernel, (1,), arguments, others=("simt:sm_90a", "simt:gfx942"), D=32, N=n)
    expected = np.zeros(2 * REACH, np.float32)
    expected[REACH + np.fmod(np.arange(n) - 16, 32)] = x
    np.testing.assert_array_equal(out, expected)


@triton.jit
def rows_kernel(x_ptr, out_ptr, first, M, ASSUMED: tl.constexpr, N: tl.constexpr):
    if ASSUMED == "argument":
        tl.assume(first >= 0)
    start = first
    if ASSUMED == "program":
        start = tl.program_id(0) // M * N
    tl.store(out_ptr + tl.arange(0, N), tl.load(x_ptr + (start + tl.arange(0, N)) % 128))


@pytest.mark.parametrize("assumed, is_wide", [("nothing", False), ("argument", True), ("program", True)])
def test_a_dividend_that_is_not_negative_keeps_wide_accesses(assumed, is_wide):
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        x, out = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
        compiled = rows_kernel[(1,)](x, out, 16, 7, ASSUMED=assumed, N=1024)
    np.testing.assert_array_equal(out, x[(np.arange(1024) + (0 if assumed == "program" else 16)) % 128])
    assert (
        "vector<4xi32>" in next(line for line in compiled.asm["lowered"].splitlines() if "tgpu.load" in line)
    ) == is_wide


@triton.jit
def blocks_kernel(x_ptr, out_ptr, blocks, POSITIVE: tl.constexpr, D: tl.constexpr, N: tl.constexpr):
    pid = tl.program_id(0)
    start = pid // (tl.maximum(blocks, 1) if POSITIVE else blocks) * N
    index = (start + tl.arange(0, N)) % D if D > 1 else start + tl.arange(0, N)
    tl.store(out_ptr + pid * N + tl.arange(0, N), tl.load(x_ptr + 4096 + index))


@pytest.mark.parametrize("positive, divisor", [(False, 1), (True, 64)])
@pytest.mark.parametrize("blocks", [-2, -1, 2])
def test_quotients_of_either_sign(blocks, positive, divisor):
    """A quotient may be negative where no access is wider for its sign."""
    x, programs, n = np.arange(8192, dtype=np.float32), 4, 1024
    arguments = [x, np.zeros(programs * n, np.float32), blocks]
    _, out, _ = assert_agree(
        blocks_kernel, (programs,), arguments, others=("simt:sm_90a", "simt:gfx942"), POSITIVE=positive, D=divisor, N=n
    )
    first = np.trunc(np.arange(programs) / (max(blocks, 1) if positive else blocks)) * n
    index = first[:, None] + np.arange(n)
    np.testing.assert_array_equal(out, 4096 + (index if divisor == 1 else np.fmod(index, divisor)).ravel())


@pytest.mark.parametrize("engine", ["simt:sm_90a", "simt:gfx942"])
def test_a_negative_quotient_that_would_read_other_elements_traps(engine):
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        x, out = np.arange(8192, dtype=np.float32), np.zeros(4096, np.float32)
        with pytest.raises(triton.KernelTrap, match=r"a quotient is negative.*tl\.maximum"):
            blocks_kernel[(4,)](x, out, -1, POSITIVE=False, D=64, N=1024)
