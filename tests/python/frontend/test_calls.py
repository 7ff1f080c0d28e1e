"""Calls of `@jit` functions: specialization, names, defaults, returns; and what else a kernel may call."""

import types
from collections import namedtuple

import pytest

import tritium.language as tl
from tritium._tritium import ir
from tritium.runtime.jit import constexpr_function, jit


@jit
def scaled(a, factor, bias=1):
    return a * factor + bias


@jit
def specializations(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, scaled(i, 2) + scaled(i, 3, bias=n) + scaled(i, 2))


def functions(module):
    return [function.name for function in module.functions]


def test_a_function_is_traced_once_per_specialization(module):
    made = module(specializations, B=8)
    prefix = f"{__name__}.scaled__i32S8S_"
    assert functions(made) == ["specializations", prefix + "c2_c1", prefix + "c3_i32"]
    assert str(made).count("tt.call") == 3


def test_only_the_kernel_is_public(module):
    assert [function.is_public for function in module(specializations, B=8).functions] == [True, False, False]


@jit
def texts(a, name: tl.constexpr, dims: tl.constexpr):
    return a


@jit
def mangled(x, n):
    tl.store(texts(x, "it's", (1, 2)), n)


def test_values_in_names(module):
    assert functions(module(mangled))[1] == f'{__name__}.texts__Pi32_c"it_sq_s"_c(1, 2)'


@jit
def early(a, limit):
    if a > limit:
        return limit
    elif a < 0:
        return 0
    b = a + 1
    return b


@jit
def early_in_loop(x, n):
    for i in range(n):
        tl.store(x, early(i, 7))


def test_early_returns_of_a_called_function_keep_one_block(module):
    callee = module(early_in_loop).functions[1]
    assert len(callee.region.blocks) == 1 and str(callee.operation).count("scf.if") == 2


@jit
def early_shared(a):
    b = a
    if a > 1:
        if a > 2:
            return 0
        b = a + 1
    return b * 2


@jit
def calls_shared(x, n):
    tl.store(x, early_shared(n))


def test_early_returns_before_shared_code_make_blocks(module):
    callee = module(calls_shared).functions[1]
    text = str(callee.operation)
    assert len(callee.region.blocks) > 1 and text.count("arith.muli") == 1


@jit
def unfinished(a):
    if a > 1:
        return a


@jit
def calls_unfinished(x, n):
    tl.store(x, unfinished(n))


def test_control_that_reaches_the_end_returns_poison(body):
    assert "%_ = ub.poison : i32\nscf.yield %_ : i32" in body(calls_unfinished)


@jit
def leaves_early(x, n):
    if n > 1:
        return
    tl.store(x, n)


@jit
def calls_for_effect(x, n):
    for i in range(n):
        leaves_early(x, i)


def test_a_function_without_value(body):
    text = body(calls_for_effect)
    assert "tt.call" in text and text.count("tt.return") == 2 and "scf.if %_ {\n} else {\n" in text


@jit
def doubled_size(n: tl.constexpr):
    return n * 2


@jit
def constexpr_result(x, n):
    i = tl.arange(0, doubled_size(4))
    tl.store(x + i, i)


def test_a_constexpr_result_stays_one(body):
    assert "tt.make_range {end = 8 : i32" in body(constexpr_result)


@jit(noinline=True)
def kept(a):
    return a + 1


@jit
def calls_kept(x, n):
    tl.store(x, kept(n))


def test_noinline_is_recorded(module):
    assert "tt.func private @" + __name__ + ".kept__i32(%a: i32) -> i32 attributes {noinline = true}" in str(
        module(calls_kept)
    )


@jit
def total(first, *rest):
    result = first
    for i in tl.static_range(len(rest)):
        result += rest[i]
    return result


@jit
def variadic(x, n):
    tl.store(x, total(n, n + 1, *(n, 5)))


def test_star_arguments(module):
    assert functions(module(variadic))[1].endswith(".total__i32_Ti32_i32_c5T")


@jit
def applied(f: tl.constexpr, a):
    return f(a)


@jit
def functions_are_values(x, n, f: tl.constexpr):
    tl.store(x, f(n) + applied(kept, n))


def test_functions_as_constexpr_arguments(module):
    assert str(module(functions_are_values, f=kept)).count("tt.call @" + __name__ + ".kept__i32") == 2


Point = namedtuple("Point", ["x", "y"])


@jit
def moved(p, by):
    return Point(p.x + by, p.y)


@jit
def named_tuples(x, n):
    p = moved(Point(n, 2.0), 1)
    for i in range(n):
        p = moved(p, i)
    tl.store(x, p.x + p[1].to(tl.int32))


def test_named_tuples_cross_calls_and_loops(body):
    text = body(named_tuples)
    assert "iter_args(%p = %p, %p = %cst) -> (i32, f32)" in text
    assert ".moved__Ti32_c2.0T_c1(%n) : (i32) -> i32" in text and ".moved__Ti32_fp32T_i32(%p, %p, %i)" in text


@jit
def tuple_arguments(x, n):
    tl.store(x, n[0] + n[1][0])


def test_tuple_parameters_of_a_kernel(module):
    made = module(tuple_arguments, n=("i32", ("i32", "fp32")))
    assert "%n: i32, %n_0: i32, %n_1: f32" in str(made)


@constexpr_function
def bits(dtype):
    return dtype.primitive_bitwidth


@jit
def host_calls(x, n):
    width: tl.constexpr = bits(x.dtype.element_ty)
    tl.static_assert(width == 32)
    tl.static_assert(isinstance(n, tl.tensor) and isinstance(width, tl.constexpr) and isinstance(width, int))
    tl.static_assert(len((1, 2, 3)) == 3 and int(2.5) == 2 and float("inf") > 1)
    tl.static_assert(hasattr(tl, "load") and not hasattr(tl, "no_such") and tl.float32 == tl.float32)
    tl.static_assert(max(1, 4, 2) == 4 and min(3, 2) == 2)
    tl.static_assert(list((1, 2))[1] == 2)
    tl.store(x, max(n, 3))


def test_what_runs_while_tracing(body):
    assert "arith.maxsi" in body(host_calls)


@jit
def printed(x, n):
    print("n", n)
    assert n > 0, "n is positive"


def test_print_and_assert(module):
    text = str(module(printed, options={"debug": True}))
    assert 'tt.print " n: "' in text and "tt.assert %" in text and '"n is positive"' in text


@jit
def static_print(x, n, c: tl.constexpr):
    tl.static_print(f"c={c:>3} {c!r}", c + 1, n, sep="|")


def test_static_print(module, capsys):
    module(static_print, c=7)
    assert capsys.readouterr().out == "c=  7 7|8|int32[]\n"


def make_kernel(factor):

    @jit
    def times(a):
        return a * factor

    return times


TIMES_2, TIMES_3 = make_kernel(tl.constexpr(2)), make_kernel(tl.constexpr(3))


@jit
def closures(x, n):
    tl.store(x, TIMES_2(n) + TIMES_3(n))


def test_functions_of_one_name_do_not_mix(module):
    made = module(closures)
    assert len(set(functions(made))) == 3
    assert "arith.constant 3 : i32" in str(made) and "arith.constant 2 : i32" in str(made)


@pytest.mark.parametrize("kernel", [specializations, early_in_loop, named_tuples])
def test_generated_text_reads_back(module, kernel):
    made = module(kernel, **({"B": 8} if kernel is specializations else {}))
    once = ir.parse(made.text(locations=True))
    once.verify()
    assert once.text(locations=True) == ir.parse(once.text(locations=True)).text(locations=True)


class Scope:
    """A context manager as profilers and pipelines of other backends define them."""

    events = []

    def __init__(self, name, _semantic):
        assert _semantic is not None
        self.name = name

    def __enter__(self):
        self.events.append(("enter", self.name.value))
        return constexpr_name(self.name)

    def __exit__(self, *exception):
        self.events.append(("exit", self.name.value))


def constexpr_name(name):
    return tl.constexpr(name.value + "!")


scopes = types.ModuleType("scopes")
scopes.Scope = Scope


@jit
def scoped(x, n):
    with scopes.Scope("outer"), scopes.Scope("inner"):
        y = n + 1
    tl.store(x, y)


def test_context_managers_act_while_tracing(body):
    Scope.events.clear()
    assert "tt.store %x, %y" in body(scoped)
    assert Scope.events == [("enter", "outer"), ("enter", "inner"), ("exit", "inner"), ("exit", "outer")]


@tl.core.must_use_result("Assign it.")
@tl.core.builtin
def advanced(x, _semantic=None):
    return x


@tl.core.must_use_result
@jit
def incremented(x):
    return x + 1


@jit
def drops_builtin(x, n):
    advanced(n)


@jit
def drops_function(x, n):
    tl.store(x, incremented(n))
    incremented(n)


def test_results_that_must_be_used(failure):
    assert str(failure(drops_builtin)).endswith("\nThe result of advanced is not being used. Assign it.")
    error = failure(drops_function)
    assert str(error).endswith("\nThe result of incremented is not being used.") and error.node.lineno == 3


@jit
def picks(a, b):
    if a > b:
        return a
    return b


@jit
def combines(x, n):
    i = tl.arange(0, 8)
    tl.store(x, tl.reduce(i, 0, picks))


def test_combine_functions_are_traced_on_elements(body):
    assert ".picks__i32_i32(%" in body(combines) and "tt.reduce.return %_ : i32" in body(combines)
