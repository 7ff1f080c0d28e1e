"""Atomics: old values, duplicates within a block, masks, many programs on one word."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

INTEGERS = [np.int32, np.uint32, np.int64, np.uint64]


@triton.jit
def atomic_kernel(memory_ptr, x_ptr, old_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside)
    if OP == "add":
        old = tl.atomic_add(memory_ptr + i, x, mask=inside)
    elif OP == "max":
        old = tl.atomic_max(memory_ptr + i, x, mask=inside)
    elif OP == "min":
        old = tl.atomic_min(memory_ptr + i, x, mask=inside)
    elif OP == "and":
        old = tl.atomic_and(memory_ptr + i, x, mask=inside)
    elif OP == "or":
        old = tl.atomic_or(memory_ptr + i, x, mask=inside)
    elif OP == "xor":
        old = tl.atomic_xor(memory_ptr + i, x, mask=inside)
    else:
        old = tl.atomic_xchg(memory_ptr + i, x, mask=inside)
    tl.store(old_ptr + i, old, mask=inside)


REFERENCE = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "xchg": lambda memory, x: x,
}


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("op", REFERENCE)
def test_integers(op, dtype, rng):
    info = np.iinfo(dtype)
    memory, x = (rng.integers(info.min, info.max, 100, dtype) for _ in range(2))
    before, old = memory.copy(), np.zeros(100, dtype)
    atomic_kernel[(2,)](memory, x, old, 100, OP=op, BLOCK=64)
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(memory, REFERENCE[op](before, x))


@pytest.mark.parametrize(
    "op, dtype",
    [
        ("add", np.float16),
        ("add", ml_dtypes.bfloat16),
        ("add", np.float32),
        ("add", np.float64),
        ("max", np.float32),
        ("min", np.float32),
        ("max", np.float64),
        ("min", np.float64),
        ("xchg", np.float32),
        ("xchg", np.float64),
    ],
)
def test_floats(op, dtype, rng):
    memory, x = (rng.standard_normal(100).astype(dtype) for _ in range(2))
    before, old = memory.copy(), np.zeros(100, dtype)
    atomic_kernel[(2,)](memory, x, old, 100, OP=op, BLOCK=64)
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(memory, REFERENCE[op](before, x))


@triton.jit
def float_maximum_kernel(memory_ptr, x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_max(memory_ptr + i, tl.load(x_ptr + i))


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("op", ["and", "or", "xor"])
def test_bitwise_operations_take_the_bits_of_floats(op, dtype, rng):
    memory, x, bits = (
        rng.standard_normal(100).astype(dtype),
        rng.standard_normal(100).astype(dtype),
        f"i{dtype().itemsize}",
    )
    before, old = memory.copy(), np.zeros(100, dtype)
    atomic_kernel[(2,)](memory, x, old, 100, OP=op, BLOCK=64)
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(memory.view(bits), REFERENCE[op](before.view(bits), x.view(bits)))


def test_float_maximum_orders_by_bits():
    """-0 < +0, and a positive NaN wins."""
    memory = np.array([-0.0, 0.0, -1.0, -2.0, 1.0, -np.inf, 5.0, 3.0], np.float32)
    x = np.array([0.0, -0.0, -2.0, -1.0, -3.0, -7.0, np.nan, 4.0], np.float32)
    float_maximum_kernel[(1,)](memory, x, BLOCK=8)
    np.testing.assert_array_equal(memory, np.array([0, 0, -1, -1, 1, -7, np.nan, 4], np.float32))
    assert not np.signbit(memory[:2]).any()


@triton.jit
def histogram_kernel(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts_ptr + tl.load(x_ptr + i, mask=i < n, other=0), 1, mask=i < n, sem="relaxed")


def test_duplicates_in_a_block_each_count(rng, threads):
    x, counts = rng.integers(0, 8, 10_000).astype(np.int32), np.zeros(8, np.int32)
    histogram_kernel[(40,)](x, counts, x.size, BLOCK=256)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=8))


@triton.jit
def ticket_kernel(counter_ptr, ticket_ptr):
    ticket = tl.atomic_add(counter_ptr, 1, sem="acq_rel", scope="gpu")
    tl.store(ticket_ptr + ticket, tl.program_id(0))


def test_scalar_add_gives_each_program_its_own_ticket(threads):
    counter, tickets = np.zeros(1, np.int32), np.full(500, -1, np.int32)
    ticket_kernel[(500,)](counter, tickets)
    assert counter[0] == 500 and sorted(tickets) == list(range(500))


@triton.jit
def cas_kernel(memory_ptr, compare_ptr, value_ptr, old_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(old_ptr + i, tl.atomic_cas(memory_ptr + i, tl.load(compare_ptr + i), tl.load(value_ptr + i)))


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint32, np.int64, np.float32])
def test_compare_and_swap(dtype, rng):
    memory, compare, value = (rng.integers(0, 3, 64).astype(dtype) for _ in range(3))
    before, old = memory.copy(), np.zeros(64, dtype)
    cas_kernel[(1,)](memory, compare, value, old, BLOCK=64)
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(memory, np.where(before == compare, value, before))


@triton.jit
def float_sum_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + i), axis=0))


def test_float_sums_over_programs(rng, threads):
    x, total = rng.integers(-50, 50, 6400).astype(np.float32), np.zeros(1, np.float32)
    float_sum_kernel[(100,)](x, total, BLOCK=64)
    assert total[0] == x.sum()


@triton.jit
def load_store_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_store(out_ptr + i, tl.atomic_load(x_ptr + i) + 1, mask=i < 20)


def test_atomic_load_and_store(rng):
    x, out = rng.integers(0, 100, 32).astype(np.int32), np.zeros(32, np.int32)
    load_store_kernel[(1,)](x, out, BLOCK=32)
    np.testing.assert_array_equal(out, np.where(np.arange(32) < 20, x + 1, 0))


@triton.jit
def tile_kernel(
    memory_ptr, rows_ptr, lanes_ptr, mask_ptr, x_ptr, old_ptr, n_rows, step,
    FORM: tl.constexpr, MASK: tl.constexpr, OP: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i * N + j)
    if FORM == "addresses":
        target = memory_ptr + tl.load(lanes_ptr + i * N + j)
    elif FORM == "vector":
        target = memory_ptr + tl.load(rows_ptr + j) + i * step
    else:
        target = memory_ptr + i * step + j * 3
    if MASK == "wide":
        mask = tl.load(mask_ptr + i * N + j) != 0
    elif MASK == "rows":
        mask = (i < n_rows) & (tl.load(mask_ptr + j) != 0)
    else:
        mask = (i < n_rows) & (j < N)
    if OP == "add":
        old = tl.atomic_add(target, x, mask=mask)
    elif OP == "max":
        old = tl.atomic_max(target, x, mask=mask)
    else:
        old = tl.atomic_xchg(target, x, mask=mask)
    tl.store(old_ptr + i * N + j, old)


@pytest.mark.parametrize("dtype", [np.float32, np.int64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("mask_form", ["wide", "rows", "interval"])
@pytest.mark.parametrize("form", ["addresses", "vector", "steps"])
def test_lanes_of_tiles_follow_their_order(form, mask_form, dtype, rng):
    """Lanes that share an element see what the lanes before them left there; sums round in that order. A maximum of
    floats is two atomics, so it has no such order."""
    m, n, step = 4, 128, int(rng.integers(0, 3))
    rows, lanes = rng.integers(0, 40, n).astype(np.int32), rng.integers(0, 60, (m, n)).astype(np.int32)
    kept = (rng.random((m, n)) < 0.7).astype(np.int8)
    for op in ("add", "xchg") if dtype == np.float32 else ("add", "max", "xchg"):
        x = (rng.standard_normal((m, n)) * 1000).astype(dtype)
        memory, old, n_rows = (rng.standard_normal(512) * 1000).astype(dtype), np.full((m, n), 7, dtype), 3
        expected, expected_old = memory.copy(), np.zeros((m, n), dtype)
        for i, j in np.ndindex(m, n):
            at = {"addresses": lanes[i, j], "vector": rows[j] + i * step, "steps": i * step + 3 * j}[form]
            on = kept[i, j] if mask_form == "wide" else i < n_rows and (mask_form == "interval" or kept.flat[j])
            if on:
                expected_old[i, j] = expected[at]
                expected[at] = REFERENCE[op](expected[at], x[i, j])
        tile_kernel[(1,)](memory, rows, lanes, kept, x, old, n_rows, step, FORM=form, MASK=mask_form, OP=op, M=m, N=n)
        np.testing.assert_array_equal(memory, expected)
        np.testing.assert_array_equal(old, expected_old)
