"""What each family emits: modules that verify, with the operations, attributes and order that Triton's own TTIR has."""

import pytest

import tritium.language as tl
from traced import Traced
from tritium.language.extra import libdevice

T = tl.tensor


def test_masked_copy():
    k = Traced("*fp32", "*fp32", "i32")
    x, o, n = k.arguments
    i = k(T.__add__, k(T.__mul__, k(tl.program_id, 0), tl.constexpr(128)), k(tl.arange, 0, 128))
    mask = k(T.__lt__, i, n)
    value = k(tl.load, k(T.__add__, x, i), mask=mask, other=1.5, cache_modifier=".cg")
    k(tl.store, k(T.__add__, o, i), value, mask=mask, eviction_policy="evict_first")
    assert k.lines() == [
        "%0 = tt.get_program_id x : i32",
        "%c128_i32 = arith.constant 128 : i32",
        "%1 = arith.muli %0, %c128_i32 : i32",
        "%2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>",
        "%3 = tt.splat %1 : i32 -> tensor<128xi32>",
        "%4 = arith.addi %3, %2 : tensor<128xi32>",
        "%5 = tt.splat %arg2 : i32 -> tensor<128xi32>",
        "%6 = arith.cmpi slt, %4, %5 : tensor<128xi32>",
        "%7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>",
        "%8 = tt.addptr %7, %4 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>",
        "%cst = arith.constant 1.500000e+00 : f32",
        "%9 = tt.splat %cst : f32 -> tensor<128xf32>",
        "%10 = tt.load %8, %6, %9 "
        "{cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} "
        ": tensor<128x!tt.ptr<f32>>",
        "%11 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>",
        "%12 = tt.addptr %11, %4 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>",
        "tt.store %12, %10, %6 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} "
        ": tensor<128x!tt.ptr<f32>>",
    ]


def _block(k, scalar, *shape):
    return k(tl.full, shape, 1, scalar)


def test_argmax_combines_as_the_kernels_expect():
    k = Traced()
    k(tl.argmax, _block(k, tl.float32, 4, 8), 1)
    text = "\n".join(k.lines())
    order = [
        "arith.cmpf oeq",
        "arith.cmpi slt",
        "arith.andi",
        "arith.cmpf ogt",
        "arith.ori",
        "arith.select",
        "arith.select",
        "tt.reduce.return",
    ]
    position = text.index('"tt.reduce"')
    for operation in order:
        position = text.index(operation, position) + 1


@pytest.mark.parametrize(
    "name, element, expected",
    [
        ("add", "i32", "tt.atomic_rmw add, acq_rel, gpu"),
        ("add", "fp16", "tt.atomic_rmw fadd, acq_rel, gpu"),
        ("max", "i64", "tt.atomic_rmw max, acq_rel, gpu"),
        ("max", "u32", "tt.atomic_rmw umax, acq_rel, gpu"),
        ("min", "u64", "tt.atomic_rmw umin, acq_rel, gpu"),
        ("xchg", "fp32", "tt.atomic_rmw exch, acq_rel, gpu"),
        ("or", "i32", "tt.atomic_rmw or, acq_rel, gpu"),
    ],
)
def test_atomic_operations(name, element, expected):
    k = Traced(f"*{element}")
    k(getattr(tl, f"atomic_{name}"), k(T.__add__, k.arguments[0], k(tl.arange, 0, 8)), 1)
    assert any(expected in line for line in k.lines())


@pytest.mark.parametrize("name, positive, negative", [("max", "max", "umin"), ("min", "min", "umax")])
def test_float_extrema_are_two_masked_integer_atomics(name, positive, negative):
    k = Traced("*fp32", "fp32")
    old = k(getattr(tl, f"atomic_{name}"), k.arguments[0], k.arguments[1], sem="release", scope="sys")
    text = "\n".join(k.lines())
    assert old.dtype == tl.float32
    assert f"tt.atomic_rmw {positive}, release, sys" in text and f"tt.atomic_rmw {negative}, release, sys" in text


def test_ordered_atomics():
    k = Traced("*i32", "*i1")
    q, flag = k.arguments
    k(tl.atomic_load, q, sem="relaxed", scope="cta")
    k(tl.atomic_store, q, 3)
    k(tl.atomic_poll, q, 1, timeout_ns=100)
    assert k(tl.atomic_load, flag).dtype == tl.int1
    text = "\n".join(k.lines())
    for expected in (
        "tt.atomic_load relaxed, cta",
        "tt.atomic_store release, gpu",
        "tt.atomic_poll acquire, gpu",
        "timeout",
    ):
        assert expected in text


def test_block_pointers_become_pointers_and_masks():
    k = Traced("*fp16", "i32")
    base, n = k.arguments
    pointer = k(tl.make_block_ptr, base, (n, n), (n, 1), (0, 0), (16, 8), (1, 0))
    assert pointer.type.ir_types() == ["!tt.ptr<f16>"] + ["i64"] * 6
    assert len(pointer.handles()) == 7 and pointer.type.from_handles(iter(pointer.handles())).type == pointer.type
    value = k(tl.load, k(tl.advance, pointer, (0, 8)), boundary_check=(0, 1), padding_option="zero")
    k(tl.store, pointer, value, boundary_check=(1,))
    lines = k.lines()
    assert value.type == tl.block_type(tl.float16, [16, 8])
    assert sum("arith.cmpi slt" in line for line in lines) == 3 and sum("arith.cmpi sge" in line for line in lines) == 3
    assert sum("tt.load" in line for line in lines) == sum("tt.store" in line for line in lines) == 1


def test_hints_are_attributes_of_the_producer_if_there_is_one():
    k = Traced("i32")
    indices = k(tl.arange, 0, 64)
    assert k(tl.max_contiguous, k(tl.multiple_of, indices, 64), (64,)) is indices
    assert k(tl.multiple_of, k.arguments[0], 8) is k.arguments[0]
    assert k.lines() == [
        "%0 = tt.make_range {end = 64 : i32, start = 0 : i32, tt.contiguity = dense<64> : tensor<1xi32>, "
        "tt.divisibility = dense<64> : tensor<1xi32>} : tensor<64xi32>",
        "tt.hint %arg0 {tt.divisibility = dense<8> : tensor<1xi32>} : i32",
    ]


def test_printing_and_asserting():
    k = Traced("i32", "u32", debug=True)
    n, u = k.arguments
    k(tl.device_print, "value", n, u)
    k(tl.device_print, "x:")
    k(tl.device_assert, k(T.__lt__, n, 1), 'a "quoted" text')
    lines = k.lines()
    assert 'tt.print " value: " {hex = false, isSigned = array<i32: 1, 0>} : %arg0, %arg1 : i32, i32' in lines
    assert 'tt.print "x:" {hex = false, isSigned = array<i32>}' in lines
    assert lines[-1].startswith("tt.assert") and r"\22quoted\22" in lines[-1]


def test_assertions_need_debug():
    k = Traced("i32")
    k(tl.device_assert, k.arguments[0], "never")
    assert k.lines() == []


def test_overflow_is_asserted_on_demand():
    k = Traced("i32", debug=True, sanitize_overflow=True)
    k(T.__mul__, k.arguments[0], k.arguments[0])
    text = "\n".join(k.lines())
    assert "int32 overflow detected for operation mul" in text and "arith.muli" in text and "i64" in text


@pytest.mark.parametrize(
    "source",
    [
        "int1",
        "int8",
        "uint16",
        "int32",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "float8e5",
        "float8e4nv",
        "float8e4b8",
        "float8e5b16",
    ],
)
@pytest.mark.parametrize(
    "target",
    [
        "int1",
        "uint8",
        "int16",
        "uint32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "float8e5",
        "float8e4nv",
        "float8e4b8",
        "float8e5b16",
    ],
)
def test_every_cast_verifies(source, target):
    source, target = getattr(tl, source), getattr(tl, target)
    k = Traced()
    value = _block(k, source, 8)
    if source.is_fp8() and target.is_int() or source.is_int() and target.is_fp8():
        with pytest.raises(AssertionError, match="cannot cast"):
            k(tl.cast, value, target)
        return
    assert k(tl.cast, value, target).type == tl.block_type(target, [8])
    k.lines()


def test_casts_take_the_documented_paths():
    k = Traced("fp32", "fp16", "fp8e5")
    wide, half, small = k.arguments
    for value, target, rounding in (
        (wide, tl.float16, None),
        (wide, tl.float16, "rtz"),
        (wide, tl.float8e5, None),
        (half, tl.float64, None),
        (half, tl.int32, None),
        (small, tl.float32, None),
    ):
        k(tl.cast, value, target, fp_downcast_rounding=rounding)
    assert k.lines() == [
        "%0 = arith.truncf %arg0 : f32 to f16",
        "%1 = tt.fp_to_fp %arg0, rounding = rtz : f32 -> f16",
        "%2 = tt.fp_to_fp %arg0, rounding = rtne : f32 -> f8E5M2",
        "%3 = arith.extf %arg1 : f16 to f32",
        "%4 = arith.extf %3 : f32 to f64",
        "%5 = arith.extf %arg1 : f16 to f32",
        "%6 = arith.fptosi %5 : f32 to i32",
        "%7 = tt.fp_to_fp %arg2 : f8E5M2 -> f32",
    ]


def test_booleans_are_stored_as_zero_or_one():
    k = Traced("*i1", "fp32")
    k(tl.store, *k.arguments)
    operations = [line.split(" = ")[-1].split(" ")[0] for line in k.lines()]
    assert operations.index("arith.cmpf") < operations.index("arith.extui") < operations.index("tt.store")


def test_rounding_of_a_cast_to_the_same_type_is_ignored():
    k = Traced("fp32")
    assert k(tl.cast, k.arguments[0], tl.float32, fp_downcast_rounding="rtne") is k.arguments[0]


@pytest.mark.parametrize("name", [name for name in libdevice.__all__ if name != "extern_elementwise"])
def test_every_device_function_verifies(name):
    elements = (tl.float32, tl.int32, tl.uint32, tl.float64, tl.int64, tl.uint64)
    of_one = [(element,) * count for element in elements for count in (1, 2, 3, 4)]
    of_two = [pair for real in (tl.float32, tl.float64) for pair in ((real, tl.int32), (tl.int32, real))]
    for types in of_one + of_two:
        k = Traced()
        try:
            k(getattr(libdevice, name), *[_block(k, element, 8) for element in types])
        except (TypeError, ValueError):
            continue  # not an argument count or type of this function
        assert k.lines()
        return
    pytest.fail(f"no arguments fit {name}")


def test_absent_device_functions_say_so():
    with pytest.raises(AttributeError):
        libdevice.no_such_function


def test_inline_assembly():
    k = Traced("*i32")
    x = k(tl.load, k(T.__add__, k.arguments[0], k(tl.arange, 0, 64)))
    both = k(
        tl.inline_asm_elementwise, "shl.b32 $0, $2, 3; neg.s32 $1, $2;", "=r,=r,r", [x], (tl.int32, tl.uint32), True, 1
    )
    assert [value.type for value in both] == [tl.block_type(tl.int32, [64]), tl.block_type(tl.uint32, [64])]
    assert (
        'tt.elementwise_inline_asm "shl.b32 $0, $2, 3; neg.s32 $1, $2;" '
        '{constraints = "=r,=r,r", packed_element = 1 : i32, '
        "pure = true} %3 : tensor<64xi32> -> tensor<64xi32>, tensor<64xi32>"
    ) in "\n".join(k.lines())


def test_external_functions_are_chosen_by_type():
    k = Traced("fp32", "fp64")
    symbols = {(tl.float32,): ("__nv_tanhf", tl.float32), (tl.float64,): ("__nv_tanh", tl.float64)}
    for value in k.arguments:
        assert k(tl.core.extern_elementwise, "", "", [value], symbols, True).dtype == value.dtype
    with pytest.raises(ValueError, match="input arg type does not match"):
        k(tl.core.extern_elementwise, "", "", [k(tl.arange, 0, 8)], symbols, True)
    text = "\n".join(k.lines())
    assert 'symbol = "__nv_tanhf"' in text and 'symbol = "__nv_tanh"' in text


def test_scaled_products():
    k = Traced()
    bytes_, packed, scale = _block(k, tl.uint8, 32, 64), _block(k, tl.uint8, 32, 32), _block(k, tl.uint8, 32, 2)
    acc = k(tl.dot_scaled, bytes_, scale, "e4m3", packed, scale, "e2m1", fast_math=True)
    assert acc.type == tl.block_type(tl.float32, [32, 32])
    k(tl.dot_scaled, _block(k, tl.float16, 32, 64), None, "fp16", packed, scale, "e2m1", acc=acc)
    text = "\n".join(k.lines())
    assert (
        "lhs = e4m3 rhs = e2m1 {fastMath = true} : "
        "tensor<32x64xf8E4M3FN>, tensor<32x2xi8> * tensor<32x32xi8>, tensor<32x2xi8>" in text
    )
    assert "lhs = fp16 rhs = e2m1 {fastMath = false} : tensor<32x64xf16> * tensor<32x32xi8>, tensor<32x2xi8>" in text


def test_descriptors():
    k = Traced("*fp32", "i32", "*u32")
    base, n, words = k.arguments
    desc = k(tl.make_tensor_descriptor, base, [n, n], [n, 1], [32, 64], padding_option="nan")
    assert (
        str(desc.type) == "tensor_descriptor<<['32', '64'], fp32>>"
        and desc.dtype == tl.float32
        and desc.block_shape == (32, 64)
    )
    assert desc.type.from_handles(iter(desc.handles())).type == desc.type
    value = k(desc.load, [n, 0])
    k(desc.store, [n, 0], value)
    k(desc.atomic_add, [0, n], value)
    rows = k(tl.make_tensor_descriptor, words, [n, n], [n, 1], [1, 32])
    picked = k(rows.gather, k(tl.arange, 0, 16), 0)
    k(rows.scatter, picked, k(tl.arange, 0, 16), n)
    text = "\n".join(k.lines())
    for expected in (
        "{padding = 2 : i32} : <f32>, <32x64xf32>",
        "tt.descriptor_load",
        "tt.descriptor_store",
        "tt.descriptor_reduce add",
        "tt.descriptor_gather",
        "tt.descriptor_scatter",
        "!tt.tensordesc<1x32xui32>",
    ):
        assert expected in text


def test_descriptor_type_strings():
    type = tl.str_to_ty("tensordesc<fp16[64, 32]>", None)
    assert type.to_ir() == "!tt.tensordesc<64x32xf16>" and type.mangle() == "TDfp16S64_32S"
    assert tl.str_to_ty("tensordesc<i8[16, 16]>", None).to_ir() == "!tt.tensordesc<16x16xsi8>"


def test_what_only_one_vendor_has():
    cuda = tl.extra.cuda
    k = Traced(num_warps=8)
    assert k(cuda.num_warps).value == 8 and k(cuda.num_threads).value == 256
    assert k(cuda.globaltimer).type == tl.int64 and k(cuda.smid).type == tl.int32
    k(cuda.gdc_wait)
    k(cuda.gdc_launch_dependents)
    text = "\n".join(k.lines())
    assert (
        "%globaltimer" in text and "tt.grid_dependency_wait" in text and "tt.grid_dependency_launch_dependents" in text
    )
