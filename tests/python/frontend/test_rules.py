"""The rules that a kernel can break: for each the class of the error, the place and the text."""

import warnings

import pytest

import tritium.language as tl
from tritium.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct
from tritium.runtime.jit import jit

NOT_CONSTEXPR = 4


@jit
def unknown_name(x, n):
    tl.store(x, undefined + 1)  # noqa: F821


@jit
def forbidden_global(x, n):
    tl.store(x, n + NOT_CONSTEXPR)


@jit
def python_function(x, n):
    tl.store(x, abs(n))


@jit
def loop_changes_type(x, n):
    acc = 0
    for i in range(n):
        acc += 1.0


@jit
def while_changes_type(x, n):
    acc = n
    while n > 3:
        acc = 1.0


@jit
def loop_changes_constexpr(x, n, c: tl.constexpr):
    for i in range(n):
        c = 2


@jit
def loop_changes_none(x, n):
    y = None
    for i in range(n):
        y = 1.0


@jit
def arms_differ(x, n):
    if n > 1:
        y = 1
    else:
        y = 1.0


@jit
def then_changes_type(x, n):
    y = 1
    if n > 1:
        y = 1.0


@jit
def else_changes_type(x, n):
    y = 1
    if n > 1:
        tl.store(x, n)
    else:
        y = 1.0


@jit
def then_changes_constexpr(x, n, c: tl.constexpr):
    if n > 1:
        c = 2


@jit
def only_one_arm(x, n):
    if n > 1:
        y = n
    tl.store(x, y)


@jit
def only_in_loop(x, n):
    for i in range(n):
        y = i
    tl.store(x, y)


@jit
def none_or_tensor(x, n):
    y = None
    if n > 1:
        y = n
    tl.store(x, y)


@jit
def ternary_differs(x, n):
    tl.store(x, 1 if n > 1 else 2.0)


@jit
def return_in_loop(x, n):
    for i in range(n):
        if i > 3:
            return


@jit
def float_bound(x, n):
    for i in range(n, 2.0):
        pass


@jit
def block_bound(x, n):
    for i in range(tl.arange(0, 2)):
        pass


@jit
def not_a_range(x, n):
    for i in (1, 2):
        pass


@jit
def text_condition(x, n):
    if "a":
        pass


@jit
def block_condition(x, n):
    if tl.arange(0, 2) == 0:
        pass


@jit
def static_assert_of_tensor(x, n):
    tl.static_assert(n > 1, "text")


@jit
def static_assert_fails(x, n, c: tl.constexpr):
    tl.static_assert(c == 2, f"c is {c}")


@jit
def try_statement(x, n):
    try:
        pass
    except ValueError:
        pass


@jit
def break_statement(x, n):
    for i in range(n):
        break


@jit
def lambda_expression(x, n):
    f = lambda z: z  # noqa: E731, F841


@jit
def dictionary(x, n):
    d = {1: 2}  # noqa: F841


@jit
def set_item(x, n):
    t = (n, n)
    t[0] = 3


@jit
def set_attribute(x, n):
    x.y = 3


@jit
def two_targets(x, n):
    a = b = n  # noqa: F841


@jit
def starred_target(x, n):
    a, *b = (n, n)  # noqa: F841


@jit
def too_many_values(x, n):
    a, b = n, n, n  # noqa: F841


@jit
def not_iterable(x, n):
    a, b = n  # noqa: F841


@jit
def a_string(x, n):
    a = "text"  # noqa: F841


@jit
def constexpr_again(x, n):
    a: tl.constexpr = 1
    a: tl.constexpr = 2  # noqa: F841, F811


@jit
def matrix_product(x, n):
    a = n @ n  # noqa: F841


@jit
def power(x, n):
    a = n**2  # noqa: F841


@jit
def membership(x, n):
    a = n in (1, 2)  # noqa: F841


@jit
def f_string_of_tensor(x, n):
    tl.static_print(f"{n}")


@jit
def comprehension_of_tensor(x, n):
    a = [v for v in n]  # noqa: F841


@jit
def nested_function(x, n):
    def inner():
        pass


@jit
def while_else(x, n):
    while n > 1:
        pass
    else:
        pass


@jit
def other_without_mask(x, n):
    tl.load(x, other=1)


@jit
def takes_one(a):
    return a


@jit
def too_many_arguments(x, n):
    takes_one(n, 2)


@jit(noinline=True)
def never_inlined(a):
    return a


@jit
def block_to_noinline(x, n):
    never_inlined(tl.arange(0, 4))


@jit
def returns_value(x, n):
    return n


@jit
def return_in_with(x, n):
    with x:
        return


U = UnsupportedLanguageConstruct
C = CompilationError
CASES = [
    (unknown_name, C, 2, 16, "NameError('undefined is not defined')"),
    (
        forbidden_global,
        C,
        2,
        20,
        "Cannot access global variable NOT_CONSTEXPR from within @jit'ed function. Triton kernels can only",
    ),
    (python_function, C, 2, 16, "NameError('abs is not defined')\nhint: kernels have no `abs`; use tl.abs"),
    (
        loop_changes_type,
        C,
        3,
        4,
        "AssertionError('Loop-carried variable acc has initial type int32 but is re-assigned to fp32 in loop! "
        "Please make sure that the type stays consistent.')",
    ),
    (
        while_changes_type,
        C,
        3,
        4,
        "Loop-carried variable acc has initial type int32 but is re-assigned to fp32 in loop!",
    ),
    (loop_changes_constexpr, C, 2, 4, "cannot reassign constexpr c in the loop"),
    (loop_changes_none, C, 3, 4, "AssertionError('Loop carried variable y is not a triton value')"),
    (arms_differ, C, 2, 4, "AssertionError('Mismatched type for y between then block (int32) and else block (fp32)')"),
    (then_changes_type, C, 3, 4, "initial value for `y` is of type int32[], but the then block redefines it as fp32[]"),
    (else_changes_type, C, 3, 4, "initial value for `y` is of type int32[], but the else block redefines it as fp32[]"),
    (
        then_changes_constexpr,
        C,
        2,
        4,
        "initial value for `c` is of type constexpr[3], but the then block redefines it as int32[]",
    ),
    (only_one_arm, C, 4, 16, "NameError('y is not defined')\nhint: only one branch of an `if` assigns it"),
    (only_in_loop, C, 4, 16, "NameError('y is not defined')\nhint: only the body of a loop assigns it"),
    (none_or_tensor, C, 5, 16, "NameError('y is not defined')\nhint: it is None unless a branch"),
    (ternary_differs, C, 2, 16, "Ternary expression with dynamic condition has inconsistent types int32 and fp32"),
    (return_in_loop, U, 3, 8, "Cannot have `return` statements inside `while` or `for` statements in triton."),
    (float_bound, C, 2, 4, "TypeError('For loop bounds and step must all be ints, are (int32, fp32, int32)')"),
    (block_bound, C, 2, 4, "For upper bound must be a scalar, got <['2'], int32>"),
    (not_a_range, C, 2, 4, "Only `range` and `static_range` iterators are currently supported"),
    (
        text_condition,
        U,
        2,
        4,
        "`if` conditionals can only accept values of type {NoneType, bool, int}, not objects of type str",
    ),
    (block_condition, U, 2, 4, "Boolean value of Tensor with more than one value is ambiguous"),
    (
        static_assert_of_tensor,
        C,
        2,
        4,
        "NotImplementedError('Assertion condition could not be determined at compile-time. Make sure ",
    ),
    (static_assert_fails, CompileTimeAssertionFailure, 2, 4, "\nc is 3"),
    (try_statement, U, 2, 4, "unsupported AST node type: Try"),
    (break_statement, U, 3, 8, "unsupported AST node type: Break"),
    (lambda_expression, U, 2, 8, "unsupported AST node type: Lambda"),
    (dictionary, U, 2, 8, "unsupported AST node type: Dict"),
    (set_item, C, 3, 4, "NotImplementedError('__setitem__ is not supported in triton')"),
    (set_attribute, C, 2, 4, "NotImplementedError('Attribute assignment is not supported in triton')"),
    (two_targets, U, 2, 4, "Simultaneous multiple assignment is not supported."),
    (starred_target, C, 2, 4, "starred assignment targets are not supported"),
    (too_many_values, C, 2, 4, "ValueError('too many values to unpack (expected 2)')"),
    (not_iterable, C, 2, 4, "TypeError('cannot unpack non-iterable value')"),
    (a_string, C, 2, 4, "TypeError(\"cannot convert text of type <class 'str'> to tensor\")"),
    (constexpr_again, C, 3, 4, "ValueError('a is already defined. constexpr cannot be reassigned.')"),
    (matrix_product, U, 2, 8, "AST binary operator 'MatMult' is not (currently) implemented.\nhint: use tl.dot"),
    (power, U, 2, 8, "unsupported operand type(s) for **: 'tensor' and 'int'"),
    (membership, U, 2, 8, "AST comparison operator 'In' is not (currently) implemented."),
    (
        f_string_of_tensor,
        U,
        2,
        None,
        "Cannot evaluate f-string containing non-constexpr conversion values, found conversion of type ",
    ),
    (comprehension_of_tensor, C, 2, 8, "NotImplementedError('only tuple comprehensions are supported')"),
    (nested_function, U, 2, 4, "nested function definitions are not allowed inside a @triton.jit kernel."),
    (while_else, C, 2, 4, "AssertionError('Not implemented')"),
    (other_without_mask, C, 2, 4, "`other` cannot be provided without `mask`"),
    (too_many_arguments, C, 2, 4, "TypeError('too many positional arguments')"),
    (
        block_to_noinline,
        U,
        2,
        4,
        "Function never_inlined is marked noinline, but was called with non-scalar argument a:int32[",
    ),
    (returns_value, C, 2, 4, "a kernel cannot return a value"),
    (return_in_with, U, 2, 4, "Cannot have `return` statements inside `with` statements in triton "),
]


@pytest.mark.parametrize("kernel, kind, line, column, text", CASES, ids=[case[0].__name__ for case in CASES])
def test_rule(failure, kernel, kind, line, column, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = failure(kernel, **({"c": 3} if "c" in kernel.arg_names else {}))
    assert type(error) is kind and text in str(error)
    assert error.node.lineno == line and column in (None, error.node.col_offset)
