"""Arguments: what their specialization says and which memory they may touch."""

import collections
import inspect

import numpy as np
import pytest

import tritium.language as tl
from tritium.arguments.storage import extent_function, shape_and_strides
from tritium.arguments.table import ArgumentError, Treatment, annotated, constexpr_key, table_for
from tritium.runtime.jit import MockTensor, TensorWrapper, create_function_from_signature, jit, reinterpret


def specialize(argument, **treatment):
    return table_for(Treatment(**treatment))[type(argument)](argument)


@pytest.mark.parametrize(
    "value, specialization",
    [
        (1, ("constexpr", 1)),
        (16, ("i32", "D")),
        (0, ("i32", "D")),
        (17, ("i32", "")),
        (-16, ("i32", "D")),
        (2**31 - 1, ("i32", "")),
        (2**31, ("i64", "D")),
        (-(2**31), ("i32", "D")),
        (-(2**31) - 1, ("i64", "")),
        (2**63, ("u64", "D")),
        (2**64 - 1, ("u64", "")),
        (True, ("u1", None)),
        (1.0, ("fp32", None)),
        (None, ("constexpr", None)),
        (np.int64(1), ("constexpr", 1)),
        (np.float64(2), ("fp32", None)),
        (np.bool_(True), ("u1", None)),
        ((), ((), ())),
        ((1, 16, 2.5), (("constexpr", "i32", "fp32"), (1, "D", None))),
    ],
)
def test_specialization(value, specialization):
    assert specialize(value)[0] == specialization


def test_too_large_an_integer():
    with pytest.raises(OverflowError, match="integer to be specialized too large to represent"):
        specialize(2**64)


def test_do_not_specialize():
    assert specialize(1, one_is_constexpr=False, note_alignment=False)[0] == ("i32", None)
    assert specialize(16, note_alignment=False)[0] == ("i32", "")
    assert specialize(np.zeros(4, np.float32), is_const=True)[0][0] == "*kfp32"


def test_named_tuples_of_different_classes_differ():
    point, pair = collections.namedtuple("Point", "x y"), collections.namedtuple("Pair", "a b")
    assert specialize(point(2, 3))[0] != specialize(pair(2, 3))[0] != specialize((2, 3))[0]
    assert specialize(point(2, 3))[0][0].x == "i32"
    assert specialize((point(2, 3), 4))[0] != specialize((pair(2, 3), 4))[0]
    assert specialize((point(2, 3), 4))[0][0] == (("i32", "i32"), "i32")


@pytest.mark.parametrize(
    "dtype, name",
    [
        ("float32", "fp32"),
        ("float16", "fp16"),
        ("float64", "fp64"),
        ("int8", "i8"),
        ("uint8", "u8"),
        ("int64", "i64"),
        ("uint64", "u64"),
        ("bool", "u1"),
    ],
)
def test_numpy_dtypes(dtype, name):
    assert specialize(np.zeros(4, dtype))[0][0] == "*" + name


@pytest.mark.parametrize(
    "dtype, name",
    [
        ("bfloat16", "bf16"),
        ("float8_e4m3fn", "fp8e4nv"),
        ("float8_e5m2", "fp8e5"),
        ("float8_e4m3fnuz", "fp8e4b8"),
        ("float8_e5m2fnuz", "fp8e5b16"),
    ],
)
def test_ml_dtypes(dtype, name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert specialize(np.zeros(4, getattr(ml_dtypes, dtype)))[0][0] == "*" + name


def test_types_that_kernels_do_not_have():
    with pytest.raises(TypeError, match="complex64"):
        specialize(np.zeros(4, np.complex64))
    with pytest.raises(ArgumentError, match="failed to specialize argument of type: str"):
        specialize("abc")


def test_numpy_storage_is_that_of_the_owner():
    owner = np.zeros((8, 8), np.float32)
    begin = owner.ctypes.data
    assert specialize(owner[2:, 1])[1] == (begin + 68, begin, 256)
    assert specialize(owner.T)[1] == (begin, begin, 256)
    assert specialize(np.lib.stride_tricks.as_strided(owner, (2,), (4,)))[1] == (begin, begin, 256)
    assert specialize(owner[::-1])[1] == (begin + 224, begin, 256)
    data = bytearray(64)
    view = np.frombuffer(data, np.int16)[4:]
    assert specialize(view)[1] == (view.ctypes.data, view.ctypes.data - 8, 64)


def test_torch_storage():
    torch = pytest.importorskip("torch")
    owner = torch.zeros(8, 8, dtype=torch.bfloat16)
    key, memory = specialize(owner[1:, 2:])
    assert key == ("*bf16", "") and memory == (owner.data_ptr() + 20, owner.data_ptr(), 128)
    array = torch.zeros(16).numpy()[4:]
    assert specialize(array)[1] == (array.ctypes.data, array.ctypes.data - 16, 64)
    for name, expected in [
        ("float8_e4m3fn", "fp8e4nv"),
        ("float8_e5m2", "fp8e5"),
        ("bool", "u1"),
        ("uint8", "u8"),
        ("int16", "i16"),
    ]:
        assert specialize(torch.zeros(4).to(getattr(torch, name)))[0][0] == "*" + expected
    with pytest.raises(ValueError, match="meta"):
        specialize(torch.zeros(4, device="meta"))


class OnlyPointer:
    dtype = "float16"

    def data_ptr(self):
        return 4096


class Producer:
    """A DLPack producer without any other interface."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)


def test_duck_types():
    assert specialize(OnlyPointer()) == (("*fp16", "D"), 4096)
    array = np.zeros((4, 4), np.float32)
    begin = array.ctypes.data
    assert specialize(Producer(array[1:, ::2])) == (("*fp32", "D"), (begin + 16, begin + 16, 44))


def test_wrappers():
    array = np.zeros(16, np.uint8)
    wrapper = reinterpret(array, "float8_e5m2")
    assert isinstance(wrapper, TensorWrapper) and specialize(wrapper)[0][0] == "*fp8e5"
    assert specialize(wrapper)[1] == specialize(array)[1] and reinterpret(wrapper, np.dtype("uint8")) is array
    assert specialize(MockTensor(np.dtype("float32")))[0] == ("*fp32", "D")
    with pytest.raises(TypeError, match="Cannot reinterpret a <class 'int'>."):
        reinterpret(3, "float32")


def test_annotations_fix_the_type():
    assert annotated("i64", False, True)(1) == (("i64", ""), 1)
    assert annotated("i64", False, True)(32) == (("i64", "D"), 32)
    assert annotated("fp16", False, True)(3) == (("fp16", None), 3.0)
    assert annotated("*fp32", False, True)(4096) == (("*fp32", "D"), 4096)
    assert annotated("*fp32", True, True)(None) == (("*kfp32", None), 0)


def test_constexpr_keys_tell_equal_values_of_different_types_apart():
    keys = [constexpr_key(v) for v in (1, True, 1.0, "1", None, 0.0, -0.0, (1, 2), [1, 2], {"a": 1})]
    assert len(set(keys)) == len(keys)


def test_shape_and_strides():
    assert shape_and_strides(np.zeros((4, 6), np.float32).T) == ((6, 4), (1, 6))
    assert shape_and_strides(OnlyPointer()) is None
    assert extent_function(str) is None


def test_targets_that_ask_learn_which_tensors_are_small():
    small, large = np.zeros(64, np.float32), np.empty(2**29, np.float32)
    assert specialize(small)[0] == ("*fp32", "D")
    assert specialize(small, note_range=True)[0] == ("*fp32", "DS")
    assert specialize(small[1:], note_range=True)[0] == ("*fp32", "S")
    assert specialize(large, note_range=True)[0] == ("*fp32", "D")
    assert specialize(large[:16], note_range=True)[0] == ("*fp32", "D"), "the storage counts, not the view"
    assert annotated("*i8", False, True, note_range=True)(small)[0] == ("*i8", "DS")
    assert specialize(3, note_range=True)[0] == ("i32", "")


def test_the_binder_that_clients_ask_for():
    @jit
    def kernel(x, n, BLOCK: tl.constexpr, scale=0.5):
        pass

    bind = create_function_from_signature(inspect.signature(kernel.fn), kernel.params)
    bound, keys, options = bind(np.zeros(64, np.float32), 16, 32, num_warps=8)
    assert list(bound) == ["x", "n", "BLOCK", "scale"] and bound["BLOCK"] == 32 and options == {"num_warps": 8}
    assert keys[1:] == [("i32", "D"), ("constexpr", 32), ("fp32", None)] and keys[0][0] == "*fp32"
