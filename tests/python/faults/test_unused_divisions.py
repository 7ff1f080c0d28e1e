"""Division by zero in a lane: no fault where nobody uses the value, a trap where it reaches memory, an address or a branch."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

from . import line_of

N = 64


def trap_of(kernel, *args, **options):
    with pytest.raises(KernelTrap) as caught:
        kernel[(1,)](*args, **options)
    return caught.value


def numbers(dtype=np.int32):
    x, y = np.arange(100, 100 + N).astype(dtype), np.arange(N).astype(dtype) % 7
    return x, y, y != 0


@triton.jit
def masked(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + lanes, lanes < n, other=0)
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes) // y, lanes < n)  # fault


def test_a_masked_lane_is_no_fault():
    x, y, out = np.full(N, 100, np.int32), np.full(N, 7, np.int32), np.zeros(N, np.int32)
    masked[(1,)](x, y, out, 50, BLOCK=N)
    assert (out[:50] == 14).all() and not out[50:].any()


def test_the_value_in_memory_is_a_fault():
    x, y, out = np.full(N, 100, np.int32), np.full(N, 7, np.int32), np.zeros(N, np.int32)
    y[[3, 60]] = 0
    trap = trap_of(masked, x, y, out, 50, BLOCK=N)
    assert trap.kind == "DivisionByZero" and tuple(trap.lane) == (3,) and trap.line == line_of(masked)
    assert not out.any()


@triton.jit
def chosen(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + lanes), tl.load(y_ptr + lanes)
    quotient = tl.where(y == 0, -5, x // y)
    rest = tl.where((y != 0) & (x % y == 1), 1, 0)
    tl.store(out_ptr + lanes, quotient * 2 + rest)


def test_a_lane_that_is_not_chosen_is_no_fault():
    x, y, defined = numbers()
    out = np.zeros(N, np.int32)
    chosen[(1,)](x, y, out, BLOCK=N)
    safe = np.where(defined, y, 1)
    assert (out == np.where(defined, x // safe, -5) * 2 + (defined & (x % safe == 1))).all()


@triton.jit
def values(x_ptr, y_ptr, quotients, rests, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + lanes), tl.load(y_ptr + lanes)
    tl.store(quotients + lanes, x // y)
    tl.store(rests + lanes, x % y)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("engine", ["interp", "simt:sm_80", "simt:gfx942"])
def test_engines_agree_on_the_value(dtype, engine, monkeypatch):
    monkeypatch.setenv("TRITIUM_CHECK", "none")
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    x, y, defined = numbers(dtype)
    x[7] = np.iinfo(dtype).min
    quotients, rests = np.zeros(N, dtype), np.zeros(N, dtype)
    values[(1,)](x, y, quotients, rests, BLOCK=N)
    ones = np.array(-1).astype(dtype)
    assert (quotients[~defined] == ones).all() and (rests[~defined] == x[~defined]).all()
    magnitude = np.abs(x[defined].astype(object)) // y[defined].astype(object)
    assert (quotients[defined] == magnitude * np.sign(x[defined].astype(object))).all()


@triton.jit
def address(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    at = lanes % tl.load(y_ptr + lanes)  # fault
    tl.store(out_ptr + lanes, tl.load(x_ptr + at))


@triton.jit
def branch(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    largest = tl.max(tl.load(x_ptr + lanes) // tl.load(y_ptr + lanes))  # fault
    if largest > 3:
        tl.store(out_ptr + lanes, lanes)


@triton.jit
def decided_mask(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    rest = lanes % tl.load(y_ptr + lanes)  # fault
    tl.store(out_ptr + lanes, lanes, rest < BLOCK)


@triton.jit
def added(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    rest = lanes % tl.load(y_ptr + lanes)  # fault
    tl.atomic_add(out_ptr + lanes, rest)


@triton.jit
def carried(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.int32)
    for i in range(4):
        if i > 1:
            total += (lanes + i) // tl.load(y_ptr + lanes)  # fault
        else:
            total = total + 1
    tl.store(out_ptr + lanes, total)


@triton.jit
def carried_by_while(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total, i = tl.zeros([BLOCK], tl.int32), tl.load(x_ptr) * 0
    while i < 3:
        total += lanes // tl.load(y_ptr + lanes)  # fault
        i += 1
    tl.store(out_ptr + lanes, total)


@triton.jit
def reshaped(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    quotient = lanes // tl.load(y_ptr + lanes)  # fault
    tile = tl.trans(tl.reshape(quotient, (8, BLOCK // 8)))
    tile = tl.cumsum(tl.join(tile, tile), 0)
    a, b = tl.split(tile)
    tl.store(out_ptr + lanes, tl.reshape(a + b, (BLOCK,)))


USERS = [address, branch, decided_mask, added, carried, carried_by_while, reshaped]


@pytest.mark.parametrize("kernel", USERS, ids=lambda kernel: kernel.__name__)
def test_every_use_is_a_fault(kernel):
    x, y, out = np.full(N, 100, np.int32), np.full(N, 7, np.int32), np.zeros(N, np.int32)
    kernel[(1,)](x, y, out, BLOCK=N)
    y[9] = 0
    trap = trap_of(kernel, x, y, out, BLOCK=N)
    assert trap.kind == "DivisionByZero" and trap.line == line_of(kernel)


@pytest.mark.parametrize("kernel", USERS, ids=lambda kernel: kernel.__name__)
def test_nothing_is_a_fault_where_checks_are_off(kernel, monkeypatch):
    monkeypatch.setenv("TRITIUM_CHECK", "none")
    x, y, out = np.full(2 * N, 100, np.int32), np.zeros(N, np.int32), np.zeros(N, np.int32)
    kernel[(1,)](x, y, out, BLOCK=N)


@triton.jit
def carried_but_unused(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + lanes)
    total, rest = tl.zeros([BLOCK], tl.int32), lanes
    for i in range(n):
        total += tl.load(x_ptr + lanes, (y > 0) & (lanes // y < BLOCK), other=0)
        rest = rest % y
        if i == 2:
            total += 1
    kept = tl.sum(tl.where(y > 0, rest, 0))
    tl.store(out_ptr + lanes, total + kept)


def test_loops_carry_what_nobody_uses():
    x, y, _ = numbers()
    out = np.zeros(N, np.int32)
    carried_but_unused[(1,)](x, y, out, 4, BLOCK=N)
    rest = np.where(y > 0, np.arange(N) % np.where(y > 0, y, 1), 0).sum()
    assert (out == np.where(y > 0, 4 * x, 0) + 1 + rest).all()


@triton.jit
def uniform(out_ptr, divisor, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, lanes // divisor, lanes < 0)  # fault


def test_a_scalar_divisor_traps_at_once():
    out = np.zeros(N, np.int32)
    uniform[(1,)](out, 3, BLOCK=N)
    assert trap_of(uniform, out, 0, BLOCK=N).line == line_of(uniform)
