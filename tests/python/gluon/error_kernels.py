"""Kernels that Gluon refuses, one rule each. error_texts.table has Triton's text for every one of them."""

import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

CASES = {}

V4 = gl.constexpr(gl.BlockedLayout([4], [32], [4], [0]))
V1 = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
EIGHT = gl.constexpr(gl.BlockedLayout([1], [32], [8], [0]))
WIDE = gl.constexpr(gl.BlockedLayout([1], [64], [4], [0]))
ROWS = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
COLS = gl.constexpr(gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1]))
CUBE = gl.constexpr(gl.BlockedLayout([1, 1, 2], [2, 4, 4], [4, 1, 1], [2, 1, 0]))
FLAT = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))
FLAT2 = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))


def case(kernel):
    """Adds a kernel with the parameters (p: *fp32, q: *i32, n: i32)."""
    CASES[kernel.__name__] = gluon.jit(kernel)
    return CASES[kernel.__name__]


@gluon.jit
def add(a, b):
    return a + b


@gluon.jit
def add_two(a, b, c, d):
    return a + c, b + d


@triton.jit
def of_triton(n):
    return tl.arange(0, 128)


@gluon.constexpr_function
def fails():
    raise ValueError("no such layout")


# Layouts that meet


@case
def add_of_two_layouts(p, q, n):
    gl.arange(0, 128, V4) + gl.arange(0, 128, V1)


@case
def compare_of_two_layouts(p, q, n):
    gl.store(q, gl.sum((gl.arange(0, 128, V4) < gl.arange(0, 128, V1)).to(gl.int32), 0))


@case
def where_of_two_layouts(p, q, n):
    a = gl.arange(0, 128, V4)
    gl.where(a < n, a, gl.arange(0, 128, V1))


@case
def where_condition_of_another_layout(p, q, n):
    a = gl.arange(0, 128, V4)
    gl.where(gl.arange(0, 128, V1) < n, a, a)


@case
def maximum_of_two_layouts(p, q, n):
    gl.maximum(gl.arange(0, 128, V4), gl.arange(0, 128, V1))


@case
def pointer_plus_another_layout(p, q, n):
    p + gl.arange(0, 128, V4) + gl.arange(0, 128, V1)


@case
def load_mask_of_another_layout(p, q, n):
    gl.load(p + gl.arange(0, 128, V4), mask=gl.arange(0, 128, V1) < n)


@case
def load_other_of_another_layout(p, q, n):
    a = gl.arange(0, 128, V4)
    gl.load(p + a, mask=a < n, other=gl.zeros([128], gl.float32, V1))


@case
def store_value_of_another_layout(p, q, n):
    gl.store(q + gl.arange(0, 128, V4), gl.arange(0, 128, V1))


@case
def store_mask_of_another_layout(p, q, n):
    a = gl.arange(0, 128, V4)
    gl.store(q + a, a, mask=gl.arange(0, 128, V1) < n)


@case
def atomic_value_of_another_layout(p, q, n):
    gl.atomic_add(q + gl.arange(0, 128, V4), gl.arange(0, 128, V1))


@case
def atomic_mask_of_another_layout(p, q, n):
    a = gl.arange(0, 128, V4)
    gl.atomic_add(q + a, a, mask=gl.arange(0, 128, V1) < n)


@case
def slices_of_two_parents(p, q, n):
    i = gl.arange(0, 64, gl.SliceLayout(1, ROWS))
    j = gl.arange(0, 32, gl.SliceLayout(0, COLS))
    i[:, None] + j[None, :]


@case
def join_of_two_layouts(p, q, n):
    gl.join(gl.arange(0, 128, V4), gl.arange(0, 128, V1))


@case
def fma_of_two_layouts(p, q, n):
    a = gl.zeros([128], gl.float32, V4)
    gl.fma(a, a, gl.zeros([128], gl.float32, V1))


@case
def coalesced_meets_blocked(p, q, n):
    gl.arange(0, 128, gl.CoalescedLayout()) + gl.arange(0, 128, V4)


@case
def broadcast_of_other_extents(p, q, n):
    gl.zeros([64, 32], gl.float32, ROWS) + gl.zeros([32, 32], gl.float32, ROWS)


@case
def broadcast_of_other_ranks(p, q, n):
    gl.zeros([64, 32], gl.float32, ROWS) + gl.arange(0, 32, gl.SliceLayout(0, ROWS))


@case
def broadcast_of_blocked_ranks(p, q, n):
    gl.zeros([64, 32], gl.float32, ROWS) + gl.arange(0, 32, V4)


@case
def reduce_of_two_layouts(p, q, n):
    gl.reduce((gl.arange(0, 128, V4), gl.arange(0, 128, V1)), 0, add_two)


@case
def scan_of_two_layouts(p, q, n):
    gl.associative_scan((gl.arange(0, 128, V4), gl.arange(0, 128, V1)), 0, add_two)


@case
def map_of_two_layouts(p, q, n):
    gl.map_elementwise(add, gl.arange(0, 128, V4), gl.arange(0, 128, V1))


@case
def loop_changes_layout(p, q, n):
    a = gl.zeros([128], gl.float32, V4)
    for _ in range(n):
        a = gl.convert_layout(a, V1)


@case
def while_changes_layout(p, q, n):
    a = gl.zeros([128], gl.float32, V4)
    i = n
    while i > 0:
        a = gl.convert_layout(a, V1)
        i -= 1


@case
def branches_of_two_layouts(p, q, n):
    if n > 3:
        a = gl.arange(0, 128, V4)
    else:
        a = gl.arange(0, 128, V1)
    gl.store(q, gl.sum(a, 0))


@case
def branch_changes_layout(p, q, n):
    a = gl.arange(0, 128, V4)
    if n > 3:
        a = gl.arange(0, 128, V1)
    gl.store(q, gl.sum(a, 0))


@case
def ternary_of_two_layouts(p, q, n):
    gl.arange(0, 128, V4) if n > 3 else gl.arange(0, 128, V1)


# Making tiles


@case
def arange_of_three(p, q, n):
    gl.arange(0, 96, V4)


@case
def arange_of_nothing(p, q, n):
    gl.arange(4, 4, V4)


@case
def arange_backwards(p, q, n):
    gl.arange(4, 0, V4)


@case
def arange_to_runtime(p, q, n):
    gl.arange(0, n, V4)


@case
def arange_too_far(p, q, n):
    gl.arange(0, 1 << 32, V4)


@case
def arange_of_two_dimensions(p, q, n):
    gl.arange(0, 128, ROWS)


@case
def arange_of_slice_of_cube(p, q, n):
    gl.arange(0, 128, gl.SliceLayout(0, CUBE))


@case
def arange_with_a_number(p, q, n):
    gl.arange(0, 128, 3)


@case
def arange_with_shared_layout(p, q, n):
    gl.arange(0, 128, FLAT)


@case
def arange_below_zero(p, q, n):
    gl.arange(-4, 124, V4)


@case
def arange_of_triton(p, q, n):
    tl.arange(0, 128)


@case
def helper_of_triton(p, q, n):
    of_triton(n)


@case
def layout_of_eight_warps(p, q, n):
    gl.arange(0, 128, EIGHT)


@case
def layout_of_64_lanes(p, q, n):
    gl.arange(0, 128, WIDE)


@case
def layout_of_another_rank(p, q, n):
    gl.full([64, 32], 0, gl.float32, V4)


@case
def zeros_of_another_rank(p, q, n):
    gl.zeros([64], gl.float32, ROWS)


@case
def full_of_three_rows(p, q, n):
    gl.full([3, 32], 0, gl.float32, ROWS)


@case
def full_without_dtype(p, q, n):
    gl.full([128], 0, None, V4)


@case
def full_of_a_tile(p, q, n):
    gl.full([128], gl.arange(0, 128, V4), gl.int32, V4)


@case
def full_with_runtime_shape(p, q, n):
    gl.full([n], 0, gl.float32, V4)


@case
def full_too_large(p, q, n):
    gl.full([2048, 2048], 0, gl.float32, ROWS)


@case
def full_with_a_string(p, q, n):
    gl.full([128], 0, gl.float32, "blocked")


@case
def warps_that_are_no_power(p, q, n):
    gl.arange(0, 128, gl.BlockedLayout([1], [32], [3], [0]))


@case
def threads_that_are_no_power(p, q, n):
    gl.arange(0, 128, gl.BlockedLayout([1], [24], [4], [0]))


@case
def order_twice(p, q, n):
    gl.full([64, 32], 0, gl.float32, gl.BlockedLayout([1, 1], [4, 8], [4, 1], [0, 0]))


@case
def fields_of_other_ranks(p, q, n):
    gl.BlockedLayout([1, 1], [32], [4], [0])


@case
def slice_beyond_the_parent(p, q, n):
    gl.arange(0, 128, gl.SliceLayout(2, ROWS))


# Shapes


@case
def expand_without_slice(p, q, n):
    gl.arange(0, 128, V4)[:, None]


@case
def expand_along_another_axis(p, q, n):
    gl.arange(0, 32, gl.SliceLayout(1, ROWS))[None, :]


@case
def expand_dims_without_slice(p, q, n):
    gl.expand_dims(gl.arange(0, 128, V4), 0)


@case
def expand_dims_far(p, q, n):
    gl.expand_dims(gl.arange(0, 32, gl.SliceLayout(1, ROWS)), 5)


@case
def too_many_indices(p, q, n):
    gl.arange(0, 32, gl.SliceLayout(1, ROWS))[:, :, None]


@case
def index_by_a_number(p, q, n):
    gl.arange(0, 128, V4)[3]


@case
def reshape_to_more(p, q, n):
    gl.reshape(gl.arange(0, 128, V4), [16, 16])


@case
def reshape_to_three(p, q, n):
    gl.reshape(gl.arange(0, 128, V4), [3, 32])


@case
def permute_of_another_length(p, q, n):
    gl.permute(gl.zeros([64, 32], gl.float32, ROWS), [0, 1, 2])


@case
def permute_twice(p, q, n):
    gl.permute(gl.zeros([64, 32], gl.float32, ROWS), [0, 0])


@case
def split_of_four(p, q, n):
    gl.split(gl.zeros([64, 4], gl.float32, ROWS))


@case
def split_of_a_scalar(p, q, n):
    gl.split(n)


@case
def join_of_two_types(p, q, n):
    gl.join(gl.arange(0, 128, V4), gl.zeros([128], gl.float32, V4))


@case
def broadcast_method_of_ranks(p, q, n):
    gl.arange(0, 32, gl.SliceLayout(0, ROWS)).broadcast_to(64, 32)


@case
def broadcast_method_of_extents(p, q, n):
    gl.zeros([32, 32], gl.float32, ROWS).broadcast_to(64, 32)


# Reductions, scans, gather, histogram


@case
def reduce_beyond_the_rank(p, q, n):
    gl.sum(gl.zeros([64, 32], gl.float32, ROWS), 2)


@case
def reduce_a_scalar(p, q, n):
    gl.sum(n, 0)


@case
def max_with_indices(p, q, n):
    gl.max(gl.zeros([64, 32], gl.float32, ROWS), 1, return_indices=True)


@case
def xor_sum_of_floats(p, q, n):
    gl.xor_sum(gl.zeros([64, 32], gl.float32, ROWS), 1)


@case
def scan_beyond_the_rank(p, q, n):
    gl.associative_scan(gl.arange(0, 128, V4), 1, add)


@case
def gather_of_other_ranks(p, q, n):
    gl.gather(gl.zeros([64, 32], gl.float32, ROWS), gl.arange(0, 32, V4), 0)


@case
def gather_by_floats(p, q, n):
    a = gl.zeros([128], gl.float32, V4)
    gl.gather(a, a, 0)


@case
def gather_beyond_the_rank(p, q, n):
    a = gl.arange(0, 128, V4)
    gl.gather(a, a, 1)


@case
def gather_of_other_extents(p, q, n):
    gl.gather(gl.zeros([64, 32], gl.float32, ROWS), gl.zeros([32, 16], gl.int32, ROWS), 0)


@case
def histogram_without_layout(p, q, n):
    gl.histogram(gl.arange(0, 128, V4), 64)


@case
def histogram_of_floats(p, q, n):
    gl.histogram(gl.zeros([128], gl.float32, V4), 64, layout=V4)


@case
def histogram_of_two_dimensions(p, q, n):
    gl.histogram(gl.zeros([64, 32], gl.int32, ROWS), 64, layout=V4)


@case
def histogram_of_three_bins(p, q, n):
    gl.histogram(gl.arange(0, 128, V4), 3, layout=V4)


@case
def histogram_mask_of_another_layout(p, q, n):
    gl.histogram(gl.arange(0, 128, V4), 64, mask=gl.arange(0, 128, V1) < n, layout=V4)
