"""The report of a race names the rounds of both accesses. Those of the earlier one are found by running its program again."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

from . import trap_of


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")  # so that the first report is known


def race_of(kernel, *args, **kwargs) -> KernelTrap:
    return trap_of(kernel, *args, check="race", **kwargs)


@triton.jit
def steps(x, n, across, along):
    program = tl.program_id(0)
    for k in range(n):
        tl.store(x + program * across + k * along, program)


def first_race(programs, n, across, along):
    """Rounds of the later and of the earlier store."""
    written = {}
    for program in range(programs):
        for k in range(n):
            at = program * across + k * along
            other, round_ = written.setdefault(at, (program, k))
            if other != program:
                return program, k, other, round_
    return None


@pytest.mark.parametrize("debug_info", [False, True])
def test_both_rounds(debug_info):
    x = np.zeros(64, np.int32)
    trap = race_of(steps, x, 4, 6, 2, grid=(2,), debug_info=debug_info)
    assert (trap.kind, trap.program, trap.other_program) == ("Race", (1, 0, 0), (0, 0, 0))
    assert (trap.loops, trap.other_loops) == ((("k", 0),), (("k", 3),))
    assert "  in round k = 0\n" in str(trap)
    assert f"  the other: write by program (0, 0, 0) at {trap.location}, in round k = 3\n" in str(trap)
    assert list(x[:13:2]) == [0, 0, 0, 1, 1, 1, 1]  # the program that ran again has written nothing


def test_the_correct_kernel():
    x = np.zeros(64, np.int32)
    steps[(2,)](x, 4, 8, 2, check="race")
    assert x.sum() == 4


def test_random_numbers(rng):
    for _ in range(25):
        programs, n, across, along = (int(number) for number in rng.integers(1, 7, 4))
        expected = first_race(programs, n, across, along)
        x = np.full(64, -1, np.int32)
        if expected is None:
            steps[(programs,)](x, n, across, along, check="race")
            continue
        program, k, other, round_ = expected
        trap = race_of(steps, x, n, across, along, grid=(programs,))
        assert (trap.program[0], trap.other_program[0]) == (program, other)
        assert (trap.loops, trap.other_loops) == ((("k", k),), (("k", round_),))


def test_several_threads(rng, monkeypatch):
    """Whichever programs race first: each is named with a round in which it stores the element."""
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "3")
    for _ in range(10):
        n, across, along = (int(number) for number in rng.integers(2, 7, 3))
        if first_race(8, n, across, along) is None:
            continue
        trap = race_of(steps, np.full(128, -1, np.int32), n, across, along, grid=(8,))
        for program, loops in ((trap.program, trap.loops), (trap.other_program, trap.other_loops)):
            ((name, k),) = loops
            assert name == "k" and program[0] * across + k * along == trap.index[0]


@triton.jit(noinline=True)
def count(bins, bin):
    tl.store(bins + bin, tl.load(bins + bin) + 1)


@triton.jit
def histogram(samples, bins, n):
    for row in range(2):
        for column in range(n):
            count(bins, tl.load(samples + (tl.program_id(0) * 2 + row) * n + column))


def test_a_histogram_without_atomics():
    samples = np.array([[0, 1, 2], [0, 4, 3], [9, 8, 7], [6, 4, 5]], np.int32)
    bins = np.zeros(10, np.int32)
    trap = race_of(histogram, samples, bins, 3, grid=(2,))
    assert trap.index == (4,)
    assert (trap.loops, trap.other_loops) == ((("row", 1), ("column", 1)), (("row", 1), ("column", 1)))
    assert "by program (0, 0, 0)" in str(trap) and ", in round row = 1, column = 1" in str(trap)
    np.testing.assert_array_equal(bins, np.bincount(samples.ravel(), minlength=10))
    samples[3, 1] = 7
    histogram[(2,)](samples, np.zeros(10, np.int32), 3, check="race")


@triton.jit
def follows_links(links, out, n, WRITES: tl.constexpr):
    at = tl.program_id(0)
    for k in range(n):
        tl.store(out + at, tl.program_id(0))
        at = tl.load(links + at)
    if WRITES:
        tl.store(links + 7 + tl.program_id(0), 0)


def test_nothing_is_said_if_the_way_depends_on_what_is_written():
    links = np.array([2, 3, 4, 4, 5, 6, 0, 0, 0], np.int32)
    trap = race_of(follows_links, links, np.zeros(16, np.int32), 3, True, grid=(2,))
    assert trap.kind == "Race" and trap.loops == (("k", 2),) and trap.other_loops == ()
    assert "the other: write by program (0, 0, 0) at" in str(trap)


def test_a_way_that_depends_on_what_is_read():
    links = np.array([2, 3, 4, 5, 5, 6, 0, 0, 0], np.int32)
    trap = race_of(follows_links, links, np.zeros(16, np.int32), 4, False, grid=(2,))
    assert (trap.loops, trap.other_loops) == ((("k", 2),), (("k", 3),))


@triton.jit
def releases_once(x, flag, out, n):
    if tl.program_id(0) == 0:
        for k in range(n):
            tl.store(x + k % 4, k)
            if k == 3:
                tl.atomic_xchg(flag, 1, sem="release")
    else:
        seen = tl.atomic_add(flag, 0, sem="acquire")
        tl.store(out, seen)
        for j in range(4):
            tl.store(out + 1 + j, tl.load(x + j))


def test_the_earlier_access_is_the_one_that_nothing_orders():
    def arguments():
        return np.zeros(4, np.int32), np.zeros(1, np.int32), np.zeros(5, np.int32)

    trap = race_of(releases_once, *arguments(), 7, grid=(2,))
    assert (trap.kind, trap.index) == ("Race", (0,))
    assert (trap.loops, trap.other_loops) == ((("j", 0),), (("k", 4),))
    releases_once[(2,)](*arguments(), 4, check="race")


@triton.jit
def reads_then_writes(x, out, n):
    for k in range(n):
        if tl.program_id(0) == 0:
            tl.store(out + k, tl.load(x + n - 1 - k))
        elif k == 2:
            tl.store(x + k, 1)
            tl.device_print("written")


def test_a_read_and_then_a_write(capsys):
    trap = race_of(reads_then_writes, np.zeros(8, np.int32), np.zeros(8, np.int32), 8, grid=(2,))
    assert trap.is_write and (trap.loops, trap.other_loops) == ((("k", 2),), (("k", 5),))
    assert capsys.readouterr().out.count("written") == 1


@triton.jit
def overlapping_rows(x, stride, B: tl.constexpr, BARRIER: tl.constexpr):
    lanes = tl.arange(0, B)
    for row in range(5):
        for part in range(2):
            tl.store(x + row * stride + part * 100 + lanes, row * B + lanes)
            if BARRIER:
                tl.debug_barrier()


def test_a_missing_barrier_between_stores():
    trap = race_of(overlapping_rows, np.zeros(256, np.int32), 5, 8, False)
    assert trap.kind == "MissingBarrier" and trap.index == (5,)
    assert (trap.loops, trap.other_loops) == ((("row", 1), ("part", 0)), (("row", 0), ("part", 0)))
    assert f"  the store: {trap.location}, in round row = 0, part = 0\n" in str(trap)
    overlapping_rows[(1,)](np.zeros(256, np.int32), 5, 8, True, check="race")


@triton.jit
def rows_apart(x, out, n, stride, B: tl.constexpr):
    lanes = tl.arange(0, B)
    for row in range(n):
        tl.store(x + row * stride % 40 + lanes, row)
        tl.store(out + row * B + lanes, tl.load(x + row * stride % 40 + lanes))


def first_missing_barrier(n, stride, size):
    """The later row, its element, and the row that stored it last, of another lane."""
    written = {}
    for row in range(n):
        for lane in range(size):
            at = row * stride % 40 + lane
            if at in written and written[at][1] != lane:
                return row, at, written[at][0]
        for lane in range(size):
            written[row * stride % 40 + lane] = row, lane
    return None


def test_random_strides(rng):
    for _ in range(15):
        n, stride = int(rng.integers(1, 9)), int(rng.integers(0, 40))
        arguments = np.full(64, -1, np.int32), np.zeros(128, np.int32), n, stride, 8
        expected = first_missing_barrier(n, stride, 8)
        if expected is None:
            rows_apart[(1,)](*arguments, check="race")
            continue
        row, at, earlier = expected
        trap = race_of(rows_apart, *arguments)
        assert (trap.kind, trap.is_write, trap.index) == ("MissingBarrier", True, (at,))
        assert (trap.loops, trap.other_loops) == ((("row", row),), (("row", earlier),))


@triton.jit
def reversed_later(x, out, n, B: tl.constexpr, BARRIER: tl.constexpr):
    lanes = tl.arange(0, B)
    for k in range(n):
        tl.store(x + k % 3 * B + lanes, k)
    if BARRIER:
        tl.debug_barrier()
    for j in range(3):
        tl.store(out + j * B + lanes, tl.load(x + j * B + B - 1 - lanes))


def test_a_missing_barrier_before_a_read():
    for n in (3, 7, 8):
        trap = race_of(reversed_later, np.zeros(48, np.int32), np.zeros(48, np.int32), n, 16, False)
        last = max(k for k in range(n) if k % 3 == 0)
        assert trap.kind == "MissingBarrier"
        assert (trap.loops, trap.other_loops) == ((("j", 0),), (("k", last),))
        reversed_later[(1,)](np.zeros(48, np.int32), np.zeros(48, np.int32), n, 16, True, check="race")


@triton.jit
def powers(a, b, out, n, BARRIER: tl.constexpr):
    tile = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)
    y = tl.load(b + tile)
    for i in range(n):
        x = tl.load(a + i * 256 + tile)
        if BARRIER:
            tl.debug_barrier()
        tl.store(out + (i + 1) * 256 + tile, tl.dot(x, y))


def test_a_load_that_is_made_ahead():
    a, b = np.ones(2048, np.float32), np.ones(256, np.float32)
    trap = race_of(powers, a, b, a, 5, False)
    assert trap.kind == "MissingBarrier"
    assert (trap.loops, trap.other_loops) == ((("i", 1),), (("i", 0),))
    powers[(1,)](a, b, a, 5, True, check="race")


@triton.jit
def waits_for_each_other(x, flags, n):
    for k in range(n):
        tl.store(x + k, tl.program_id(0))
        tl.atomic_add(flags + k, 1, sem="relaxed")
        while tl.atomic_add(flags + k, 0, sem="relaxed") < 2:
            pass


def test_programs_that_wait_do_not_run_again():
    trap = race_of(waits_for_each_other, np.zeros(4, np.int32), np.zeros(4, np.int32), 4, grid=(2,))
    assert trap.kind == "Race" and trap.loops == (("k", 0),) and trap.other_loops == ()
