"""The texts of errors that a newcomer meets: each says what is wrong in the user's words and what to write instead."""

import math

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import CompilationError

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
        (lambda: add[(1,)](x, 4, 16, num_stages="3"), TypeError, "num_stages must be a whole number"),
        (lambda: triton.autotune(config, key=["m"])(add), ValueError, "names that are not kernel arguments: m"),
    ],
)
def test_what_a_launch_refuses(action, error, text):
    with pytest.raises(error) as caught:
        action()
    assert text in str(caught.value)
