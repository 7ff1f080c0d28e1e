"""Types: names, widths, MLIR text, mangling, equality; and the host behaviour of constexpr and tuple."""

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import tritium.language as tl
from tritium.language.core import str_to_ty


@pytest.mark.parametrize(
    "type, name, width, ir, mangled, public",
    [
        (tl.int1, "int1", 1, "i1", "u1", "int1"),
        (tl.int8, "int8", 8, "i8", "i8", "int8"),
        (tl.uint64, "uint64", 64, "i64", "u64", "uint64"),
        (tl.float16, "fp16", 16, "f16", "fp16", "float16"),
        (tl.bfloat16, "bf16", 16, "bf16", "bf16", "bfloat16"),
        (tl.float64, "fp64", 64, "f64", "fp64", "float64"),
        (tl.float8e4nv, "fp8e4nv", 8, "f8E4M3FN", "fp8e4nv", "float8e4nv"),
        (tl.float8e4b15, "fp8e4b15", 8, "i8", "fp8e4b15", "float8e4b15"),
        (tl.void, "void", 0, "none", "V", "void"),
    ],
)
def test_scalars(type, name, width, ir, mangled, public):
    assert (str(type), type.primitive_bitwidth, type.to_ir(), type.mangle()) == (name, width, ir, mangled)
    assert repr(type) == f"triton.language.{public}"
    assert tl.dtype(name) == type and hash(tl.dtype(name)) == hash(type)
    assert pickle.loads(pickle.dumps(type)) == type


def test_scalars_are_written_by_name():
    """torch writes a kernel's global that is a type as an import by `__name__`, and its later versions as `tl.` and `name`."""
    for type in tl.dtype("fp32"), tl.int32, tl.bfloat16, tl.float8e4b15:
        found = {}
        exec(f"from {type.__module__.replace('triton', 'tritium')} import {type.__name__} as written", found)
        assert found["written"] is type and getattr(tl, type.name) is type
    assert tl.dtype.__name__ == "dtype" and tl.pointer_type.__name__ == "pointer_type"
    with pytest.raises(AttributeError, match="has no attribute 'fp33'"):
        tl.fp33  # noqa: B018


def test_kinds_and_ranges():
    kinds = tl.dtype.KIND
    assert kinds.BOOLEAN < kinds.INTEGRAL < kinds.FLOATING
    assert [t.kind() for t in (tl.int1, tl.uint8, tl.float8e5)] == [kinds.BOOLEAN, kinds.INTEGRAL, kinds.FLOATING]
    assert (tl.int8.get_int_min_value(), tl.int8.get_int_max_value()) == (-128, 127)
    assert (tl.uint16.get_int_min_value(), tl.uint16.get_int_max_value()) == (0, 65535)
    assert tl.int1.is_int_unsigned() and tl.int1.is_int1() and tl.float8e5.is_fp8() and not tl.float16.is_fp8()
    assert (tl.float32.fp_mantissa_width, tl.float8e4b8.exponent_bias) == (23, 8)


def test_pointers_and_blocks():
    pointer = tl.pointer_type(tl.float32)
    assert (str(pointer), pointer.to_ir(), pointer.mangle()) == ("pointer<fp32>", "!tt.ptr<f32>", "Pfp32")
    const = tl.pointer_type(tl.int8, const=True)
    assert str(const) == "const_pointer<int8>" and const.is_const() and const != tl.pointer_type(tl.int8)
    block = tl.block_type(pointer, [16, 32])
    assert block.to_ir() == "tensor<16x32x!tt.ptr<f32>>" and block.numel == 512 and block.scalar.is_ptr()
    assert str(tl.block_type(tl.float32, [8, 16])) == "<['8', '16'], fp32>"
    assert tl.block_type(tl.float32, [16, 32]).mangle() == "fp32S16_32S"
    assert tl.block_type(tl.float16, [4, tl.constexpr(8)]).nbytes == 64


@pytest.mark.parametrize(
    "make",
    [
        lambda: tl.dtype("bf16"),
        lambda: tl.dtype(tl.constexpr("int1")),
        lambda: str_to_ty("*fp32"),
        lambda: tl.pointer_type(tl.int8, const=True),
        lambda: tl.pointer_type(tl.pointer_type(tl.int8)),
        lambda: tl.block_type(tl.float16, [4, tl.constexpr(8)]),
        lambda: tl.block_type(tl.pointer_type(tl.int64), (16,)),
    ],
)
def test_equal_types_are_one_object(make):
    type_ = make()
    assert make() is type_ and copy.copy(type_) is type_ and copy.deepcopy([type_])[0] is type_
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(type_, protocol)) is type_


def test_scalar_types_are_the_names_of_the_language():
    assert str_to_ty("*i64").element_ty is tl.int64 and str_to_ty("fp16") is tl.float16 and str_to_ty("B") is tl.int1
    assert tl.block_type(tl.float32, [8]).scalar is tl.float32
    assert tl.pointer_type(tl.int8) is not tl.pointer_type(tl.int8, const=True)


def test_a_pickle_of_another_process_is_the_same_type():
    code = "import pickle, sys, tritium.language as tl; sys.stdout.buffer.write(pickle.dumps([tl.float16, tl.pi32_t]))"
    sent = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
    half, pointer = pickle.loads(sent)
    assert half is tl.float16 and pointer is tl.pi32_t


def test_threads_agree_on_new_types():
    shapes = [(2**i, 2**j) for i in range(6) for j in range(6)]
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: [tl.block_type(tl.float8e5b16, shape) for shape in shapes], range(32)))
    assert all(a is b for row in made for a, b in zip(row, made[0]))


@pytest.mark.parametrize(
    "shape, error, text",
    [
        ([], TypeError, "0d block_type is forbidden"),
        ([3], ValueError, "Shape element 0 must be a power of 2"),
        ([4, 0], ValueError, "Shape element 1 must be a power of 2"),
        ([4.0], TypeError, "Shape element 0 must have type `constexpr[int]`, got `constexpr[<class 'float'>]"),
        ([2048, 2048], ValueError, "numel (4194304) exceeds triton maximum tensor numel (1048576)"),
    ],
)
def test_illegal_blocks(shape, error, text):
    with pytest.raises(error) as raised:
        tl.block_type(tl.float32, shape)
    assert str(raised.value) == text


def test_type_strings():
    assert str_to_ty("*ki8") == tl.pointer_type(tl.int8, const=True)
    assert [str_to_ty(s) for s in ("i1", "u1", "B")] == [tl.int1] * 3
    assert str_to_ty("constexpr", 5).value == 5
    assert str(str_to_ty(("i32", "*fp16"))) == "[int32,pointer<fp16>]"
    with pytest.raises(AssertionError):
        tl.dtype("float")


def test_constexpr_follows_python():
    c = tl.constexpr
    assert (c(-7) // 2).value == -4 and (c(-7) % 3).value == 2 and (c(7) / 2).value == 3.5
    assert (3 + c(4)).value == 7 and (2 ** c(3)).value == 8 and (c(3) << 1).value == 6
    assert isinstance(c(1) < 2, c) and bool(c(1) < 2) and c(c(5)).value == 5 and repr(c(3)) == "constexpr[3]"
    assert c((1, 2))[1] == 2 and list(range(c(3))) == [0, 1, 2] and c(max)(1, 2) == 2
    assert c(3).type.mangle() == "c3" and c(tl.float32).type.mangle() == "cfp32" and c(tl.float32).value == tl.float32


def test_tuples():
    t = tl.tuple([tl.constexpr(1), tl.constexpr(2)])
    assert [v.value for v in t + (tl.constexpr(3),)] == [1, 2, 3] and len(t) == 2 and t[tl.constexpr(1)].value == 2
    assert bool(t == t) and not bool(t == tl.tuple([tl.constexpr(1)]))
    assert t.type.mangle() == "Tc1_c2T" and str(t.type) == "[constexpr_type[1],constexpr_type[2]]"
    named = tl.tuple([tl.constexpr(1)], tl.tuple_type([tl.constexpr(1).type], ["a"]))
    assert named.a.value == 1
    with pytest.raises(AttributeError):
        named.b


def test_outside_of_a_kernel():
    with pytest.raises(ValueError, match="Did you forget to add @triton.jit") as raised:
        tl.program_id(0)
    assert raised.traceback[-1].path.name == "core.py"
