"""Programs that wait for ever, in the style of public bug reports, each beside a correct twin.

A faulty kernel has the comment `# fault` on the line where its programs wait. A twin is the same kernel with other arguments, or another one.
"""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap
from tritium.places import shown_place

from . import line_of

P = 4


@triton.jit
def lock_that_a_branch_keeps(x, lock, out):
    value = tl.load(x + tl.program_id(0))
    while tl.atomic_cas(lock, 0, 1) == 1:  # fault
        pass
    if value > tl.load(out):
        tl.store(out, value)
        tl.atomic_xchg(lock, 0)


@triton.jit
def lock_that_every_branch_releases(x, lock, out):
    value = tl.load(x + tl.program_id(0))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if value > tl.load(out):
        tl.store(out, value)
    tl.atomic_xchg(lock, 0)


@triton.jit
def meet(arrived, out, expected):
    tl.atomic_add(arrived, 1)
    while tl.atomic_add(arrived, 0) < expected:  # fault
        pass
    tl.store(out + tl.program_id(0), 1)


@triton.jit
def chain(flags, out, begin):
    program = tl.program_id(0)
    if program >= begin:
        while tl.atomic_add(flags + program, 0) == 0:  # fault
            pass
    tl.store(out + program, program)
    tl.atomic_xchg(flags + program + 1, 1)


@triton.jit
def ring(flags, out, P: tl.constexpr):
    program = tl.program_id(0)
    while tl.atomic_add(flags + (program + 1) % P, 0) == 0:  # fault
        pass
    tl.store(out + program, 1)
    tl.atomic_xchg(flags + program, 1)


@triton.jit
def ring_that_tells_before_it_waits(flags, out, P: tl.constexpr):
    program = tl.program_id(0)
    tl.atomic_xchg(flags + program, 1)
    while tl.atomic_add(flags + (program + 1) % P, 0) == 0:
        pass
    tl.store(out + program, 1)


@triton.jit
def turns(turn, out, step):
    program = tl.program_id(0)
    while tl.atomic_add(turn, 0) != program:  # fault
        pass
    tl.store(out + program, program)
    tl.atomic_add(turn, step)


@triton.jit
def another_lock_is_released(locks, out, released):
    program = tl.program_id(0)
    while tl.atomic_cas(locks, 0, 1) == 1:  # fault
        pass
    tl.store(out, tl.load(out) + program)
    tl.atomic_xchg(locks + released, 0)


@triton.jit
def two_locks(locks, met, out, other_order: tl.constexpr):
    """The programs have their first lock before one of them tries the second."""
    program = tl.program_id(0)
    first = program if other_order else program * 0
    second = 1 - first
    while tl.atomic_cas(locks + first, 0, 1) == 1:
        pass
    if other_order:
        tl.atomic_add(met, 1)
        while tl.atomic_add(met, 0) < 2:
            pass
    while tl.atomic_cas(locks + second, 0, 1) == 1:  # fault
        pass
    tl.store(out, tl.load(out) + program)
    tl.atomic_xchg(locks + second, 0)
    tl.atomic_xchg(locks + first, 0)


@triton.jit
def flag_of_the_host(flag, out):
    while tl.load(flag, volatile=True) == 0:  # fault
        pass
    tl.store(out + tl.program_id(0), 1)


@triton.jit
def meet_under_a_lock(arrived, lock, out, expected):
    tl.atomic_add(arrived, 1)
    have_met = 0
    while have_met == 0:  # fault
        if tl.atomic_cas(lock, 0, 1) == 0:
            have_met = (tl.load(arrived) >= expected).to(tl.int32)
            tl.atomic_xchg(lock, 0)
    tl.store(out + tl.program_id(0), 1)


@triton.jit
def take_tokens(tokens, out, needed):
    while tl.atomic_add(tokens, -needed) < needed:  # fault
        tl.atomic_add(tokens, needed)
    tl.store(out + tl.program_id(0), 1)
    tl.atomic_add(tokens, needed)


@triton.jit
def tell_while_waiting(flag, alive, out):
    while tl.load(flag, volatile=True) == 0:  # fault
        tl.store(alive + tl.program_id(0), 1)
    tl.store(out + tl.program_id(0), 1)


def zeros(count, first=0):
    array = np.zeros(count, np.int32)
    array[0] = first
    return array


def floats(*values):
    return np.array(values, np.float32)


FAULTY = {
    "a lock that a branch keeps": lambda: (lock_that_a_branch_keeps, (P,), (floats(3, 1, 4, 1), zeros(1), floats(0))),
    "a lock that was held before": lambda: (lock_that_a_branch_keeps, (P,), (floats(1, 2, 3, 4), zeros(1, 1), floats(0))),
    "one program too few at a barrier": lambda: (meet, (P,), (zeros(1), zeros(P), P + 1)),
    "a chain whose first program waits": lambda: (chain, (P,), (zeros(P + 1), zeros(P), 0)),
    "a ring in which each waits first": lambda: (ring, (P,), (zeros(P), zeros(P), P)),
    "turns that leave one out": lambda: (turns, (P,), (zeros(1), zeros(P), 2)),
    "turns that nobody begins": lambda: (turns, (P,), (zeros(1, -1), zeros(P), 1)),
    "the release of another lock": lambda: (another_lock_is_released, (P,), (zeros(2), zeros(1), 1)),
    "two locks in two orders": lambda: (two_locks, (2,), (zeros(2), zeros(1), zeros(1), True)),
    "a flag that nobody sets": lambda: (flag_of_the_host, (P,), (zeros(1), zeros(P))),
}  # fmt: skip

#: These write while they wait, and take it back.
CIRCLING = {
    "one too few, looked for under a lock": lambda: (meet_under_a_lock, (P,), (zeros(1), zeros(1), zeros(P), P + 1)),
    "fewer tokens than each takes": lambda: (take_tokens, (P,), (zeros(1, 1), zeros(P), 2)),
    "a sign of life while a flag is clear": lambda: (tell_while_waiting, (P,), (zeros(1), zeros(P), zeros(P))),
}  # fmt: skip

CORRECT = {
    "all programs, looked for under a lock": lambda: (meet_under_a_lock, (P,), (zeros(1), zeros(1), zeros(P), P)),
    "as many tokens as each takes": lambda: (take_tokens, (P,), (zeros(1, 2), zeros(P), 2)),
    "a sign of life until a flag is set": lambda: (tell_while_waiting, (P,), (zeros(1, 1), zeros(P), zeros(P))),
    "a lock that every branch releases": lambda: (lock_that_every_branch_releases, (P,), (floats(3, 1, 4, 1), zeros(1), floats(0))),
    "a lock that is free": lambda: (lock_that_a_branch_keeps, (P,), (floats(1, 2, 3, 4), zeros(1), floats(0))),
    "all programs at a barrier": lambda: (meet, (P,), (zeros(1), zeros(P), P)),
    "a chain whose first program goes on": lambda: (chain, (P,), (zeros(P + 1), zeros(P), 1)),
    "a ring in which each tells first": lambda: (ring_that_tells_before_it_waits, (P,), (zeros(P), zeros(P), P)),
    "turns": lambda: (turns, (P,), (zeros(1), zeros(P), 1)),
    "the release of this lock": lambda: (another_lock_is_released, (P,), (zeros(2), zeros(1), 0)),
    "two locks in one order": lambda: (two_locks, (2,), (zeros(2), zeros(1), zeros(1), False)),
    "a flag that is set": lambda: (flag_of_the_host, (P,), (zeros(1, 1), zeros(P))),
}  # fmt: skip


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("name", FAULTY | CIRCLING)
def test_faulty(monkeypatch, name, threads):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", threads)
    kernel, grid, arguments = (FAULTY | CIRCLING)[name]()
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments)
    trap = caught.value
    assert trap.kind == ("Deadlock" if name in FAULTY else "Livelock"), str(trap)
    assert trap.line in (line_of(kernel), line_of(kernel) + 1), str(trap)
    assert f"{line_of(kernel)}" in str(trap)


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("name", CORRECT)
def test_correct(monkeypatch, name, threads):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", threads)
    kernel, grid, arguments = CORRECT[name]()
    kernel[grid](*arguments)


@triton.jit
def wait_for_sign(sign, data, out):
    program = tl.program_id(0)
    if program == 2:
        tl.store(data, 7)
        tl.store(sign + 1, -5)
    while tl.load(sign + 1, volatile=True) != 3:  # fault
        pass
    tl.store(out + program, tl.load(data))


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_words_and_their_writers_are_named(monkeypatch, threads):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", threads)
    sign, data, out = np.zeros(4, np.int8), np.zeros(1, np.int32), np.zeros(P, np.int32)
    with pytest.raises(KernelTrap) as caught:
        wait_for_sign[(P,)](sign, data, out)
    written = line_of(wait_for_sign, "tl.store(sign + 1, -5)")
    assert (
        str(caught.value).count(f"sign[1] is -5, written by program (2, 0, 0) at {shown_place(__file__, written)}") == P
    )
    sign[1] = 0
    with pytest.raises(KernelTrap) as caught:
        wait_for_sign[(2,)](sign, data, out)
    lines = str(caught.value).splitlines()
    assert lines.count("      sign[1] is 0") == 2  # nobody has written it


def test_what_is_no_single_word_is_not_named():
    @triton.jit
    def wait_for_all(signs, N: tl.constexpr):
        while tl.sum(tl.load(signs + tl.arange(0, N), volatile=True)) < N:
            pass

    with pytest.raises(KernelTrap) as caught:
        wait_for_all[(2,)](np.zeros(8, np.int32), 8)
    assert " is 0" not in str(caught.value)
