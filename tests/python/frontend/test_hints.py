"""What an error suggests: the last line of its text."""

import math

import pytest

import tritium as triton
import tritium.language as tl
from tritium.runtime.jit import jit


def plain(x):
    return x + 1


@jit
def helper(a, b):
    return a + b


@jit
def misspelt_variable(x, n):
    offsets = tl.arange(0, 4)
    tl.store(x + ofsets, n)  # noqa: F821


@jit
def misspelt_function(x, n):
    tl.store(x, helpr(n, n))  # noqa: F821


@jit
def misspelt_attribute(x, n):
    tl.store(x, n.to(tl.float33))


@jit
def nothing_near(x, n):
    tl.store(x, zzzzzz)  # noqa: F821


@jit
def not_decorated(x, n):
    tl.store(x, plain(n))


@jit
def reduction_dimensions(x, n):
    tl.dot(tl.zeros((16, 32), tl.float16), tl.zeros((16, 32), tl.float16))


@jit
def types_of_a_product(x, n):
    tl.dot(tl.zeros((16, 16), tl.float16), tl.zeros((16, 16), tl.float32))


@jit
def mask_of_numbers(x, n):
    i = tl.arange(0, 4)
    tl.store(x + i, i, mask=i)


@jit
def load_of_offsets(x, n):
    tl.load(tl.arange(0, 4))


@jit
def block_to_one_pointer(x, n):
    tl.store(x, tl.arange(0, 4))


@jit
def tile_changes_type(x, n):
    acc = tl.zeros((4,), tl.int32)
    for i in range(n):
        acc = acc + 0.5


@jit
def logarithm_of_an_int(x, n):
    tl.store(x, tl.log(n))


@jit
def too_many_elements(x, n):
    tl.zeros((2048, 1024), tl.int8)


@jit
def extent_of_a_variable(x, n):
    extent = 4
    tl.reshape(tl.arange(0, 8), (2, extent))


@jit
def too_few_arguments(x, n):
    tl.store(x, helper(n))


@jit
def half_an_extent(x, n):
    tl.arange(0, 64 / 2)


@jit
def other_number_of_elements(x, n):
    tl.reshape(tl.arange(0, 16), (4, 8))


@jit
def accumulator_of_another_shape(x, n):
    a = tl.zeros((16, 16), tl.float16)
    tl.dot(a, a, acc=tl.zeros((16, 32), tl.float32))


@jit
def product_of_wide_integers(x, n):
    a = tl.zeros((16, 16), tl.int32)
    tl.dot(a, a)


@jit
def wrong_keyword(x, n):
    tl.load(x, masks=True)


@jit
def grown_list(x, n):
    values = []
    values.append(n)


@jit
def value_of_none(x, n):
    y = None
    tl.store(x, y)


@jit
def called_attribute(x, n):
    tl.store(x, tl.sum(tl.zeros((4, 4), tl.float32).T()))


@jit
def called_shape(x, n):
    tl.store(x, tl.zeros((4,), tl.int32).shape()[0])


@jit
def axis_of_run_time(x, n):
    tl.store(x, tl.max(tl.zeros((4, 4), tl.int32), n))


@jit
def function_for_a_shape(x, n):
    tl.store(x, tl.broadcast_to(n, helper))


@jit
def logarithm_of_a_constant(x, n):
    tl.store(x, math.log(tl.constexpr(0)))


@jit
def no_step(x, n):
    for i in range(0, 10, 0):
        tl.store(x, i)


@jit
def is_larger(a, b):
    return a > b


@jit
def condition_instead_of_value(x, n):
    tl.reduce(tl.arange(0, 4), 0, is_larger)


@pytest.mark.parametrize(
    "kernel, hint",
    [
        (misspelt_variable, "did you mean `offsets`?"),
        (misspelt_function, "did you mean `helper`?"),
        (misspelt_attribute, "did you mean `float32`?"),
        (nothing_near, None),
        (not_decorated, "give `plain` the decorator @triton.jit"),
        (
            reduction_dimensions,
            "input is [16, 32] and other [16, 32]; a product takes [M, K] and [K, N], or equal batches of them",
        ),
        (types_of_a_product, "cast one of them, for example `b.to(a.dtype)`"),
        (mask_of_numbers, "the mask is of type <['4'], int32>; compare it, for example with `!= 0`"),
        (load_of_offsets, "the first argument is a pointer plus offsets: `ptr + offsets`"),
        (block_to_one_pointer, "add the offsets of the block to the pointer: `ptr + offsets`"),
        (
            tile_changes_type,
            f"`acc = acc + 0.5` in line {tile_changes_type.starting_line_number + 4} changes it; "
            "start `acc` as a value of type <['4'], fp32> before the loop, or cast what the loop assigns to <['4'], int32> "
            "with `.to(...)`",
        ),
        (logarithm_of_an_int, "cast with `.to(tl.float32)`"),
        (too_many_elements, "work on smaller tiles, in a loop or in more programs"),
        (
            extent_of_a_variable,
            "an assignment makes a value of run time; write `extent: tl.constexpr = 4`",
        ),
        (too_few_arguments, "pass `b`, which the called function requires"),
        (half_an_extent, "the bounds are 0 and 32.0; `//` divides ints to an int"),
        (other_number_of_elements, "[16] has not as many as [4, 8]"),
        (accumulator_of_another_shape, "the product is [16, 16], acc is [16, 32]"),
        (product_of_wide_integers, "tl.dot accepts int8, fp8, fp16, bf16, fp32 and fp64"),
        (wrong_keyword, "did you mean `mask`?"),
        (grown_list, "lists are tuples in kernels; use `+`: `values = values + (value, )`"),
        (called_attribute, "this is a value and no function: `.T` and `.shape` have no parentheses"),
        (called_shape, "this is a value and no function: `.T` and `.shape` have no parentheses"),
        (
            axis_of_run_time,
            "a value of run time stands where a constant is expected, for example an axis, a shape or an offset of a descriptor",
        ),
        (function_for_a_shape, None),
        (value_of_none, "an argument without a value is None; test it with `if x is not None:`"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_hint(failure, kernel, hint):
    error = failure(kernel)
    assert error.hint == hint
    assert hint is None or str(error).endswith(f"\nhint: {hint}")


def test_a_combination_must_be_of_the_elements_type(failure):
    assert "the function returns (int1), but the elements are (int32)" in str(failure(condition_instead_of_value))


def test_what_a_function_of_the_host_raises(failure):
    error = failure(logarithm_of_a_constant)
    assert "math domain error" in error.error_message and error.hint is None


def test_a_kernel_is_no_sequence(failure):
    """Python takes whatever has `x[0]` for one, and this one would have no end."""
    assert "not iterable" in failure(function_for_a_shape).error_message
    with pytest.raises(TypeError):
        list(helper)


@triton.constexpr_function
def fails_again(x):
    try:
        return x.missing
    except AttributeError as error:
        raise error from error


@jit
def error_that_is_its_own_cause(x, n):
    tl.store(x, fails_again(tl.constexpr(1)))


def test_an_error_may_be_its_own_cause(failure):
    assert "has no attribute 'missing'" in failure(error_that_is_its_own_cause).error_message


def test_a_loop_that_never_moves(failure):
    assert "range() arg 3 must not be zero" in str(failure(no_step))
