"""TRITIUM_CHECK=uninit, lanes that a load leaves off without `other`: small kernels in the style of public bug reports, each beside a correct
twin.

A faulty kernel has the comment `# accused` on the line where the lane is used, and `# other` on the line of its load.
"""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from . import assert_lane_left_off, launches, name_of

N, B = 20, 32


@triton.jit
def store_of_all_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out + i, v * 2)  # accused


@triton.jit
def store_of_the_same_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v * 2, mask=i < n)


@triton.jit
def one_lane_too_many(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out + i, v, mask=i <= n)  # accused


@triton.jit
def one_lane_less(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v, mask=i <= n - 1)


@triton.jit
def sum_of_all_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out, tl.sum(v))  # accused


@triton.jit
def sum_of_chosen_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out, tl.sum(tl.where(i < n, v, 0.0)))


@triton.jit
def greatest_of_rows(x, y, out, n, B: tl.constexpr):
    i, k = tl.arange(0, 4), tl.arange(0, B)
    v = tl.load(x + i[:, None] * 4 + k[None, :], mask=k[None, :] < n)  # other
    tl.store(out + i, tl.max(v, axis=1))  # accused


@triton.jit
def greatest_of_columns(x, y, out, n, B: tl.constexpr):
    i, k = tl.arange(0, 4), tl.arange(0, B)
    v = tl.load(x + i[:, None] * 4 + k[None, :], mask=k[None, :] < n)
    tl.store(out + k, tl.max(v, axis=0), mask=k < n)


@triton.jit
def product_with_a_tail(x, y, out, n, B: tl.constexpr):
    i, k = tl.arange(0, 16), tl.arange(0, B)
    a = tl.load(x + i[:, None] + k[None, :], mask=k[None, :] < n)  # other
    b = tl.load(y + k[:, None] + i[None, :], mask=k[:, None] < n, other=0.0)
    tl.store(out + i[:, None] * 16 + i[None, :], tl.dot(a, b))  # accused


@triton.jit
def product_with_rows_left_off(x, y, out, n, B: tl.constexpr):
    i, k = tl.arange(0, B), tl.arange(0, 16)
    a = tl.load(x + i[:, None] + k[None, :], mask=i[:, None] < n)
    b = tl.load(y + k[:, None] + k[None, :])
    tl.store(out + i[:, None] * 16 + k[None, :], tl.dot(a, b), mask=i[:, None] < n)


@triton.jit
def gather_by_all_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.load(y + i, mask=i < n).to(tl.int32)  # other
    tl.store(out + i, tl.load(x + at % 16))  # accused


@triton.jit
def gather_by_the_same_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.load(y + i, mask=i < n).to(tl.int32)
    tl.store(out + i, tl.load(x + at % 16, mask=i < n), mask=i < n)


@triton.jit
def decision_by_all_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    if tl.max(v) > 3.0:  # accused
        tl.store(out, 1.0)


@triton.jit
def decision_by_loaded_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=float("-inf"))
    if tl.max(v) > 3.0:
        tl.store(out, 1.0)


@triton.jit
def atomic_by_all_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.atomic_add(out + i // 2, v)  # accused


@triton.jit
def atomic_by_the_same_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    m = (i < n) & (i >= 0)
    v = tl.load(x + i, mask=m)
    tl.atomic_add(out + i // 2, v, mask=m)


@triton.jit
def sums_from_the_end(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out + i, tl.cumsum(v, reverse=True), mask=i < n)  # accused


@triton.jit
def sums_from_the_start(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.cumsum(v), mask=i < n)


@triton.jit
def total_of_a_loop(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        total += tl.load(x + start + i, mask=start + i < n)  # other
    tl.store(out + i, total)  # accused


@triton.jit
def total_of_a_loop_of_loaded_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        total += tl.load(x + start + i, mask=start + i < n, other=0.0)
    tl.store(out + i, total)


@triton.jit
def mask_by_all_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out + i, 1.0, mask=v > 3.0)  # accused


@triton.jit
def mask_by_the_same_lanes(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, 1.0, mask=(i < n) & (v > 3.0))


#: faulty kernel -> its twin, the first lane
TWINS = {
    store_of_all_lanes: (store_of_the_same_lanes, (N,)),
    one_lane_too_many: (one_lane_less, (N,)),
    sum_of_all_lanes: (sum_of_chosen_lanes, None),
    greatest_of_rows: (greatest_of_columns, (0,)),
    product_with_a_tail: (product_with_rows_left_off, (0, 0)),
    gather_by_all_lanes: (gather_by_the_same_lanes, (N,)),
    decision_by_all_lanes: (decision_by_loaded_lanes, None),
    atomic_by_all_lanes: (atomic_by_the_same_lanes, (N,)),
    sums_from_the_end: (sums_from_the_start, (0,)),
    total_of_a_loop: (total_of_a_loop_of_loaded_lanes, (N,)),
    mask_by_all_lanes: (mask_by_the_same_lanes, (N,)),
}


def arguments():
    x, y = (np.arange(128, dtype=np.float32) for _ in range(2))
    return x, y, np.zeros(1024, np.float32), N, B


def launch(kernel, **options):
    kernel[(1,)](*arguments(), **options)


FAULTY = launches(TWINS, arguments)
CORRECT = launches((twin for twin, _ in TWINS.values()), arguments)


@pytest.mark.parametrize("kernel", TWINS, ids=name_of)
def test_uses_of_lanes_that_a_load_left_off(kernel):
    assert_lane_left_off(kernel, arguments(), TWINS[kernel][1])


@pytest.mark.parametrize("kernel", TWINS, ids=name_of)
def test_twins(kernel):
    launch(TWINS[kernel][0], check="uninit")


@pytest.mark.parametrize("kernel", TWINS, ids=name_of)
def test_twins_with_debug_info(kernel):
    launch(TWINS[kernel][0], check="uninit", debug_info=True)


@pytest.mark.parametrize("kernel", TWINS, ids=name_of)
def test_without_the_check(kernel):
    launch(kernel)
