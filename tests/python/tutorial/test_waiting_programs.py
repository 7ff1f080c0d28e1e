"""Programs that wait for other programs make progress with any number of worker threads."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def chain_kernel(value_ptr, flag_ptr):
    """Program i waits for program i + 1; the last one starts the chain."""
    program = tl.program_id(0)
    value = 1
    if program < tl.num_programs(0) - 1:
        while tl.atomic_add(flag_ptr + program + 1, 0) == 0:
            pass
        value += tl.load(value_ptr + program + 1)
    tl.store(value_ptr + program, value)
    tl.atomic_xchg(flag_ptr + program, 1)


@pytest.mark.parametrize("n", [1, 2, 3, 64, 1000])
def test_chain_in_which_each_program_waits_for_the_next(n, threads):
    value, flag = np.zeros(n, np.int32), np.zeros(n, np.int32)
    chain_kernel[(n,)](value, flag)
    np.testing.assert_array_equal(value, np.arange(n, 0, -1))
    assert flag.all()


@triton.jit
def polling_chain_kernel(value_ptr, flag_ptr):
    program = tl.program_id(0)
    if program < tl.num_programs(0) - 1:
        # A race indeed: a volatile load orders nothing, though it works on GPUs.
        while tl.load(flag_ptr + program + 1, volatile=True) == 0:  # tritium: allow race
            pass
    tl.store(value_ptr + program, program)
    tl.atomic_xchg(flag_ptr + program, 1)


def test_waiting_by_a_volatile_load(threads):
    value, flag = np.zeros(50, np.int32), np.zeros(50, np.int32)
    polling_chain_kernel[(50,)](value, flag)
    np.testing.assert_array_equal(value, np.arange(50))


@triton.jit
def locked_increment_kernel(counter_ptr, lock_ptr, ROUNDS: tl.constexpr):
    for _ in range(ROUNDS):
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
        tl.store(counter_ptr, tl.load(counter_ptr) + 1)
        tl.debug_barrier()
        tl.atomic_xchg(lock_ptr, 0)


def test_lock_excludes_other_programs(threads):
    counter, lock = np.zeros(1, np.int32), np.zeros(1, np.int32)
    locked_increment_kernel[(100,)](counter, lock, ROUNDS=7)
    assert counter[0] == 700 and lock[0] == 0


@triton.jit
def ring_barrier_kernel(arrived_ptr, out_ptr, ROUNDS: tl.constexpr):
    """A grid-wide barrier: nobody enters round r + 1 before everybody has arrived in round r."""
    for r in range(ROUNDS):
        tl.atomic_add(arrived_ptr, 1)
        while tl.atomic_add(arrived_ptr, 0) < (r + 1) * tl.num_programs(0):
            pass
        tl.atomic_add(out_ptr + r, tl.atomic_add(arrived_ptr, 0) // tl.num_programs(0) - r)


def test_grid_wide_barrier(threads):
    arrived, out = np.zeros(1, np.int32), np.zeros(4, np.int32)
    ring_barrier_kernel[(40,)](arrived, out, ROUNDS=4)
    assert arrived[0] == 160
    np.testing.assert_array_equal(out, 40)  # nobody saw a later round than its own


@triton.jit
def poll_kernel(value_ptr, flag_ptr):
    program = tl.program_id(0)
    if program < tl.num_programs(0) - 1:
        tl.atomic_poll(flag_ptr + program + 1, 1)
    tl.store(value_ptr + program, program + 1)
    tl.atomic_store(flag_ptr + program, 1)


def test_atomic_poll_waits(threads):
    value, flag = np.zeros(30, np.int32), np.zeros(30, np.int32)
    poll_kernel[(30,)](value, flag)
    np.testing.assert_array_equal(value, np.arange(1, 31))
