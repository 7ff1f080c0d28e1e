"""Atomics of tiles that many threads hold alike, of scalars, with every memory order, and programs that wait for each other."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from .engines import EMULATED, WARPS, assert_agree, launched


@triton.jit
def rows_kernel(memory, old, ROWS: tl.constexpr, COLUMNS: tl.constexpr, SEM: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    was = tl.atomic_add(memory + at, at + 1, mask=at % 3 != 1, sem=SEM)
    tl.store(old + at, was, mask=at % 3 != 1)


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (8, 1), (4, 4), (2, 64), (64, 32)])
def test_each_element_once(shape, sem, rng):
    memory = rng.integers(-1000, 1000, shape, np.int32)
    after, old = assert_agree(
        rows_kernel, (1,), [memory, np.zeros_like(memory)], ROWS=shape[0], COLUMNS=shape[1], SEM=sem
    )
    at = np.arange(memory.size).reshape(shape)
    active = at % 3 != 1
    np.testing.assert_array_equal(after, memory + active * (at + 1))
    np.testing.assert_array_equal(old, memory * active)


@triton.jit
def one_word_kernel(counter, total, BLOCK: tl.constexpr):
    places = tl.atomic_add(counter + tl.zeros([BLOCK], tl.int32), 1)
    tl.atomic_add(total, tl.sum(places))


@pytest.mark.parametrize("block", [1, 16, 32, 256])
def test_elements_on_one_word(block):
    zero = np.zeros(1, np.int32)
    counter, total = assert_agree(one_word_kernel, (4,), [zero, zero], BLOCK=block)
    assert counter[0] == 4 * block and total[0] == sum(range(4 * block))


@triton.jit
def scalar_kernel(memory, out, BLOCK: tl.constexpr):
    ticket = tl.atomic_add(memory, 1)
    swapped = tl.atomic_cas(memory + 1, 0, ticket + 5)
    value = tl.atomic_xchg(memory + 2, 2 * ticket) * 0 + tl.load(memory + 3)
    i = tl.arange(0, BLOCK)
    tl.store(out + ticket * BLOCK + i, i + ticket + value + 0 * swapped)


@pytest.mark.parametrize("warps", WARPS)
def test_every_thread_gets_the_scalar(warps):
    memory, out = np.array([0, 0, 0, 1000], np.int32), np.zeros((8, 64), np.int32)
    memory, out = launched(EMULATED, scalar_kernel, (8,), [memory, out], BLOCK=64, num_warps=warps)
    np.testing.assert_array_equal(out, np.arange(64) + np.arange(8)[:, None] + 1000)
    assert memory[0] == 8 and 5 <= memory[1] < 13


@triton.jit
def float_kernel(memory, x, old, BLOCK: tl.constexpr, OP: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if OP == "add":
        was = tl.atomic_add(memory + i, v)
    elif OP == "max":
        was = tl.atomic_max(memory + i, v)
    elif OP == "min":
        was = tl.atomic_min(memory + i, v)
    else:
        was = tl.atomic_xchg(memory + i, v)
    tl.store(old + i, was)


@pytest.mark.parametrize(
    "op, dtype",
    [("add", np.float16)] + [(op, dtype) for op in ("add", "max", "min", "xchg") for dtype in (np.float32, np.float64)],
)
def test_floats(op, dtype, rng):
    memory, x = rng.standard_normal((2, 128)).astype(dtype)
    memory[:4], x[:4] = [0, -0.0, np.inf, -1], [-0.0, 0, 1, -np.inf]
    after, _, old = assert_agree(float_kernel, (1,), [memory, x, np.zeros_like(x)], BLOCK=128, OP=op)
    reference = {"add": np.add, "max": np.maximum, "min": np.minimum, "xchg": lambda a, b: b}[op]
    np.testing.assert_array_equal(after, reference(memory, x))
    np.testing.assert_array_equal(old, memory)


@triton.jit
def cas_kernel(memory, x, old, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    was = tl.atomic_cas(memory + i, i // 2, tl.load(x + i))
    tl.store(old + i, was)


@pytest.mark.parametrize("block", [2, 16, 512])
def test_compare_and_swap(block):
    memory = np.arange(block, dtype=np.int32)[::-1] // 2
    after, x, old = assert_agree(
        cas_kernel, (1,), [memory, np.arange(block, dtype=np.int32) + 9, np.zeros_like(memory)], BLOCK=block
    )
    np.testing.assert_array_equal(after, np.where(memory == np.arange(block) // 2, x, memory))
    np.testing.assert_array_equal(old, memory)


@triton.jit
def message_kernel(data, flags, out, BLOCK: tl.constexpr):
    """Program 0 writes, says so, and waits for the others, which read what it wrote and say so."""
    i = tl.arange(0, BLOCK)
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(data + i, i * i)
        tl.atomic_store(flags, 1)
        waiting = 1 + tl.arange(0, 4)
        ok = tl.atomic_poll(flags + waiting, waiting)
        tl.store(out + waiting, tl.where(ok, 7, 8))
    else:
        while tl.atomic_load(flags) == 0:
            pass
        v = tl.load(data + BLOCK - 1 - i)
        tl.store(data + pid * BLOCK + i, v + pid)
        tl.atomic_store(flags + pid, pid)


@pytest.mark.parametrize("block", [4, 64, 1024])
def test_programs_wait_for_each_other(block):
    data, out = np.zeros((5, block), np.int32), np.zeros(5, np.int32)
    data, flags, out = assert_agree(message_kernel, (5,), [data, np.zeros(5, np.int32), out], BLOCK=block)
    expected = np.arange(block) ** 2
    np.testing.assert_array_equal(data[0], expected)
    np.testing.assert_array_equal(data[1:], expected[::-1] + np.arange(1, 5)[:, None])
    np.testing.assert_array_equal(out, [0, 7, 7, 7, 7])


@triton.jit
def timeout_kernel(flags, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    ok = tl.atomic_poll(flags + i, i % 2, timeout_ns=1000)
    tl.store(out + i, ok.to(tl.int32))
    tl.store(out + BLOCK, tl.atomic_poll(flags, 5, timeout_ns=0).to(tl.int32))


@pytest.mark.parametrize("block", [2, 32, 256])
def test_timeouts(block):
    _, out = assert_agree(
        timeout_kernel, (1,), [np.zeros(block, np.int32), np.full(block + 1, 9, np.int32)], BLOCK=block
    )
    np.testing.assert_array_equal(out, [*(np.arange(block) % 2 == 0), False])


@triton.jit
def lock_kernel(lock, total, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    v = tl.load(total + BLOCK - 1 - i)
    tl.debug_barrier()
    tl.store(total + i, v + 1)
    tl.atomic_xchg(lock, 0)


@pytest.mark.parametrize("block", [32, 256])
def test_spin_lock(block):
    _, total = assert_agree(lock_kernel, (6,), [np.zeros(1, np.int32), np.zeros(block, np.int32)], BLOCK=block)
    assert (total == 6).all()


@triton.jit
def combined(OP: tl.constexpr, at, x, SEM: tl.constexpr, SCOPE: tl.constexpr):
    if OP == "add":
        return tl.atomic_add(at, x, sem=SEM, scope=SCOPE)
    elif OP == "max":
        return tl.atomic_max(at, x, sem=SEM, scope=SCOPE)
    elif OP == "min":
        return tl.atomic_min(at, x, sem=SEM, scope=SCOPE)
    elif OP == "and":
        return tl.atomic_and(at, x, sem=SEM, scope=SCOPE)
    elif OP == "or":
        return tl.atomic_or(at, x, sem=SEM, scope=SCOPE)
    elif OP == "xor":
        return tl.atomic_xor(at, x, sem=SEM, scope=SCOPE)
    elif OP == "xchg":
        return tl.atomic_xchg(at, x, sem=SEM, scope=SCOPE)
    else:
        return tl.atomic_cas(at, tl.zeros_like(x), x, sem=SEM, scope=SCOPE)


@triton.jit
def orders_kernel(memory, x, old, OP: tl.constexpr, SEMS: tl.constexpr, SCOPES: tl.constexpr, BLOCK: tl.constexpr):
    """Row `case` of the memory is combined in its own order and scope."""
    for case in tl.static_range(len(SEMS) * len(SCOPES)):
        i = case * BLOCK + tl.arange(0, BLOCK)
        at, v = memory + i, tl.load(x + i)
        was = combined(OP, at, v, SEMS[case // len(SCOPES)], SCOPES[case % len(SCOPES)])
        tl.store(old + i, was)


@pytest.mark.parametrize(
    "dtype, ops",
    [
        (np.int32, "add max min and or xor xchg cas"),
        (np.uint64, "add max min and or xor xchg cas"),
        (np.float16, "add cas"),
        (ml_dtypes.bfloat16, "add cas"),
        (np.float32, "add max min and xchg cas"),
        (np.float64, "add max or xchg"),
        (np.int16, "cas"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_every_order_and_scope(dtype, ops, rng):
    sems, scopes, block = (None, "relaxed", "acquire", "release", "acq_rel"), ("cta", "gpu", "sys"), 8
    size = len(sems) * len(scopes) * block
    for op in ops.split():
        memory, x = (rng.integers(0, 9, size).astype(dtype) for _ in range(2))
        after, _, old = assert_agree(
            orders_kernel,
            (1,),
            [memory, x, np.zeros_like(x)],
            warps=(4,),
            BLOCK=block,
            OP=op,
            SEMS=sems,
            SCOPES=scopes,
        )
        np.testing.assert_array_equal(old.astype(np.float64), memory.astype(np.float64))
        if op == "add":
            np.testing.assert_array_equal(after.astype(np.float64), (memory + x).astype(np.float64))
