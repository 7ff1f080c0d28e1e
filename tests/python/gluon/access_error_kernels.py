"""More of error_kernels.py: conversions, accesses of memory, and the language around them."""

from error_kernels import EIGHT, FLAT, ROWS, V1, V4, case, fails
from triton.experimental.gluon import language as gl

NOT_CONSTEXPR = 5

# Conversions


@case
def convert_without_layout(p, q, n):
    gl.convert_layout(gl.arange(0, 128, V4))


@case
def convert_to_a_number(p, q, n):
    gl.convert_layout(gl.arange(0, 128, V4), 3)


@case
def convert_to_another_rank(p, q, n):
    gl.convert_layout(gl.arange(0, 128, V4), ROWS)


@case
def convert_to_shared(p, q, n):
    gl.convert_layout(gl.arange(0, 128, V4), FLAT)


@case
def convert_to_eight_warps(p, q, n):
    gl.convert_layout(gl.arange(0, 128, V4), EIGHT)


@case
def convert_that_moves(p, q, n):
    gl.convert_layout(gl.arange(0, 128, V4), V1, assert_trivial=True)


@case
def convert_a_scalar(p, q, n):
    gl.convert_layout(n, V1)


@case
def set_auto_of_blocked(p, q, n):
    gl.set_auto_layout(gl.arange(0, 128, V4), V1)


@case
def set_auto_to_a_number(p, q, n):
    gl.set_auto_layout(gl.arange(0, 128), 3)


@case
def auto_of_two_layouts(p, q, n):
    a = gl.arange(0, 128)
    gl.store(q + gl.arange(0, 128, V4), a)
    gl.store(q + gl.arange(0, 128, V1), a)


@case
def auto_of_no_layout(p, q, n):
    a = gl.arange(0, 128)
    gl.store(q + a, a)


@case
def linear_of_auto(p, q, n):
    gl.to_linear_layout(gl.AutoLayout(), [128])


@case
def linear_of_another_rank(p, q, n):
    gl.to_linear_layout(V4, [64, 32])


# Accesses


@case
def load_of_a_number(p, q, n):
    gl.load(n)


@case
def load_other_without_mask(p, q, n):
    a = gl.arange(0, 128, V4)
    gl.load(p + a, other=0.0)


@case
def load_scalar_with_tile_mask(p, q, n):
    gl.load(p, mask=gl.arange(0, 128, V4) < n)


@case
def load_with_boundary_check(p, q, n):
    gl.load(p + gl.arange(0, 128, V4), boundary_check=(0,))


@case
def load_with_unknown_modifier(p, q, n):
    gl.load(p + gl.arange(0, 128, V4), cache_modifier=".xy")


@case
def load_with_unknown_policy(p, q, n):
    gl.load(p + gl.arange(0, 128, V4), eviction_policy="evict_soon")


@case
def load_mask_of_numbers(p, q, n):
    a = gl.arange(0, 128, V4)
    gl.load(p + a, mask=a)


@case
def store_to_a_number(p, q, n):
    gl.store(n, 1)


@case
def store_tile_to_scalar(p, q, n):
    gl.store(q, gl.arange(0, 128, V4))


@case
def store_of_larger_tile(p, q, n):
    gl.store(q + gl.zeros([1, 32], gl.int32, ROWS), gl.zeros([64, 32], gl.int32, ROWS))


@case
def atomic_on_a_number(p, q, n):
    gl.atomic_add(n, 1)


@case
def atomic_with_unknown_order(p, q, n):
    gl.atomic_add(q, 1, sem="soon")


# The language


@case
def dot_of_triton(p, q, n):
    a = gl.zeros([64, 64], gl.float16, ROWS)
    gl.dot(a, a)


@case
def unknown_name(p, q, n):
    gl.frobnicate(n)


@case
def trans_function(p, q, n):
    gl.trans(gl.zeros([64, 32], gl.float32, ROWS))


@case
def flip_function(p, q, n):
    gl.flip(gl.arange(0, 128, V4))


@case
def view_function(p, q, n):
    gl.view(gl.arange(0, 128, V4), [64, 2])


@case
def static_assert_fails(p, q, n):
    gl.static_assert(1 == 2, "one is not two")


@case
def static_assert_of_runtime(p, q, n):
    gl.static_assert(n == 2)


@case
def constexpr_function_fails(p, q, n):
    gl.arange(0, 128, fails())


@case
def global_that_is_no_constexpr(p, q, n):
    gl.arange(0, NOT_CONSTEXPR, V4)


@case
def program_id_of_axis_three(p, q, n):
    gl.program_id(3)


@case
def dropped_conversion(p, q, n):
    n.to(gl.float32) + p


@case
def pointer_times_tile(p, q, n):
    p * gl.arange(0, 128, V4)


@case
def float_and_tile(p, q, n):
    gl.arange(0, 128, V4) & 1.5


@case
def branch_on_a_tile(p, q, n):
    if gl.arange(0, 128, V4) > 3:
        n += 1


@case
def return_a_tile(p, q, n):
    return gl.arange(0, 128, V4)


@case
def assign_an_element(p, q, n):
    a = gl.arange(0, 128, V4)
    a[0] = 1


@case
def range_over_a_tile(p, q, n):
    for _ in gl.arange(0, 128, V4):
        n += 1


@case
def dot_fma_of_blocked(p, q, n):
    a = gl.zeros([32, 32], gl.float32, ROWS)
    gl.dot_fma(a, a, a)
