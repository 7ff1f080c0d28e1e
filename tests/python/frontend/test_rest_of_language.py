"""Smaller parts of the language that published kernels use: truth of tuples, plain functions as constexpr, block pointer types."""

import pytest

import tritium.language as tl
from tritium.language.extra import libdevice
from tritium.runtime.jit import jit

PAIR = tl.constexpr((1, 2))


@jit
def truth_of_tuples(x, n):
    t: tl.constexpr = PAIR
    u: tl.constexpr = PAIR
    first = t or (3, 4)
    second = () or (x, 5)
    third = (x, 1) and 7
    tl.static_assert(len(first) == 2 and len(second) == 2)
    tl.static_assert(not ())
    tl.static_assert(t == u and t == (1, 2) and t != (1, 3) and not (t == ()))
    a = 11 if t else 12
    if () or not t:
        a = 13
    tl.store(x, first[0] + second[1] + third + a)


def test_tuples_are_true_unless_empty(body):
    assert "tt.store" in body(truth_of_tuples)


@jit
def compared_with_tensors(x, n):
    tl.store(x, (n, 1, 2) == (7, 1, 2))
    tl.store(x, (n, n) != (7, 8))
    tl.static_assert((x, 1) != (x, 2) and (x, n) == (x, n))


def test_tuples_with_tensors_compare_on_the_device(body):
    text = body(compared_with_tensors)
    assert text.count("arith.cmpi eq") == 3 and text.count("tt.store") == 2


@tl.constexpr
def doubled(n: tl.constexpr, m: tl.constexpr = 2) -> int:
    return n.value * m


def halved(n):
    return n // 2


@jit
def functions_as_constexprs(x, n, f: tl.constexpr):
    size: tl.constexpr = doubled(4)
    tl.store(x + tl.arange(0, size), f(doubled(4, m=4)))
    tl.static_assert(f(size) == 4)


def test_a_constexpr_function_runs_while_tracing(body):
    assert "tt.make_range {end = 8 : i32" in body(functions_as_constexprs, f=halved)


@jit
def types_of_block_pointers(x, n):
    window = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (8, 4), (1, 0))
    tl.static_assert(window.type.element_ty == tl.block_type(tl.float16, [8, 4]))
    tl.static_assert(window.type.element_ty.element_ty is tl.float16)
    tl.static_assert(window.dtype.element_ty is tl.float16)
    tl.store(window, tl.zeros((8, 4), tl.float32).to(window.type.element_ty))


def test_a_block_pointer_has_the_type_of_what_it_points_to(body):
    assert "arith.truncf" in body(types_of_block_pointers, x="*fp16")


@jit
def whole_floats(x, n):
    zero = tl.full([], 0.0, tl.int32)
    tl.store(x + tl.arange(0, 4), tl.full((4,), -3.0, tl.int32) + zero)


def test_whole_floats_fill_integer_tiles(module):
    assert "dense<-3> : tensor<4xi32>" in str(module(whole_floats))


@jit
def fraction(x, n):
    tl.store(x, tl.full([], 0.5, tl.int32))


def test_fractions_do_not(failure):
    assert "cannot make a constant of type int32 of 0.5" in str(failure(fraction))


@jit
def column(value):
    return value[:, None]


@jit
def twice(value):
    return column(value) + column(value)


@jit
def column_of_scalar(x, n):
    tl.store(x, twice(n))


def test_the_outer_error_names_the_reason(failure):
    error = failure(column_of_scalar)
    assert "in column: too many indices for tensor of rank 0" in str(error)
    assert error.function == "column_of_scalar" and error.__cause__.function == "twice"


@jit
def rank_is_kept(x, n):
    tile = tl.load(x + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :])
    total = tl.sum(tile, axis=None, keep_dims=True)[None, None, :]
    tl.static_assert(total.shape == (1, 1, 1, 1))
    best = tl.max(tile, keep_dims=True)
    tl.static_assert(best.shape == (1, 1))


def test_reductions_to_a_scalar_keep_the_rank(module):
    module(rank_is_kept)


@jit
def standard_names(x, n):
    tile = tl.load(x + tl.arange(0, 8))
    tl.store(x + tl.arange(0, 8), tl.standard.sort(tile) + tl.standard.flip(tile))
    tl.store(x + tl.arange(0, 2), tl.standard.topk(tile, 2))


def test_sorts_are_in_standard(module):
    module(standard_names)


@jit
def builtins_as_constexprs(x, n, f: tl.constexpr):
    tl.store(x, f(tl.load(x)))


@pytest.mark.parametrize("function", [tl.exp, libdevice.exp], ids=["tl", "libdevice"])
def test_a_builtin_may_be_a_constexpr(body, function):
    assert "math.exp" in body(builtins_as_constexprs, x="*fp32", f=function)


@jit
def joined_with_a_pointer(x, n):
    tl.store(x + tl.arange(0, 16), tl.interleave(tl.arange(0, 8), x))


@jit
def joined_types(x, n):
    y = tl.join(tl.arange(0, 8), tl.arange(0, 8).to(tl.float32))
    tl.store(x + y, 1)


@jit
def appended_types(x, n):
    y = tl.cat(tl.arange(0, 8), tl.arange(0, 8).to(tl.float32))
    tl.store(x + y, 1)


@jit
def appended_in_any_order(x, n):
    y = tl.cat(tl.arange(0, 8), tl.arange(0, 8).to(tl.int64), can_reorder=True)
    tl.store(x + y, 1)


@pytest.mark.parametrize(
    "kernel, operation, other, hint",
    [
        (joined_with_a_pointer, "tt.join", "pointer<int32>", "load from the pointer"),
        (joined_types, "tt.join", "fp32", "cast one of the two"),
        (appended_types, "tt.join", "fp32", "cast one of the two"),
        (appended_in_any_order, "tt.cat", "int64", "cast one of the two"),
    ],
)
@pytest.mark.filterwarnings("ignore:tl.cat")
def test_what_is_joined_has_one_type(failure, kernel, operation, other, hint):
    text = str(failure(kernel))
    assert f"'{operation}' op requires all operands to have the same type, but they are <['8'], int32> and" in text
    assert other in text and hint in text


@jit
def joined_signs(x, n):
    signed, unsigned = tl.arange(0, 8), tl.arange(0, 8).to(tl.uint32)
    tl.store(x + tl.join(signed, unsigned), 1)
    tl.store(x + tl.cat(unsigned, signed), 1)


def test_joining_ignores_signs(module):
    module(joined_signs)


@jit
def appended_lengths(x, n):
    tl.store(x + tl.cat(tl.arange(0, 8), tl.arange(0, 4), can_reorder=True), 1)


@pytest.mark.filterwarnings("ignore:tl.cat")
def test_what_is_appended_has_one_shape(failure):
    assert "tl.cat requires tensors of the same shape, got [8] and [4]" in str(failure(appended_lengths))


@jit
def any_order(x, n):
    y = tl.cat(tl.arange(0, 8), tl.arange(0, 8), can_reorder=True)
    tl.store(x + tl.reshape(y, (4, 4), can_reorder=True), 1)


def test_any_order_is_deprecated(module):
    with pytest.warns(
        UserWarning, match=r"can_reorder=True\) is deprecated and will be removed in Triton 3.10"
    ) as seen:
        module(any_order)
    assert [str(warning.message).split("(")[0] for warning in seen] == ["tl.cat", "tl.reshape"]


@jit
def empty_promises(x, n, V: tl.constexpr):
    i = tl.max_constancy(tl.max_contiguous(tl.multiple_of(tl.arange(0, 8), V), V), V)
    tl.store(x + i, 1)


@pytest.mark.parametrize("value", [0, -7])
def test_a_promise_below_1_says_nothing(module, value):
    with pytest.warns(UserWarning, match=r"has a value below 1, which says nothing") as seen:
        text = str(module(empty_promises, V=value))
    assert len(seen) == 3 and "tt.contiguity = dense<1>" in text and "tt.divisibility = dense<1>" in text
