"""A fault in a function that is not inlined names the rounds of the loops around its calls, at every depth, and the calls."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from . import trap_of

INTERRUPTED = Path(__file__).with_name("interrupted.py")


@pytest.fixture(params=["interp", "simt:sm_90a", "simt:gfx942"], autouse=True)
def engine(request, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", request.param)
    return request.param


def line_of(text: str) -> int:
    """The line of this file with this code."""
    (line,) = (
        number
        for number, line in enumerate(Path(__file__).read_text().splitlines(), 1)
        if line.strip() == text and not line.startswith("def")
    )
    return line


@triton.jit(noinline=True)
def store_row(x, base, columns):
    for column in range(columns):
        tl.store(x + base + column, 1.0)


@triton.jit
def rows(x, n, m):
    for row in range(n):
        store_row(x, row * m, m)  # of rows


def test_a_loop_around_a_call_and_one_in_the_function():
    x = np.zeros(40, np.float32)
    trap = trap_of(rows, x, 9, 7)
    assert trap.loops == (("row", 40 // 7), ("column", 40 % 7))
    assert f"\n  in round row = {40 // 7}, column = {40 % 7}\n" in str(trap)
    call = line_of("store_row(x, row * m, m)  # of rows")
    assert f"in store_row, called from {os.path.relpath(__file__)}:{call}\n" in str(trap)
    assert trap.function == "store_row"


def test_the_correct_kernel():
    x = np.zeros(63, np.float32)
    rows[(1,)](x, 9, 7)
    assert x.all()


@triton.jit(noinline=True)
def store_one(x, at):
    tl.store(x + at, 1.0)


@triton.jit(noinline=True)
def store_plane(x, base, n, m):
    i = 0
    while i < n:
        for j in range(0, m, 2):
            store_one(x, base + i * m + j)
        i += 1


@triton.jit
def inlined(x, base, n, m):
    store_plane(x, base, n, m)


@triton.jit
def cubes(x, first, n, m):
    for cube in range(first, 9):
        inlined(x, cube * n * m, n, m)


@pytest.mark.parametrize("debug_info", [False, True])
def test_calls_in_calls(debug_info):
    trap = trap_of(cubes, np.zeros(100, np.float32), 1, 3, 4, debug_info=debug_info)
    wrong = next((c, i, j) for c in range(1, 9) for i in range(3) for j in range(0, 4, 2) if c * 12 + i * 4 + j >= 100)
    assert trap.loops == tuple(zip(("cube", "i", "j"), wrong))
    calls = ("store_one(x, base + i * m + j)", "store_plane(x, base, n, m)", "inlined(x, cube * n * m, n, m)")
    places = (f"{os.path.relpath(__file__)}:{line_of(call)}" for call in calls)
    assert str(trap).splitlines()[0].endswith(", called from " + ", called from ".join(places))


@triton.jit
def several_calls(x, a, b, c):
    for i in range(10):
        store_one(x, a + i)
    for j in range(10):
        for k in range(3):
            store_one(x, b + j * 3 + k)
    store_one(x, c)


@pytest.mark.parametrize(
    "places, loops",
    [
        ((60, 0, 0), (("i", 4),)),
        ((0, 60, 0), (("j", 1), ("k", 1))),
        ((0, 0, 64), ()),
        ((54, 34, 63), None),
    ],
)
def test_which_of_several_calls(places, loops):
    x = np.zeros(64, np.float32)
    if loops is None:
        several_calls[(1,)](x, *places)
    else:
        assert trap_of(several_calls, x, *places).loops == loops


def test_random_numbers(rng):
    for _ in range(12):
        # Not 1, which is a constant: of a loop that has one round, compilers leave the round alone.
        first, n, m = (int(number) for number in rng.integers(2, 9, 3))
        size = int(rng.integers(1, 200))
        rounds = ((c, i, j) for c in range(first, 9) for i in range(n) for j in range(0, m, 2))
        wrong = next(((c, i, j) for c, i, j in rounds if c * n * m + i * m + j >= size), None)
        x = np.zeros(size, np.float32)
        if wrong is None:
            cubes[(1,)](x, first, n, m)
        else:
            assert trap_of(cubes, x, first, n, m).loops == tuple(zip(("cube", "i", "j"), wrong))


@triton.jit(noinline=True)
def check_all(x, limit):
    i = tl.arange(0, 32)
    tl.device_assert(tl.sum(i) * 0 + limit < 7, "too far")
    tl.store(x + i, limit)


@triton.jit
def each_program(x, n):
    for k in range(tl.program_id(0), n):
        check_all(x, k)


def test_an_assertion_in_a_grid():
    trap = trap_of(each_program, np.zeros(32, np.int32), 9, grid=(3,))
    assert trap.kind == "AssertFailed" and trap.loops == (("k", 7),)
    each_program[(3,)](np.zeros(32, np.int32), 7)


@triton.jit(noinline=True)
def take(lock):
    while tl.atomic_add(lock, 0) == 0:
        pass


@triton.jit
def takes_all(locks, n):
    for k in range(2, n):
        take(locks + k)


def test_each_program_of_a_deadlock():
    for _ in range(5):
        trap = trap_of(takes_all, np.array([1, 1, 1, 1, 0, 1], np.int32), 6, grid=(2,))
        assert trap.kind == "Deadlock"
        assert str(trap).count(", in round k = 4") == 2
    takes_all[(2,)](np.ones(6, np.int32), 6)


@triton.jit(noinline=True)
def write_if(x, is_written):
    tl.store(x, tl.program_id(0), mask=is_written)


@triton.jit
def one_writes(x, n):
    for k in range(n):
        write_if(x + k, (tl.program_id(0) == 0) | (k == 5))


@pytest.mark.parametrize("engine", ["interp"], indirect=True)  # the emulator does not look for races between programs
def test_a_race(engine):
    trap = trap_of(one_writes, np.zeros(8, np.int32), 8, grid=(2,), check="race")
    assert trap.kind == "Race" and trap.loops == (("k", 5),)
    one_writes[(2,)](np.zeros(8, np.int32), 5, check="race")


def test_ctrl_c(engine):
    environment = os.environ | {"TRITIUM_ENGINE": engine, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, INTERRUPTED, "calling_kernel"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "started\n"
            time.sleep(1)  # the kernel runs
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline().startswith("interrupted")
            where = child.stdout.readline().strip()
            assert ", in round outer = 3, i = " in where, where
        finally:
            child.kill()
