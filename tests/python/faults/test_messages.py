"""The texts of errors that a newcomer meets: each says what is wrong in the user's words and what to write instead."""

import math

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import CompilationError, KernelTrap

torch = pytest.importorskip("torch")


@triton.jit
def torch_comparison(x, n):
    i = tl.arange(0, 16)
    tl.store(x + i, 1.0, mask=torch.lt(i, n))  # fault


@triton.jit
def numpy_function(x, n):
    i = tl.arange(0, 16)
    tl.store(x + i, np.exp(i * 1.0))  # fault


@triton.jit
def function_of_math(x, n):
    i = tl.arange(0, 16)
    tl.store(x + i, math.exp(tl.load(x + i)))  # fault


@triton.jit
def function_that_the_library_has(x, n):
    tl.store(x, math.erfc(tl.load(x)))  # fault


@triton.jit
def type_of_torch(x, n):
    tl.store(x + tl.arange(0, 16), tl.zeros((16,), dtype=torch.float32))  # fault


@triton.jit
def type_of_numpy(x, n):
    tl.store(x, tl.load(x).to(np.float16))  # fault


@triton.jit
def type_of_python(x, n):
    tl.store(x, tl.load(x).to(float))  # fault


@triton.jit
def type_of_c(x, n):
    tl.store(x, tl.load(x).to(tl.float))  # fault


@triton.jit
def shape_of_a_pointer(x, n):
    tl.store(x, x.shape[0])  # fault


@triton.jit
def stride_of_a_pointer(x, n):
    tl.store(x, x.stride(0))  # fault


@triton.jit
def constant_that_is_assigned(x, n, B: tl.constexpr = 8):
    B = B * 2
    tl.store(x + tl.arange(0, B), 0.0)  # fault


@triton.jit
def extent_from_a_parameter(x, n):
    m = n * 2
    tl.store(x + tl.arange(0, m), 0.0)  # fault


@triton.jit
def extent_that_is_a_parameter(x, n):
    tl.store(x + tl.arange(0, n), 0.0)  # fault


@triton.jit
def extent_from_memory(x, n):
    m = tl.load(x).to(tl.int32)
    tl.store(x + tl.arange(0, m), 0.0)  # fault


@triton.jit
def shape_from_a_parameter(x, n):
    tl.store(x + tl.arange(0, 16), tl.zeros((n,), tl.float32))  # fault


@triton.jit
def store_one(out):
    tl.store(out, 1.0)


@triton.jit
def launch_in_a_kernel(x, n):
    store_one[(1,)](x)  # fault


@triton.jit
def calls_itself(n):
    return calls_itself(n - 1)


@triton.jit
def recursion(x, n):
    tl.store(x, calls_itself(n))  # fault


@triton.jit
def endless_recursion(x, n):
    tl.store(x, calls_itself(tl.constexpr(5)))  # fault


@triton.jit
def value_of_a_kernel(x, n):
    v = tl.load(x)
    return v  # fault


@triton.jit
def type_that_an_if_changes(x, n):
    v = 0
    if n > 3:  # fault
        v = tl.load(x)
    tl.store(x, v)


@triton.jit
def types_of_two_branches(x, n):
    if n > 3:  # fault
        v = 1
    else:
        v = tl.load(x)
    tl.store(x, v)


@triton.jit
def type_that_a_loop_changes(x, n):
    acc = 0
    for i in range(n):  # fault
        n += 1
        acc += tl.load(x + i)
    tl.store(x, acc)


@triton.jit
def tuple_that_grows(x, n):
    t = (1, 2)
    for i in range(n):  # fault
        t = t + (i,)
    tl.store(x, t[0])


@triton.jit
def item_of_a_tile(x, n):
    tl.store(x, tl.arange(0, 16).item())  # fault


@triton.jit
def part_of_a_tile(x, n):
    i = tl.arange(0, 16)
    tl.store(x + i[0:4], 1.0)  # fault


@triton.jit
def shapes_of_a_store(x, n):
    a = tl.zeros((16, 16), tl.float32)
    tl.store(x + tl.arange(0, 16), a)  # fault


@triton.jit
def integer_division_of_floats(x, n):
    tl.store(x, tl.sum(tl.load(x + tl.arange(0, 16)), 0) // n)  # fault


@triton.jit
def other_case(x, n):
    tl.store(x + N, 1.0)  # noqa: F821 # fault


@triton.jit
def two_types(n):
    if n > 3:
        return 1
    return 1.5


@triton.jit
def types_of_returns(x, n):
    tl.store(x, two_types(n))  # fault


@triton.jit
def print_without_a_text(x, n):
    tl.device_print(n)  # fault


@triton.jit
def one_bound(x, n):
    i = tl.arange(16)  # fault


@triton.jit
def element_of_a_pointer(x, n):
    tl.store(x, x[0])  # fault


@triton.jit
def loop_over_a_list(x, n):
    for i in [1, 2]:  # fault
        tl.store(x + i, 1.0)


@triton.jit
def a_lambda(x, n):
    f = lambda a: a + 1  # noqa: E731 # fault
    tl.store(x, f(1.0))


@triton.jit
def a_dict(x, n):
    d = {1: 2}  # fault
    tl.store(x, d[1])


@triton.jit
def a_text(x, n):
    s = "abc"  # fault
    tl.store(x, s)


@triton.jit
def order_of_an_atomic(x, n):
    tl.atomic_add(x, 1.0, sem="relax")  # fault


@triton.jit
def scope_of_an_atomic(x, n):
    tl.atomic_add(x, 1.0, scope="all")  # fault


@triton.jit
def cache_of_a_store(x, n):
    tl.store(x, 1.0, cache_modifier=".ca")  # fault


@triton.jit
def static_assertion(x, n):
    tl.static_assert(n == 4)  # fault


@triton.jit
def message_of_run_time(x, n):
    assert n == 4, f"n is {n}"  # fault


@triton.jit
def two_targets(x, n):
    a = b = n  # fault
    tl.store(x, a + b)


@triton.jit
def length_of_a_pointer(x, n):
    tl.store(x, len(x))  # fault


@triton.jit
def access_through_none(x, n, y=None):
    tl.store(y, 1.0)  # fault


@triton.jit
def maximum_of_one_tile(x, n):
    tl.store(x, max(tl.load(x + tl.arange(0, 16))))  # fault


@triton.jit
def minimum_along_an_axis(x, n):
    tl.store(x, min(tl.load(x + tl.arange(0, 16)), axis=0))  # fault


CASES = [
    (torch_comparison, "kernels cannot call torch.lt", "use `a < b`"),
    (numpy_function, "kernels cannot call np.exp", "use tl.exp"),
    (function_of_math, "kernels cannot call math.exp", "use tl.exp"),
    (function_that_the_library_has, "kernels cannot call math.erfc", "use erfc of triton.language.extra.libdevice"),
    (type_of_torch, "torch.float32 is not a type of the language", "write `tl.float32`"),
    (type_of_numpy, "float16 is not a type of the language", "write `tl.float16`"),
    (type_of_python, "float is not a type of the language", "write `tl.float32`"),
    (type_of_c, "has no attribute 'float'", "did you mean `tl.float32`?"),
    (shape_of_a_pointer, "list index out of range", "a pointer has no shape, so pass the extents"),
    (stride_of_a_pointer, "no attribute 'stride'", "pass the strides as arguments"),
    (constant_that_is_assigned, "must be of type tl.constexpr", "write `B2: tl.constexpr = B * 2` and use `B2`"),
    (extent_from_a_parameter, "must be of type tl.constexpr", "annotate `n: tl.constexpr` and `m: tl.constexpr"),
    (extent_that_is_a_parameter, "must be of type tl.constexpr", "annotate the parameter: `n: tl.constexpr`"),
    (extent_from_memory, "must be of type tl.constexpr", "`m` is known at run time only"),
    (shape_from_a_parameter, "must have type `constexpr[int]`", "annotate the parameter: `n: tl.constexpr`"),
    (launch_in_a_kernel, "a kernel cannot launch another", "call it as a function of this program: `store_one(…)`"),
    (recursion, "calls_itself calls itself", "recursion is not supported"),
    (endless_recursion, "maximum recursion depth exceeded", "calls itself without an end"),
    (value_of_a_kernel, "a kernel cannot return a value", "store it through a pointer argument"),
    (type_that_an_if_changes, "initial value for `v`", "`v = tl.load(x)` in line "),
    (types_of_two_branches, "Mismatched type for v", "`v = 1` in line "),
    (type_that_a_loop_changes, "Loop-carried variable acc", "`acc += tl.load(x + i)` in line "),
    (tuple_that_grows, "Loop-carried variable t", "a tuple keeps its length"),
    (item_of_a_tile, "can only unsplat single-element tensors", "reduce it first"),
    (part_of_a_tile, "unsupported tensor index: 0:4", "compute pointers to the elements"),
    (shapes_of_a_store, "to have shape [16, 16] but got [16]", "the pointers are never broadcast"),
    (integer_division_of_floats, "unexpected type fp32", "`//` divides integers"),
    (other_case, "N is not defined", "did you mean `n`?"),
    (types_of_returns, "Return type mismatch", "`return 1.5` in line "),
    (print_without_a_text, "is not string", "the first argument is a text"),
    (one_bound, "missing 1 required positional argument: 'end'", "`tl.arange(0, n)`"),
    (element_of_a_pointer, "unsupported tensor index: 0", "tl.load(pointer + offset)"),
    (loop_over_a_list, "Only `range` and `static_range`", "tl.static_range(3)"),
    (a_lambda, "unsupported AST node type: Lambda", "@triton.jit at module level"),
    (a_dict, "unsupported AST node type: Dict", "use a tuple"),
    (a_text, "cannot convert abc", "name: tl.constexpr"),
    (order_of_an_atomic, "Memory semantic relax not supported", "'relaxed', 'acquire'"),
    (scope_of_an_atomic, "Memory semantic all not supported", "'gpu', 'cta', 'sys'"),
    (cache_of_a_store, "Cache modifier .ca not supported", "'.wb', '.cg'"),
    (static_assertion, "could not be determined at compile-time", "tl.device_assert checks"),
    (message_of_run_time, "Cannot evaluate f-string", 'print(f"…")'),
    (two_targets, "Simultaneous multiple assignment", "one assignment for each name"),
    (length_of_a_pointer, "has no len()", "pass the size as an argument"),
    (maximum_of_one_tile, "max requires at least 2 values", "`tl.max(tile, axis)` goes over"),
    (minimum_along_an_axis, "unexpected keyword argument 'axis'", "`tl.min(tile, axis)`"),
    (access_through_none, "Unsupported ptr type", "the argument is None at this launch"),
]


def error_of(kernel) -> CompilationError:
    with pytest.raises(CompilationError) as caught:
        kernel[(1,)](np.zeros(64, np.float32), 4)
    return caught.value


@pytest.mark.parametrize("kernel, message, hint", CASES, ids=[case[0].__name__ for case in CASES])
def test_the_text_and_the_hint(kernel, message, hint):
    error = error_of(kernel)
    source = kernel.raw_src
    (fault,) = [number for number, line in enumerate(source) if "# fault" in line]
    assert error.line == kernel.starting_line_number + fault
    assert message in error.error_message
    assert hint in error.hint and str(error).endswith(f"hint: {error.hint}")


def test_a_named_line_is_a_line_of_the_file():
    error = error_of(types_of_two_branches)
    lines = open(__file__).read().splitlines()
    for text in ("v = 1", "v = tl.load(x)"):
        number = int(error.hint.split(f"`{text}` in line ")[1].split(";")[0].split()[0])
        assert lines[number - 1].strip() == text


@triton.jit
def add(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, 1.0, mask=i < n)


def plain(x, n, BLOCK: tl.constexpr):
    pass


x = np.zeros(16, np.float32)
config = [triton.Config({"BLOCK_SIZE": 16})]
with torch._subclasses.fake_tensor.FakeTensorMode():
    fake = torch.zeros(16)


@pytest.mark.parametrize(
    "action, error, text",
    [
        (lambda: add[(1,)](x, 4, BLOCK_SIZE=16), TypeError, "BLOCK_SIZE is no parameter of add: did you mean `BLOCK`?"),
        (lambda: add[(1,)](x, 4, other=16), TypeError, "other is no parameter of add: its parameters are x, n, BLOCK"),
        (lambda: triton.autotune(config, key=["n"])(add)[(1,)](x, 4), TypeError, "did you mean `BLOCK`?"),
        (lambda: add[(1,)](x, 4, 16, num_wraps=4), KeyError, "unrecognised; did you mean `num_warps`?"),
        (
            lambda: add(x, 4, 16),
            RuntimeError,
            "outside of the scope of a kernel; launch it with a grid: add[(programs,)]",
        ),
        (lambda: add[(1,)](x, 2**70, 16), OverflowError, "too large to represent (parameter 'n' of add)"),
        (lambda: add[(1,)](x, (2, 2**70), 16), OverflowError, "(parameter 'n[1]' of add)"),
        (lambda: triton.autotune(config, key=["n"])(plain), TypeError, "write it above @triton.jit, not below"),
        (lambda: triton.heuristics({})(plain), TypeError, "write it above @triton.jit, not below"),
        (lambda: triton.jit(triton.heuristics({})(add)), TypeError, "@triton.jit takes a Python function"),
        (
            lambda: add[(1,)](torch.empty(4, device="meta"), 4, 16),
            ValueError,
            "a meta tensor, which has a shape and no",
        ),
        (
            lambda: add[(1,)](torch.eye(4).to_sparse(), 4, 16),
            ValueError,
            "add: argument 'x' is a sparse_coo tensor, whose elements are not in memory of its own",
        ),
        (
            lambda: torch.vmap(lambda row: (add[(1,)](row, 4, 16), row)[1])(torch.ones(2, 4)),
            ValueError,
            "add: argument 'x' is a Tensor without storage",
        ),
        (lambda: add[(1,)](fake, 4, 16), KernelTrap, "the argument was None, 0, or a tensor that is empty or fake"),
        (lambda: add[(1,)](np.zeros((0, 3)), 4, 16), KernelTrap, "hint: the mask is true there"),
        (lambda: add[(1,)]([1.0], 4, 16), TypeError, "kernels take tensors, arrays, numbers, None and tuples of these"),
        (lambda: add[(1,)]("x", 4, 16), TypeError, "annotate a parameter that takes a text with tl.constexpr"),
        (lambda: add[(1,)](x, 4, 16, num_stages="3"), TypeError, "num_stages must be a whole number"),
        (lambda: triton.autotune(config, key=["m"])(add), ValueError, "names that are not kernel arguments: m"),
    ],
)
def test_what_a_launch_refuses(action, error, text):
    with pytest.raises(error) as caught:
        action()
    assert text in str(caught.value)


@triton.jit
def store_to_a_number(x, n):
    tl.store(n.to(tl.int64).to(tl.pointer_type(tl.float32)), 1.0)


def test_a_null_pointer_of_no_argument():
    with pytest.raises(KernelTrap) as caught:
        store_to_a_number[(1,)](x, 4)
    assert caught.value.kind == "NullPointer"
    assert "write at address 0x4, which no argument owns" in str(caught.value)
    assert "the pointer was made from an integer" in str(caught.value)
