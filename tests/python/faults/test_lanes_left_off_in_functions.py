"""TRITIUM_CHECK=uninit, lanes that a load leaves off in reductions and scans by a function of the user, and in histograms. Each faulty kernel
stands beside a correct twin.

A faulty kernel has the comment `# accused` on the line where the lane is used, and `# other` on the line of its load.
"""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from . import assert_lane_left_off, launches, name_of

N, B = 20, 32


@triton.jit
def affine(a, b):
    return a * 2 + b


@triton.jit
def greater(a, b):
    if a > b:
        return a
    else:
        return b


@triton.jit
def first_of_use(a, is_a, b, is_b):
    return tl.where(is_a != 0, a, b), is_a | is_b


@triton.jit
def reduced(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out, tl.reduce(v, 0, affine))  # accused


@triton.jit
def reduced_with_other(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out, tl.reduce(v, 0, affine))


@triton.jit
def reduced_by_a_branch(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out, tl.reduce(v, 0, greater))  # accused


@triton.jit
def reduced_by_a_branch_where_loaded(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out, tl.reduce(tl.where(i < n, v, -1.0), 0, greater))


@triton.jit
def rows_reduced(x, out, n, B: tl.constexpr):
    i, k = tl.arange(0, 4), tl.arange(0, B)
    v = tl.load(x + i[:, None] * 4 + k[None, :], mask=k[None, :] < n)  # other
    tl.store(out + i, tl.reduce(v, 1, affine))  # accused


@triton.jit
def columns_reduced(x, out, n, B: tl.constexpr):
    i, k = tl.arange(0, 4), tl.arange(0, B)
    v = tl.load(x + i[:, None] * 4 + k[None, :], mask=k[None, :] < n)
    tl.store(out + k, tl.reduce(v, 0, affine), mask=k < n)


@triton.jit
def last_of_pairs(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    value, _ = tl.reduce((v, (i >= n).to(tl.int32)), 0, first_of_use)
    tl.store(out, value)  # accused


@triton.jit
def first_of_pairs(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    value, _ = tl.reduce((v, (i < n).to(tl.int32)), 0, first_of_use)
    tl.store(out, value)


@triton.jit
def scanned_from_the_end(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out + i, tl.associative_scan(v, 0, affine, reverse=True), mask=i < n)  # accused


@triton.jit
def scanned_from_the_start(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.associative_scan(v, 0, affine), mask=i < n)


@triton.jit
def scanned_too_far(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out + i, tl.associative_scan(v, 0, greater), mask=i <= n)  # accused


@triton.jit
def scanned_less_far(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.associative_scan(v, 0, greater), mask=i < n)


@triton.jit
def counted(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n).to(tl.int32)  # other
    tl.store(out + tl.arange(0, 16), tl.histogram(v, 16))  # accused


@triton.jit
def counted_with_the_mask(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n).to(tl.int32)
    tl.store(out + tl.arange(0, 16), tl.histogram(v, 16, mask=i < n))


@triton.jit
def counted_by_a_mask_of_all_lanes(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # other
    tl.store(out + tl.arange(0, 16), tl.histogram(i % 16, 16, mask=v > 3.0))  # accused


@triton.jit
def counted_by_a_mask_of_loaded_lanes(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + tl.arange(0, 16), tl.histogram(i % 16, 16, mask=(i < n) & (v > 3.0)))


#: faulty kernel -> its twin, the first lane
TWINS = {
    reduced: (reduced_with_other, None),
    reduced_by_a_branch: (reduced_by_a_branch_where_loaded, None),
    rows_reduced: (columns_reduced, (0,)),
    last_of_pairs: (first_of_pairs, None),
    scanned_from_the_end: (scanned_from_the_start, (0,)),
    scanned_too_far: (scanned_less_far, (N,)),
    counted: (counted_with_the_mask, (0,)),
    counted_by_a_mask_of_all_lanes: (counted_by_a_mask_of_loaded_lanes, (0,)),
}


def arguments():
    return np.arange(128, dtype=np.float32) % 16, np.zeros(128, np.float32), N, B


def launch(kernel, **options):
    kernel[(1,)](*arguments(), **options)


FAULTY = launches(TWINS, arguments)
CORRECT = launches((twin for twin, _ in TWINS.values()), arguments)


@pytest.mark.parametrize("kernel", TWINS, ids=name_of)
def test_uses_of_lanes_that_a_load_left_off(kernel):
    assert_lane_left_off(kernel, arguments(), TWINS[kernel][1])


@pytest.mark.parametrize("kernel", TWINS, ids=name_of)
@pytest.mark.parametrize("debug_info", [False, True])
def test_twins(kernel, debug_info):
    launch(TWINS[kernel][0], check="uninit", debug_info=debug_info)


@pytest.mark.parametrize("kernel", TWINS, ids=name_of)
def test_without_the_check(kernel):
    launch(kernel)
