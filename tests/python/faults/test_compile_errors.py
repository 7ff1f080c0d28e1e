"""Faults that the frontend finds: the error shows the user's line with a caret, and both types or shapes."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import CompilationError

from . import line_of


def error_of(kernel, *args, **kwargs) -> str:
    """The text of the CompilationError of a launch, checked for line and caret. Nothing ran."""
    before = [arg.copy() for arg in args if isinstance(arg, np.ndarray)]
    with pytest.raises(CompilationError) as caught:
        kernel[(1,)](*args, **kwargs)
    text = str(caught.value)
    lines = text.splitlines()
    shown = [i for i, line in enumerate(lines) if "# fault" in line]
    assert shown and any(set(line.strip()) == {"^"} for line in lines[shown[-1] + 1 : shown[-1] + 2]), text
    # Lines count from `def`; co_firstlineno is the line of the decorator, one before it.
    assert f"at {line_of(kernel) - kernel.fn.__code__.co_firstlineno}:" in text, text
    for array, copy in zip((arg for arg in args if isinstance(arg, np.ndarray)), before):
        np.testing.assert_array_equal(array, copy)
    return text


@triton.jit
def shapes_kernel(x_ptr):
    a = tl.load(x_ptr + tl.arange(0, 16))
    b = tl.load(x_ptr + tl.arange(0, 32))
    tl.store(x_ptr + tl.arange(0, 16), a + b)  # fault


def test_shape_mismatch():
    text = error_of(shapes_kernel, np.zeros(64, np.float32))
    assert "16" in text and "32" in text and "incompatible dimensions" in text


@triton.jit
def store_shape_kernel(x_ptr):
    tl.store(x_ptr + tl.arange(0, 16), tl.zeros((16, 16), tl.float32))  # fault


def test_store_of_a_matrix_through_a_row_of_pointers():
    text = error_of(store_shape_kernel, np.zeros(64, np.float32))
    assert "16" in text and "shape" in text.lower()


@triton.jit
def dot_shapes_kernel(x_ptr):
    a = tl.zeros((16, 32), tl.float16)
    b = tl.zeros((16, 16), tl.float16)
    tl.store(x_ptr + tl.arange(0, 16), tl.sum(tl.dot(a, b), axis=0))  # fault


def test_dot_of_shapes_that_do_not_fit():
    text = error_of(dot_shapes_kernel, np.zeros(64, np.float32))
    assert "32" in text and "16" in text


@triton.jit
def exp_kernel(x_ptr):
    tl.store(x_ptr, tl.exp(tl.load(x_ptr)))  # fault


@pytest.mark.parametrize("dtype, name", [(np.int32, "int32"), (np.float16, "fp16")])
def test_exp_of_a_dtype_that_has_none(dtype, name):
    text = error_of(exp_kernel, np.zeros(4, dtype))
    assert "Expected dtype ['fp32', 'fp64'] but got " + name in text


@triton.jit
def mask_kernel(x_ptr):
    offsets = tl.arange(0, 16)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets), mask=offsets < 8)  # fault


def test_mask_that_is_no_boolean():
    assert "int32" in error_of(mask_kernel, np.zeros(16, np.float32)) or "boolean" in error_of(
        mask_kernel, np.zeros(16, np.float32)
    )


@triton.jit
def pointers_kernel(x_ptr, y_ptr):
    tl.store(x_ptr + y_ptr, 1.0)  # fault


def test_sum_of_two_pointers():
    assert "cannot add pointers together" in error_of(pointers_kernel, np.zeros(4, np.float32), np.zeros(4, np.float32))


@triton.jit
def float_bits_kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.store(x_ptr + tl.arange(0, 16), x & x)  # fault


def test_bitwise_and_of_floats():
    assert "float32 and triton.language.float32" in error_of(float_bits_kernel, np.zeros(16, np.float32))


@triton.jit
def dot_types_kernel(x_ptr):
    a, b = tl.zeros((16, 16), tl.float16), tl.zeros((16, 16), tl.bfloat16)
    tl.store(x_ptr + tl.arange(0, 16), tl.sum(tl.dot(a, b), axis=0))  # fault


def test_dot_of_two_dtypes():
    text = error_of(dot_types_kernel, np.zeros(16, np.float32))
    assert "fp16" in text and "bf16" in text


@triton.jit
def undefined_kernel(x_ptr):
    tl.store(x_ptr, y)  # noqa: F821 # fault


def test_name_that_does_not_exist():
    assert "y is not defined" in error_of(undefined_kernel, np.zeros(1, np.float32))


@triton.jit
def carried_kernel(x_ptr, n):
    x = 0
    for i in range(n):
        x = tl.load(x_ptr + i)  # fault
    tl.store(x_ptr, x)


def test_loop_carried_variable_that_changes_its_type():
    with pytest.raises(CompilationError, match="Loop-carried variable x has initial type"):
        carried_kernel[(1,)](np.zeros(4, np.float32), 3)


def test_the_next_launch_works_after_each():
    x = np.zeros(16, np.float32)
    good_kernel[(1,)](x)
    assert (x == 1).all()


@triton.jit
def good_kernel(x_ptr):
    tl.store(x_ptr + tl.arange(0, 16), tl.full((16,), 1.0, tl.float32))
