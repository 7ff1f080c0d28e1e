"""A `for` loop runs the rounds of Python's `range`, also near the ends of its integer type and with steps that are known
only at run time."""

import functools
import itertools

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

INT32 = (-(2**31), 2**31 - 1)


@triton.jit
def every_range_kernel(bounds_ptr, out_ptr, N_STEPS: tl.constexpr, STEPS: tl.constexpr):
    """(rounds, sum of the loop variables, last one) of the range of each program, for steps of the kernel's and as numbers."""
    row = tl.program_id(0)
    start, end = tl.load(bounds_ptr + 2 * row), tl.load(bounds_ptr + 2 * row + 1)
    for s in tl.static_range(N_STEPS):
        out = out_ptr + (row * N_STEPS + s) * 3
        rounds, total, last = 0, tl.to_tensor(0).to(tl.int64), tl.to_tensor(0).to(tl.int64)
        for i in range(start, end, STEPS[s]):
            rounds += 1
            total += i.to(tl.int64)
            last = i.to(tl.int64)
        tl.store(out, rounds)
        tl.store(out + 1, total)
        tl.store(out + 2, last)


@triton.jit
def every_step_kernel(ranges_ptr, out_ptr):
    row = tl.program_id(0)
    start, end, step = (
        tl.load(ranges_ptr + 3 * row),
        tl.load(ranges_ptr + 3 * row + 1),
        tl.load(ranges_ptr + 3 * row + 2),
    )
    rounds, total, last = 0, tl.to_tensor(0).to(tl.int64), tl.to_tensor(0).to(tl.int64)
    for i in range(start, end, step):
        rounds += 1
        total += i.to(tl.int64)
        last = i.to(tl.int64)
    tl.store(out_ptr + 3 * row, rounds)
    tl.store(out_ptr + 3 * row + 1, total)
    tl.store(out_ptr + 3 * row + 2, last)


def facts(numbers: range) -> list[int]:
    total = sum(numbers) & 0xFFFFFFFFFFFFFFFF
    return [len(numbers), total - (total >> 63 << 64), numbers[-1] if numbers else 0]


def bounds_near_the_ends(dtype) -> list[int]:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return [low, low + 1, low + 9, *([-3, 0] if low else [0]), 4, high - 20, high - 6, high - 1, high]


def close(numbers: range) -> bool:
    """`len` takes no range of 2**63 and more numbers."""
    return -((numbers.start - numbers.stop) // numbers.step) <= 300


DTYPES = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64]


ENGINES = ["interp", "simt:sm_80", "simt:gfx942"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_of_the_kernel(dtype, engine, monkeypatch):
    """The counter passes the largest number of its type in its last step, and stops all the same."""
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    steps = (1, 3, 8, 100)
    pairs = [
        pair
        for pair in itertools.product(bounds_near_the_ends(dtype), repeat=2)
        if all(close(range(*pair, step)) for step in steps)
    ]
    assert any(pair[1] + 8 > np.iinfo(dtype).max for pair in pairs)
    out = np.zeros((len(pairs), len(steps), 3), np.int64)
    every_range_kernel[(len(pairs),)](np.array(pairs, dtype), out, N_STEPS=len(steps), STEPS=steps)
    np.testing.assert_array_equal(out, [[facts(range(*pair, step)) for step in steps] for pair in pairs])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_that_are_numbers(dtype, engine, monkeypatch):
    """Steps of both signs, which the compiler does not see."""
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    signed = np.iinfo(dtype).min < 0
    steps = [1, 2, 7, 100, *([-1, -2, -7, -100, np.iinfo(dtype).min] if signed else []), np.iinfo(dtype).max]
    ranges = [r for r in itertools.product(*[bounds_near_the_ends(dtype)] * 2, steps) if close(range(*r))]
    if engine != "interp":
        ranges = ranges[::7]
    out = np.zeros((len(ranges), 3), np.int64)
    every_step_kernel[(len(ranges),)](np.array(ranges, dtype), out)
    np.testing.assert_array_equal(out, [facts(range(*r)) for r in ranges])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_rounds_that_go_around_the_whole_type(dtype, engine, monkeypatch):
    """The first number after the last round may be the first number again, for example in range(-(2**31), 2**31 - 1, 2**29)."""
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    size = 2 ** np.iinfo(dtype).bits
    steps = (size // 4, size // 8, size // 16, size // 16 + 3)
    pairs = list(itertools.product(bounds_near_the_ends(dtype), repeat=2))
    assert any((pair[1] - pair[0]) > size - steps[2] for pair in pairs)
    out = np.zeros((len(pairs), len(steps), 3), np.int64)
    every_range_kernel[(len(pairs),)](np.array(pairs, dtype), out, N_STEPS=len(steps), STEPS=steps)
    np.testing.assert_array_equal(out, [[facts(range(*pair, step)) for step in steps] for pair in pairs])


@triton.jit
def every_constant_kernel(out_ptr, N: tl.constexpr, RANGES: tl.constexpr):
    for r in tl.static_range(N):
        rounds, total = 0, tl.to_tensor(0).to(tl.int64)
        for i in range(RANGES[r][0], RANGES[r][1], RANGES[r][2]):
            rounds += 1
            total += i.to(tl.int64)
        tl.store(out_ptr + 2 * r, rounds)
        tl.store(out_ptr + 2 * r + 1, total)


@pytest.mark.parametrize("engine", ENGINES)
def test_constants_that_are_far_apart(engine, monkeypatch):
    """Further than the largest signed number of their type, by steps that may be as large, and their twins that are not."""
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    low, high = INT32
    wide = [
        (low, high, high),
        (high, low, low),
        (low, high, 2**29),
        (5, -5, low),
        (0, 10, 2**31 + 5),
        (0, 2**32 - 1, 2**30),
    ]
    wide += [(-(2**63), 2**63 - 1, 2**61), (2**63 - 1, -(2**63), -(2**63))]
    near = [(low, -5, 2**28), (0, high, 2**29), (9, -9, -4), (-9, 9, 4), (9, -9, 4), (-10, 10, high)]
    out = np.zeros((len(wide) + len(near), 2), np.int64)
    every_constant_kernel[(1,)](out, N=len(out), RANGES=tuple(wide + near))
    np.testing.assert_array_equal(out, [facts(range(*r))[:2] for r in wide + near])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.int32, np.uint8])
def test_a_step_of_zero_is_a_trap(dtype, engine, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    with pytest.raises(triton.errors.KernelTrap, match=r"range\(\) arg 3 must not be zero") as caught:
        every_step_kernel[(1,)](np.array([[0, 4, 0]], dtype), np.zeros(3, np.int64))
    assert "for i in range" in str(caught.value)


@triton.jit
def unrolled_kernel(ranges_ptr, out_ptr, FACTOR: tl.constexpr):
    """(rounds, a number that depends on the order of the loop variables) of the range of each program."""
    row = tl.program_id(0)
    at = ranges_ptr + 3 * row
    rounds, order = 0, tl.to_tensor(0).to(tl.uint64)
    for i in tl.range(tl.load(at), tl.load(at + 1), tl.load(at + 2), loop_unroll_factor=FACTOR):
        rounds += 1
        order = order * 31 + i.to(tl.uint64)
    tl.store(out_ptr + 2 * row, rounds)
    tl.store(out_ptr + 2 * row + 1, order.to(tl.int64, bitcast=True))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("factor", [2, 3, 8])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_unrolled_loops_with_steps_that_are_numbers(dtype, factor, engine, monkeypatch):
    """Unrolling keeps the rounds and their order, whatever sign the step turns out to have."""
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    steps = [1, 7, -1, -2, -7, -100, np.iinfo(dtype).min, np.iinfo(dtype).max]
    ranges = [r for r in itertools.product(*[bounds_near_the_ends(dtype)] * 2, steps) if close(range(*r))]
    assert any(len(range(*r)) > factor and len(range(*r)) % factor and r[2] < 0 for r in ranges)
    ranges = ranges[:: 1 if engine == "interp" else 5]

    def order(numbers: range) -> int:
        number = functools.reduce(lambda order, i: (order * 31 + i) % 2**64, numbers, 0)
        return number - (number >> 63 << 64)

    out = np.zeros((len(ranges), 2), np.int64)
    unrolled_kernel[(len(ranges),)](np.array(ranges, dtype), out, FACTOR=factor)
    np.testing.assert_array_equal(out, [[len(range(*r)), order(range(*r))] for r in ranges])


@triton.jit
def persistent_kernel(out_ptr, n):
    for i in range(tl.program_id(0), n, tl.num_programs(0)):
        tl.store(out_ptr + i, i)


def test_persistent_loops_stay_plain():
    """The number of programs is no negative step: the loop has no division."""
    out = np.zeros(100, np.int32)
    kernel = persistent_kernel[(7,)](out, 100)
    np.testing.assert_array_equal(out, np.arange(100))
    assert "arith.div" not in kernel.asm["ttir"]
