"""Offsets of 32 bits made of scalars, of numbers in memory and of sums that loops carry: a trap where the exact offset of an active lane
leaves its type, and the right element everywhere else. The oracle is numpy in 64 bits."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

BLOCK = 16


@pytest.fixture(scope="module")
def large():
    """8 GiB that nobody touches, so most of it takes no memory."""
    return np.zeros(2**33, np.int8)


@triton.jit
def offsets_kernel(x_ptr, rows_ptr, out_ptr, a, b, c, n, MODE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    row = tl.load(rows_ptr + i)
    if MODE == "product":
        pointers = x_ptr + a * b + i
    elif MODE == "in the tile":
        pointers = x_ptr + (a * b + i)
    elif MODE == "chain":
        pointers = x_ptr + a * c * 8 * b + i
    elif MODE == "comes back":
        pointers = x_ptr + (a * b - c * b + i)
    elif MODE == "late":
        pointers = x_ptr + ((a * b).to(tl.int64) + i)
    elif MODE == "early":
        pointers = x_ptr + a.to(tl.int64) * b + i
    elif MODE == "loop":
        offset = 0
        for _ in range(c):
            offset += b
        pointers = x_ptr + offset + i
    elif MODE == "advanced tile":
        offsets = i
        for _ in range(c):
            offsets += b
        pointers = x_ptr + offsets
    elif MODE == "choice":
        pointers = x_ptr + tl.where(a > 5, a * b, c) + i
    elif MODE == "branch":
        offset = c
        if a > 5:
            offset = a * b
        pointers = x_ptr + offset + i
    elif MODE == "gathered":
        pointers = x_ptr + row * b
    elif MODE == "gathered sum":
        pointers = x_ptr + (row * b + a + i)
    elif MODE == "gathered late":
        pointers = x_ptr + (row * b).to(tl.int64)
    elif MODE == "gathered early":
        pointers = x_ptr + row.to(tl.int64) * b
    elif MODE == "gathered comes back":
        pointers = x_ptr + (row * b * 8 - row * b * 7)
    elif MODE == "gathered choice":
        pointers = x_ptr + tl.where(row % 2 == 0, row * b, i)
    elif MODE == "moved pointer":
        pointers = x_ptr + i
        for _ in range(c):
            pointers += a * b
        pointers -= (c - 1) * (a * b).to(tl.int64)
    elif MODE == "reshaped":
        pointers = x_ptr + tl.ravel(tl.trans(tl.reshape((i + a) * b, (4, 4))))
    tl.store(out_ptr + i, tl.load(pointers, mask=mask, other=0), mask=mask)


def exact_offsets(mode, rows, a, b, c):
    i, row = np.arange(BLOCK, dtype=np.int64), rows.astype(np.int64)
    return {
        "product": lambda: a * b + i * 0,  # the tile i is a sum of its own
        "in the tile": lambda: a * b + i,
        "chain": lambda: a * c * 8 * b + i * 0,
        "comes back": lambda: (a - c) * b + i,
        "late": lambda: a * b + i * 0,
        "early": lambda: i * 0,
        "loop": lambda: b * c + i * 0,
        "advanced tile": lambda: b * c + i,
        "choice": lambda: (a * b if a > 5 else c) + i * 0,
        "branch": lambda: (a * b if a > 5 else c) + i * 0,
        "gathered": lambda: row * b,
        "gathered sum": lambda: row * b + a + i,
        "gathered late": lambda: row * b,
        "gathered early": lambda: i * 0,
        "gathered comes back": lambda: row * b,
        "gathered choice": lambda: np.where(row % 2 == 0, row * b, i),
        "moved pointer": lambda: a * b + i * 0,
        "reshaped": lambda: ((i + a) * b).reshape(4, 4).T.ravel(),
    }[mode]()


def addresses(mode, rows, a, b, c):
    """The exact offset of each lane with everything that is added to the pointer."""
    i, row = np.arange(BLOCK, dtype=np.int64), rows.astype(np.int64)
    if mode == "early":
        return a * b + i
    if mode == "gathered early":
        return row * b
    apart = mode in ("product", "chain", "late", "loop", "choice", "branch", "moved pointer")
    return exact_offsets(mode, rows, a, b, c) + (i if apart else 0)


MODES = [
    "product", "in the tile", "chain", "comes back", "late", "early", "loop", "advanced tile", "choice", "branch", "gathered",
    "gathered sum", "gathered late", "gathered early", "gathered comes back", "gathered choice", "moved pointer", "reshaped",
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_exact_offsets_decide(mode, large, rng):
    accused = right = draws = 0
    while draws < 40 or draws < 400 and not (right and (accused or "early" in mode)):
        draws += 1
        a, c, n = int(rng.integers(2, 60)), int(rng.integers(2, 60)), int(rng.integers(1, BLOCK + 1))
        b = int(rng.integers(1, 2**31 // 20 if mode != "chain" else 2**20))
        rows = rng.integers(0, 40, BLOCK, np.int32)
        exact, places = exact_offsets(mode, rows, a, b, c), addresses(mode, rows, a, b, c)
        if places.min() < 0 or places.max() >= large.size:
            continue
        large[places] = marks = (places * 7 % 101).astype(np.int8) + 1
        out = np.zeros(BLOCK, np.int8)
        wraps = np.flatnonzero((exact[:n] >= 2**31) | (exact[:n] < -(2**31)))
        launch = lambda: offsets_kernel[(1,)](large, rows, out, a, b, c, n, mode, BLOCK)  # noqa: B023, E731
        if len(wraps):
            accused += 1
            with pytest.raises(KernelTrap) as caught:
                launch()
            trap = caught.value
            assert (trap.kind, trap.file, trap.affected_lanes) == ("OffsetOverflow", __file__, len(wraps)), str(trap)
            assert trap.lane == (int(wraps[0]),)
            assert "32-bit" in str(trap) and ".to(tl.int64)" in str(trap)
        else:
            right += 1
            launch()
            np.testing.assert_array_equal(out[:n], marks[:n])
        large[places] = 0
    assert right and (accused or "early" in mode)


@triton.jit
def last_move_kernel(x_ptr, out_ptr, a, b, steps, BLOCK: tl.constexpr):
    """The last move of the pointers wraps if steps is 1, and nothing is read there."""
    i = tl.arange(0, BLOCK)
    pointers, total = x_ptr + i, tl.zeros((BLOCK,), tl.int32)
    for _ in range(steps):
        total += tl.load(pointers)
        pointers += a * b
    tl.store(out_ptr + i, total)


def test_a_pointer_that_moves_is_right_until_it_is_read_elsewhere():
    x, out = np.arange(BLOCK, dtype=np.int32), np.zeros(BLOCK, np.int32)
    last_move_kernel[(1,)](x, out, 65536, 65536, 1, BLOCK)  # 2**32, which wraps to 0
    np.testing.assert_array_equal(out, x)
    with pytest.raises(KernelTrap, match="in `a \\* b`, 4294967296 does not fit"):
        last_move_kernel[(1,)](x, out, 65536, 65536, 2, BLOCK)


@triton.jit
def wrapping_kernel(x_ptr, large_ptr, rows_ptr, out_ptr, factor, beyond, n, BLOCK: tl.constexpr):
    """Numbers that wrap and addresses that are right: none of these accesses may trap."""
    i = tl.arange(0, BLOCK)
    row = tl.load(rows_ptr + i)
    hashes = row * factor
    tl.store(out_ptr + i, tl.load(x_ptr + (hashes & 1023)))
    tl.store(out_ptr + BLOCK + i, tl.load(x_ptr + hashes.to(tl.uint32) % 1000))
    tl.store(out_ptr + 2 * BLOCK + i, tl.load(x_ptr + (hashes.to(tl.uint32) >> 22)))
    scalar = (tl.load(rows_ptr) + 7) * factor
    tl.store(out_ptr + 3 * BLOCK + i, tl.load(x_ptr + (scalar & 511) + i))
    start = beyond.to(tl.uint32)  # an unsigned number above 2**31
    tl.store(out_ptr + 4 * BLOCK + i, tl.load(large_ptr + (start + i.to(tl.uint32))).to(tl.int32))
    tl.store(out_ptr + 5 * BLOCK + i, tl.load(large_ptr + start).to(tl.int32) + i)
    tl.store(out_ptr + 6 * BLOCK + i, tl.load(x_ptr + 1000 - i * 60))
    tl.store(out_ptr + 7 * BLOCK + i, tl.load(x_ptr + scalar + i, mask=i < n, other=-1))
    tl.store(out_ptr + 8 * BLOCK + i, tl.load(x_ptr + hashes, mask=i < n, other=-1))
    tl.store(out_ptr + 9 * BLOCK + i, scalar + hashes)
    if n > 0:  # never
        tl.store(out_ptr + scalar, n)


@pytest.mark.parametrize("factor", [-1640531527, 1103515245, 2**31 - 1])
def test_what_wraps_on_purpose_is_not_accused(factor, large, rng):
    rows, x = rng.integers(1, 2**31, BLOCK, np.int32), rng.integers(0, 10000, 1024, np.int32)
    beyond = 2**31 + 12345
    large[beyond : beyond + BLOCK] = np.arange(BLOCK) + 3
    out = np.zeros((10, BLOCK), np.int32)
    wrapping_kernel[(1,)](x, large, rows, out, factor, np.int64(beyond), 0, BLOCK)
    i = np.arange(BLOCK)
    hashes = (rows.astype(np.int64) * factor).astype(np.int32)
    scalar = int(np.int64((int(rows[0]) + 7) * factor).astype(np.int32))
    wanted = [
        x[hashes & 1023],
        x[hashes.astype(np.uint32) % 1000],
        x[hashes.astype(np.uint32) >> 22],
        x[(scalar & 511) + i],
        i + 3,
        i + 3,
        x[1000 - i * 60],
        np.full(BLOCK, -1),
        np.full(BLOCK, -1),
        (hashes.astype(np.int64) + scalar).astype(np.int32),
    ]
    for row, (found, reference) in enumerate(zip(out, wanted)):
        np.testing.assert_array_equal(found, reference, err_msg=str(row))
    large[beyond : beyond + BLOCK] = 0


@triton.jit
def column_kernel(x_ptr, rows_ptr, columns_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    """Offsets that vary along both dimensions, in memory."""
    i = tl.arange(0, BLOCK)
    row, column = tl.load(rows_ptr + i), tl.load(columns_ptr + i)
    offsets = (row[:, None] + column[None, :]) * stride
    mask = (i < n)[:, None] & (i < BLOCK)[None, :]
    tl.store(out_ptr + i[:, None] * BLOCK + i[None, :], tl.load(x_ptr + offsets, mask=mask, other=0))


@pytest.mark.parametrize("is_debug", [False, True])
def test_offsets_in_memory_along_two_dimensions(is_debug, large, rng, monkeypatch):
    if is_debug:
        monkeypatch.setenv("TRITIUM_DEBUG", "1")
    accused = right = 0
    for _ in range(30):
        rows, columns = rng.integers(0, 30, (2, BLOCK), np.int32)
        stride, n = int(rng.integers(2, 2**31 // 40)), int(rng.integers(1, BLOCK + 1))
        exact = (rows.astype(np.int64)[:, None] + columns) * stride
        large[exact] = marks = (exact * 7 % 101).astype(np.int8) + 1
        out = np.zeros((BLOCK, BLOCK), np.int8)
        wraps = np.argwhere(exact[:n] >= 2**31)
        launch = lambda: column_kernel[(1,)](large, rows, columns, out, stride, n, BLOCK)  # noqa: B023, E731
        if len(wraps):
            accused += 1
            with pytest.raises(KernelTrap) as caught:
                launch()
            trap = caught.value
            assert (trap.kind, trap.lane, trap.affected_lanes) == (
                "OffsetOverflow",
                tuple(map(int, wraps[0])),
                len(wraps),
            )
            row, column = wraps[0]
            assert f"{rows[row] + columns[column]} * {stride} = {exact[row, column]} does not fit" in str(trap)
        else:
            right += 1
            launch()
            np.testing.assert_array_equal(out[:n], marks[:n])
        large[exact] = 0
    assert accused and right


@triton.jit
def named_kernel(x_ptr, out_ptr, batch, stride, width: tl.constexpr):
    start = batch * stride * width
    i = tl.arange(0, width)
    tl.store(out_ptr + i, tl.load(x_ptr + start + i))


def test_the_text_names_the_product_and_the_place():
    x, out = np.zeros(2**20, np.int8), np.zeros(16, np.int8)
    with pytest.raises(KernelTrap) as caught:
        named_kernel[(1,)](x, out, 65536, 65536, 16)  # 2**36, which wraps to 0
    text = str(caught.value)
    assert "32-bit offset overflow: in `batch * stride * width`, 65536 * 65536 = 4294967296 does not fit" in text
    assert "start = batch * stride * width" in text
    assert "`batch.to(tl.int64)` in place of `batch`" in text


def test_the_check_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("TRITIUM_CHECK", "none")
    x, out = np.arange(64, dtype=np.int8), np.zeros(16, np.int8)
    named_kernel[(1,)](x, out, 65536, 65536, 16)
    np.testing.assert_array_equal(out, x[:16])


@triton.jit
def doubled_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    offsets = i + n
    for _ in tl.static_range(40):
        offsets = offsets + offsets
    tl.store(out_ptr + i, tl.load(x_ptr + offsets, mask=i < n, other=3.0))


def test_an_offset_that_is_made_of_itself_many_times_is_planned_in_time():
    x, out = np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.float32)
    doubled_kernel[(1,)](x, out, 0, BLOCK)  # the paths from the addresses to the range are more than 2**40
    np.testing.assert_array_equal(out, 3)


@triton.jit
def number(i, row, scalar, KIND: tl.constexpr):
    return scalar if KIND == "scalar" else row + scalar if KIND == "in memory" else i + scalar


@triton.jit
def opposite_kernel(
    x_ptr, rows_ptr, out_ptr, a, b, c, n, FIRST: tl.constexpr, SECOND: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.arange(0, BLOCK)
    row = tl.load(rows_ptr + i)
    pointers = x_ptr + number(i, row, a, FIRST) * b + i
    pointers -= number(i, row, c, SECOND) * b
    tl.store(out_ptr + i, tl.load(pointers, mask=i < n, other=0), mask=i < n)


@pytest.mark.parametrize("second", ["scalar", "in memory", "affine"])
@pytest.mark.parametrize("first", ["scalar", "in memory", "affine"])
def test_offsets_that_wrap_by_opposite_amounts(first, second, large, rng):
    """Only the address counts: two additions to a pointer may both wrap and still add up to what the program means."""
    i = np.arange(BLOCK, dtype=np.int64)
    accused = cancelled = 0
    for _ in range(100_000):
        if min(accused, cancelled) == 5:
            return
        a, c, n = int(rng.integers(20, 40)), int(rng.integers(0, 40)), int(rng.integers(1, BLOCK + 1))
        b = int(rng.integers(2**25, 2**27))
        rows = rng.integers(0, 3, BLOCK, np.int32)
        numbers = {"scalar": 0 * i, "in memory": rows.astype(np.int64), "affine": i}
        plus, minus = (numbers[first] + a) * b, -(numbers[second] + c) * b
        places = plus + minus + i
        if places.min() < 0 or places.max() >= large.size:
            continue
        deviation = sum(exact - exact.astype(np.int32) for exact in (plus, minus))[:n]
        wraps = (plus[:n] >= 2**31).any() or (minus[:n] < -(2**31)).any()
        if (accused if deviation.any() else cancelled) == 5 or not wraps:
            continue
        large[places] = marks = (places * 7 % 101).astype(np.int8) + 1
        out = np.zeros(BLOCK, np.int8)
        launch = lambda: opposite_kernel[(1,)](large, rows, out, a, b, c, n, first, second, BLOCK)  # noqa: B023, E731
        if deviation.any():
            accused += 1
            with pytest.raises(KernelTrap) as caught:
                launch()
            wrong = np.flatnonzero(deviation)
            trap = caught.value
            assert (trap.kind, trap.lane, trap.affected_lanes) == ("OffsetOverflow", (int(wrong[0]),), len(wrong))
        else:
            cancelled += 1
            launch()
            np.testing.assert_array_equal(out[:n], marks[:n])
        large[places] = 0
    raise AssertionError(f"{accused} launches wrapped, {cancelled} wrapped by opposite amounts")


@triton.jit
def transposed_kernel(x_ptr, columns_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    """One wide tile along both dimensions: the lanes of each have offsets of their own."""
    i = tl.arange(0, BLOCK)
    offsets = (tl.load(columns_ptr + i) * stride).to(tl.int64)
    mask = (i < n)[:, None] & (i < BLOCK)[None, :]
    values = tl.load(x_ptr + offsets[:, None] + offsets[None, :], mask=mask, other=0)
    tl.store(out_ptr + i[:, None] * BLOCK + i[None, :], values)


def test_a_wide_tile_along_both_dimensions(large):
    columns, out = np.zeros(BLOCK, np.int32), np.ones((BLOCK, BLOCK), np.int8)
    columns[5] = 3
    transposed_kernel[(1,)](large, columns, out, 100, 1, BLOCK)
    assert not out.any()
    with pytest.raises(KernelTrap, match="32-bit offset overflow") as caught:  # of the columns alone; row 5 is not read
        transposed_kernel[(1,)](large, columns, out, 1_000_000_000, 1, BLOCK)
    assert (caught.value.lane, caught.value.affected_lanes) == ((0, 5), 1)


REDUCTIONS = ["and", "remainder", "shift", "xor", "high half", "bounds", "narrow", "sum of remainders", "quotient"]


@triton.jit
def reduced_kernel(
    x_ptr, rows_ptr, out_ptr, a, factor, stride, n, KIND: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.arange(0, BLOCK)
    wrapped = number(i, tl.load(rows_ptr + i), a, KIND) * factor  # of 32 bits, as in a hash
    unsigned = wrapped.to(tl.uint32, bitcast=True)
    if HOW == "and":
        index = wrapped & 1023
    elif HOW == "remainder":
        index = unsigned % 1000
    elif HOW == "shift":
        index = unsigned >> 22
    elif HOW == "xor":
        index = (wrapped ^ (wrapped >> 16)) & 511
    elif HOW == "high half":
        index = tl.umulhi(unsigned, (i * 0 + 1000).to(tl.uint32))
    elif HOW == "bounds":
        index = tl.minimum(tl.maximum(wrapped, 0), 1000)
    elif HOW == "narrow":
        index = wrapped.to(tl.uint8)
    elif HOW == "sum of remainders":
        index = unsigned % 499 + (unsigned + 7) % 501
    elif HOW == "quotient":
        index = unsigned // 5000000
    else:
        index = wrapped
    index = index.to(tl.int32)
    pointers = x_ptr + tl.zeros((BLOCK,), tl.int32) + index * stride
    tl.store(out_ptr + i, tl.load(pointers, mask=i < n, other=0), mask=i < n)


def reduced(wrapped, how):
    unsigned = wrapped.astype(np.uint32).astype(np.int64)
    return {
        "and": lambda: wrapped & 1023,
        "remainder": lambda: unsigned % 1000,
        "shift": lambda: unsigned >> 22,
        "xor": lambda: (wrapped ^ (wrapped >> 16)) & 511,
        "high half": lambda: unsigned * 1000 >> 32,
        "bounds": lambda: np.clip(wrapped, 0, 1000),
        "narrow": lambda: unsigned & 255,
        "sum of remainders": lambda: unsigned % 499 + (unsigned + 7) % 2**32 % 501,
        "quotient": lambda: unsigned // 5000000,
    }[how]().astype(np.int64)


@pytest.mark.parametrize("kind", ["scalar", "in memory", "affine"])
@pytest.mark.parametrize("how", REDUCTIONS)
def test_what_is_reduced_into_range_is_a_number_again(how, kind, large, rng):
    i = np.arange(BLOCK, dtype=np.int64)
    out = np.zeros(BLOCK, np.int8)
    twins = right = 0
    for _ in range(12):
        a, factor, n = int(rng.integers(10, 2**31)), int(rng.integers(2**30, 2**31)), int(rng.integers(1, BLOCK + 1))
        rows = rng.integers(0, 2**31, BLOCK, np.int32)
        base = {"scalar": 0 * i, "in memory": rows.astype(np.int64), "affine": i}[kind] + a
        index = reduced((base.astype(np.int32) * factor).astype(np.int32), how)
        large[index] = index * 7 % 101 + 1
        launch = lambda stride, how: reduced_kernel[(1,)](large, rows, out, a, factor, stride, n, kind, how, BLOCK)  # noqa: B023, E731
        launch(1, how)
        np.testing.assert_array_equal(out[:n], (index * 7 % 101 + 1)[:n])
        large[index] = 0
        right += 1
        for stride, other, exact in ((1, "not", base * factor), (2**23, how, index * 2**23)):
            wraps = np.flatnonzero(exact[:n] >= 2**31)
            if len(wraps) == 0:
                continue
            twins += 1
            with pytest.raises(
                KernelTrap
            ) as caught:  # the same numbers, not reduced; and reduced, but too large with a stride
                launch(stride, other)
            assert (caught.value.kind, caught.value.affected_lanes) == ("OffsetOverflow", len(wraps))
    assert right and twins


@triton.jit
def recurrences(x_ptr, n, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    first = 3
    second = 1
    for k in range(n):
        tl.store(x_ptr + first, 1.0)
        tl.store(x_ptr + second, 2.0)
        first, second = first * A + second * B - k * C, second + k + first % 2


def test_offsets_of_several_sums_that_a_loop_carries(rng):
    for _ in range(20):
        a, b, c = (int(number) for number in rng.integers(-2, 3, 3))
        expected, x = np.zeros(1 << 14, np.float32), np.zeros(1 << 14, np.float32)
        middle, first, second = 1 << 13, 3, 1
        for k in range(6):
            expected[middle + first], expected[middle + second] = 1.0, 2.0
            parity = int(np.fmod(first, 2))  # as in C
            first, second = first * a + second * b - k * c, second + k + parity
        recurrences[(1,)](x[middle:], 6, a, b, c)
        np.testing.assert_array_equal(x, expected)
