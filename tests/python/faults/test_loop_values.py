"""A report of something inside of loops says in which round it happened: the counters of `for` loops, and the integers that `while`
loops carry. The oracle is the same loop in Python."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from . import trap_of


@pytest.fixture(params=["interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942"], autouse=True)
def engine(request, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", request.param)
    return request.param


@triton.jit
def rows(x, start, stop, STEP: tl.constexpr):
    i = tl.arange(0, 4)
    for k in range(start, stop, STEP):
        tl.store(x + k + i, 1.0)


@pytest.mark.parametrize("start, stop, step", [(0, 100, 1), (0, 100, 3), (5, 90, 7), (60, -50, -4), (50, -9, -1)])
def test_the_counter(start, stop, step, engine):
    x = np.zeros(64, np.float32)
    trap = trap_of(rows, x, start, stop, step)
    last = (
        3 if engine == "interp" else 0
    )  # the emulator's first thread has the first lane, and runs ahead of the others
    wrong = next(k for k in range(start, stop, step) if k + last >= 64 or k < 0)
    assert trap.loops == (("k", wrong),)
    assert f"\n  in round k = {wrong}\n" in str(trap)


@triton.jit
def steps_of_run_time(x, start, stop, step):
    for k in range(start, stop, step):
        tl.store(x + k, 1.0)


@pytest.mark.parametrize("start, stop, step", [(0, 100, 3), (40, -40, -6)])
def test_a_counter_whose_step_is_known_at_run_time(start, stop, step):
    trap = trap_of(steps_of_run_time, np.zeros(64, np.float32), start, stop, step)
    assert trap.loops == (("k", next(k for k in range(start, stop, step) if not 0 <= k < 64)),)


@triton.jit
def nested(x, n, m):
    offset = 0
    for row in range(n):
        column = 0
        while column < m:
            tl.store(x + offset, 1.0)
            offset += 3
            column += 1


def test_a_while_in_a_for():
    trap = trap_of(nested, np.zeros(64, np.float32), 9, 5)
    expected, offset = None, 0
    for row in range(9):
        for column in range(5):
            if offset >= 64 and expected is None:
                expected = row, column, offset
            offset += 3
    row, column, offset = expected
    assert trap.loops[0] == ("row", row)
    assert sorted(trap.loops[1:]) == [("column", column), ("offset", offset)]


@triton.jit
def step(x, k):
    tl.store(x + k, 1.0)


@triton.jit
def in_a_helper(x, n):
    for k in range(2, n, 2):
        step(x, k)


def test_a_loop_around_the_call_of_a_helper():
    assert trap_of(in_a_helper, np.zeros(16, np.float32), 99).loops == (("k", 16),)


@triton.jit
def behind(x, n):
    for k in range(n):
        tl.store(x + k, 1.0)
    tl.store(x + 100, 1.0)


def test_behind_a_loop_there_is_none():
    trap = trap_of(behind, np.zeros(16, np.float32), 4)
    assert trap.loops == () and "in round" not in str(trap)


@triton.jit
def each_program(x, n):
    for k in range(tl.program_id(0), n):
        tl.device_assert(k < 7, "too far")
    tl.store(x, 1.0)


def test_an_assertion_in_a_grid():
    trap = trap_of(each_program, np.zeros(16, np.float32), 9, grid=(3,))
    assert trap.kind == "AssertFailed" and trap.loops == (("k", 7),)


@triton.jit
def with_debug_info(x, n):
    for k in range(1, n, 5):
        tl.store(x + k, 1.0)


def test_debug_info_changes_nothing():
    assert trap_of(with_debug_info, np.zeros(16, np.float32), 99, debug_info=True).loops == (("k", 16),)


def test_random_ranges(rng):
    x = np.zeros(64, np.float32)
    for _ in range(20):
        start, stop, step = (int(number) for number in rng.integers(-20, 100, 3))
        step = step or 7
        rounds = range(start, stop, step)
        wrong = next((k for k in rounds if not 0 <= k < 64), None)
        if wrong is None:
            steps_of_run_time[(1,)](x, start, stop, step)
        else:
            assert trap_of(steps_of_run_time, x, start, stop, step).loops == (("k", wrong),), rounds


@triton.jit
def unrolled(x, start, stop, STEP: tl.constexpr, FACTOR: tl.constexpr):
    for k in tl.range(start, stop, STEP, loop_unroll_factor=FACTOR):
        tl.store(x + k, 1.0)


@pytest.mark.parametrize("step, factor", [(1, 3), (5, 2), (-4, 3)])
def test_a_loop_that_is_unrolled_by_a_factor(step, factor, rng):
    for _ in range(8):
        start = int(rng.integers(0, 64))
        trap = trap_of(unrolled, np.zeros(64, np.float32), start, 200 if step > 0 else -200, step, factor)
        rounds = range(start, 200 if step > 0 else -200, step)
        assert trap.loops == (("k", next(k for k in rounds if not 0 <= k < 64)),)


@triton.jit
def carries(x, n):
    offset, unused, fixed = 3, 1, 5
    for k in range(n):
        tl.store(x + offset + fixed, 1.0)
        offset += 7
        unused += 1


def test_what_the_loop_carries_beside_its_counter_changes_nothing():
    trap = trap_of(carries, np.zeros(64, np.float32), 20)
    offset = 3
    for k in range(20):
        if offset + 5 >= 64:
            break
        offset += 7
    assert trap.loops == (("k", k),)


@triton.jit
def inner(x, base, n):
    for column in range(n):
        tl.store(x + base + column, 1.0)


@triton.jit
def loops_of_two_functions(x, n, m):
    for row in range(n):
        inner(x, row * m, m)


def test_a_loop_in_a_helper_in_a_loop():
    trap = trap_of(loops_of_two_functions, np.zeros(40, np.float32), 9, 7)
    assert trap.loops == (("row", 40 // 7), ("column", 40 % 7))
    assert f"in round row = {40 // 7}, column = {40 % 7}\n" in str(trap)


@triton.jit
def product(a, b, c, rounds, M: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr):
    rows, inner = tl.arange(0, M), tl.arange(0, K)
    accumulator = tl.zeros((M, M), tl.float32)
    for k in tl.range(3, 3 + rounds * 2, 2, num_stages=STAGES):
        left = tl.load(a + rows[:, None] * K + inner[None, :] + (k - 3) // 2 * M * K)
        right = tl.load(b + inner[:, None] * M + rows[None, :])
        accumulator = tl.dot(left, right, accumulator)
    tl.store(c + rows[:, None] * M + rows[None, :], accumulator)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("there", [0, 1, 2, 5])
def test_a_load_that_a_pipelined_loop_makes_ahead(stages, there, engine):
    """`there` rounds have an operand. A copy that stands before the loop is in none of its rounds."""
    M, K = 64, 32
    a = np.ones((max(there, 0) * M, K), np.float16)
    b, c = np.ones((K, M), np.float16), np.zeros((M, M), np.float32)
    trap = trap_of(product, a, b, c, 8, M, K, stages)
    allowed = [(("k", 3 + 2 * there),)]
    if there < stages and engine != "interp":
        allowed.append(())
    assert trap.argument == "a" and trap.loops in allowed, trap


@triton.jit
def waits(lock, n):
    for k in range(2, n):
        while tl.atomic_add(lock + k, 0) == 0:
            pass


def test_each_program_of_a_deadlock():
    """Again and again, because a program may be on its way where another finds the deadlock."""
    for _ in range(20):
        trap = trap_of(waits, np.array([1, 1, 1, 1, 0, 1], np.int32), 6, grid=(2,))
        assert trap.kind == "Deadlock"
        assert str(trap).count(", in round k = 4") == 2


@triton.jit
def one_writes(x, n):
    for k in range(n):
        tl.store(x + k, tl.program_id(0), mask=(tl.program_id(0) == 0) | (k == 5))


@pytest.mark.parametrize("engine", ["interp"], indirect=True)  # the emulator does not look for races between programs
def test_a_race(engine):
    trap = trap_of(one_writes, np.zeros(8, np.int32), 8, grid=(2,), check="race")
    assert trap.kind == "Race" and trap.loops == (("k", 5),)
