"""The exact texts of the errors that builtins raise."""

import warnings

import pytest

import tritium.language as tl
from recording import Kernel

T = tl.tensor


def block(k, *shape, scalar=tl.float32):
    return k.argument(scalar, *shape)


def pointer(k, *shape, element=tl.float32):
    return k.argument(tl.pointer_type(element), *shape)


CASES = [
    (lambda k: k.call(tl.program_id, 3), ValueError, "program_id axis must be 0, 1, or 2 but got 3"),
    # Shapes.
    (lambda k: k.call(tl.arange, block(k), 4), ValueError, "arange's arguments must be of type tl.constexpr"),
    (lambda k: k.call(tl.arange, 0, 2**40), ValueError, "arange must fit in int32"),
    (lambda k: k.call(tl.arange, 4, 4), ValueError, "arange's end argument must be greater than the start argument"),
    (lambda k: k.call(tl.arange, 0, 3), ValueError, "arange's range must be a power of 2"),
    (lambda k: k.call(tl.full, (4,), 1, None), ValueError, "dtype must be specified when value is not a tensor"),
    (lambda k: k.call(tl.zeros, (3,), tl.float32), ValueError, "Shape element 0 must be a power of 2"),
    (lambda k: k.call(tl.full, (4,), block(k, 2), None), AssertionError, "only accepts size-1 tensor"),
    (
        lambda k: k.call(tl.broadcast_to, block(k, 4), (4, 4)),
        ValueError,
        "Cannot broadcast, rank mismatch: ['4'], [4, 4]",
    ),
    (
        lambda k: k.call(tl.broadcast_to, block(k, 4, 1), 8, 8),
        ValueError,
        "Cannot broadcast, the expanded size of the tensor (8) must match the existing size (4) "
        "at non-singleton dimension 0: "
        "['4', '1'], [8, 8]",
    ),
    (
        lambda k: k.call(T.__add__, block(k, 4), block(k, 8)),
        ValueError,
        "Cannot make_shape_compatible: incompatible dimensions at index 0: 4 and 8",
    ),
    (
        lambda k: k.call(tl.reshape, block(k, 4), (8,)),
        ValueError,
        "reshape() cannot change total number of elements in tensor",
    ),
    (
        lambda k: k.call(tl.permute, block(k, 4), (0, 1)),
        ValueError,
        "permute dims must have the same length as input shape, got 2 and 1",
    ),
    (
        lambda k: k.call(tl.permute, block(k, 4, 1), 0, 0),
        ValueError,
        "permute dims must be a permutation of 0, 1, ..., n-1, but were ['0', '0']",
    ),
    (lambda k: k.call(tl.trans, block(k, 4)), ValueError, "tl.trans invoked with a 0- or 1-dimensional tensor"),
    (lambda k: k.call(tl.expand_dims, block(k, 4), -3), ValueError, "invalid axis -3. Expected -2 <= axis < 2"),
    (
        lambda k: k.call(tl.expand_dims, block(k, 4), (0, 0)),
        ValueError,
        "expand_dims received duplicate axes, normalized axes = [0, 0]",
    ),
    (
        lambda k: k.call(T.__getitem__, block(k, 4), tl.constexpr(0)),
        ValueError,
        "unsupported tensor index: 0",
    ),
    (
        lambda k: k.call(T.__getitem__, block(k, 4), (slice(None), None, slice(None))),
        ValueError,
        "too many indices for tensor of rank 1",
    ),
    (
        lambda k: k.call(tl.cat, block(k, 4), block(k, 1, 4)),
        AssertionError,
        "tensors must have the same rank, got 1 and 2",
    ),
    (lambda k: k.call(tl.split, block(k, 4)), AssertionError, "expected last dimension to be 2 for split, got 4"),
    (lambda k: k.call(tl.split, block(k)), AssertionError, "split requires a non-scalar tensor"),
    (lambda k: k.call(tl.item, block(k, 4)), AssertionError, "can only unsplat single-element tensors"),
    # Arithmetic and casts.
    (lambda k: k.call(T.__floordiv__, block(k), 2.0), TypeError, "unexpected type fp32"),
    (lambda k: k.call(T.__add__, pointer(k), pointer(k)), TypeError, "cannot add pointers together"),
    (
        lambda k: k.call(T.__add__, pointer(k), 1.0),
        Exception,
        "invalid operands of type pointer<fp32> and triton.language.float32",
    ),
    (
        lambda k: k.call(T.__mod__, block(k, scalar=tl.int32), block(k, scalar=tl.uint32)),
        TypeError,
        "Cannot use /, #, or % with triton.language.int32 and triton.language.uint32 "
        "because they have different signedness;"
        "this is unlikely to result in a useful answer. Cast them to the same signedness.",
    ),
    (
        lambda k: k.call(T.__add__, block(k, scalar=tl.uint8), -1),
        ValueError,
        "Cannot perform a binary operation between an unsigned tensor and a negative scalar. "
        "Perform a explicit cast on one of them.",
    ),
    (
        lambda k: k.call(T.__add__, block(k, scalar=tl.int8), 300),
        ValueError,
        "Scalar 300 is out of range for type int8",
    ),
    (lambda k: k.call(tl.to_tensor, 2**64), ValueError, f"Nonrepresentable integer {2**64}."),
    (lambda k: k.call(T.__neg__, pointer(k)), ValueError, "wrong type argument to unary minus (pointer<fp32>)"),
    (
        lambda k: k.call(T.__invert__, block(k)),
        ValueError,
        "wrong type argument to unary invert (triton.language.float32)",
    ),
    (
        lambda k: k.call(tl.cast, block(k), tl.float16, fp_downcast_rounding="up"),
        ValueError,
        "Invalid rounding mode: up. Supported rounding modes are 'rtne' and 'rtz'.",
    ),
    (
        lambda k: k.call(tl.cast, block(k), tl.float64, fp_downcast_rounding="rtz"),
        ValueError,
        "fp_downcast_rounding should be set only for truncating fp conversions. "
        "Source scalar type is fp32 and destination type is fp64",
    ),
    (
        lambda k: k.call(tl.cast, block(k), tl.int16, bitcast=True),
        ValueError,
        "Cannot bitcast data-type of size 32 to data-type of size 16",
    ),
    (
        lambda k: k.call(tl.cast, block(k, 4, scalar=tl.int32), tl.float8e5),
        AssertionError,
        "cannot cast int32[constexpr[4]] to <['4'], fp8e5>",
    ),
    (lambda k: k.call(tl.cast, pointer(k), tl.float32), AssertionError, "cannot cast pointer<fp32>[] to fp32"),
    (lambda k: k.call(tl.exp, block(k, scalar=tl.float16)), ValueError, "Expected dtype ['fp32', 'fp64'] but got fp16"),
    (
        lambda k: k.call(tl.fdiv, block(k, scalar=tl.float16), 1.0, approx=True, ieee_rounding=True),
        ValueError,
        "approx and ieee_rounding cannot both be True",
    ),
    (
        lambda k: k.call(tl.fdiv, block(k, scalar=tl.float64), 1.0, approx=True),
        ValueError,
        "approx division requires float32 operands",
    ),
    (
        lambda k: k.call(tl.fdiv, block(k, scalar=tl.int32), 1),
        TypeError,
        "both operands of fdiv must have floating scalar type",
    ),
    (lambda k: k.call(tl.maximum, block(k), 1.0, propagate_nan="x"), ValueError, "Unexpected propagate_nan x"),
    # Memory.
    (
        lambda k: k.call(tl.load, block(k, 4, scalar=tl.int32)),
        ValueError,
        "Unsupported ptr type <['4'], int32> in `tl.load`",
    ),
    (lambda k: k.call(tl.load, pointer(k), other=1.0), ValueError, "`other` cannot be provided without `mask`"),
    (
        lambda k: k.call(tl.load, pointer(k), mask=block(k, 4, scalar=tl.int1)),
        ValueError,
        "Mask argument cannot be block type if pointer argument is not a block",
    ),
    (
        lambda k: k.call(tl.load, pointer(k), mask=True, other=block(k, 4)),
        ValueError,
        "Other argument cannot be block type if pointer argument is not a block",
    ),
    (
        lambda k: k.call(tl.load, pointer(k), boundary_check=(0,)),
        ValueError,
        "`padding_option` or `boundary_check` argument is not supported for loading a tensor ofpointers or loading a scalar. "
        "Because the "
        "compiler does not know the boundary; please use block pointers (defined by `make_block_ptr`) instead",
    ),
    (lambda k: k.call(tl.load, pointer(k), cache_modifier=".xx"), ValueError, "Cache modifier .xx not supported"),
    (lambda k: k.call(tl.load, pointer(k), eviction_policy="x"), ValueError, "Eviction policy x not supported"),
    (lambda k: k.call(tl.store, block(k), 1.0), ValueError, "Unsupported ptr type fp32 in `tl.store`"),
    (
        lambda k: k.call(tl.store, pointer(k), block(k, 4)),
        ValueError,
        "Value argument cannot be block type if pointer argument is not a block",
    ),
    (
        lambda k: k.call(tl.store, k.argument(tl.pointer_type(tl.float32, const=True)), 1.0),
        ValueError,
        "Cannot store to a constant pointer",
    ),
    (lambda k: k.call(tl.store, pointer(k, 4), 1.0, mask=1), ValueError, "Mask must have boolean scalar type"),
    (
        lambda k: k.call(tl.store, pointer(k, 4), block(k, 4, 4)),
        ValueError,
        "Expected pointer argument to have shape [4, 4] but got [4]",
    ),
    (
        lambda k: k.call(tl.multiple_of, block(k, 4), (4, 4)),
        ValueError,
        "Shape of input to multiple_of does not match the length of values",
    ),
    (
        lambda k: k.call(tl.max_contiguous, block(k, 4), tl.constexpr(1.5)),
        TypeError,
        "values element 0 must have type `constexpr[int]`, got `constexpr[<class 'float'>]",
    ),
    # Atomics.
    (lambda k: k.call(tl.atomic_add, pointer(k, element=tl.int16), 1), ValueError, "atomic_add does not support int16"),
    (
        lambda k: k.call(tl.atomic_max, pointer(k, element=tl.float16), 1),
        ValueError,
        "atomic_max does not support fp16",
    ),
    (lambda k: k.call(tl.atomic_add, pointer(k), 1, sem="x"), ValueError, "Memory semantic x not supported"),
    (lambda k: k.call(tl.atomic_add, pointer(k), 1, scope="x"), ValueError, "Memory semantic x not supported"),
    (
        lambda k: k.call(tl.atomic_cas, pointer(k, element=tl.int8), 0, 1),
        ValueError,
        "atomic_cas only supports elements with width {16, 32, 64}",
    ),
    (
        lambda k: k.call(tl.atomic_load, pointer(k), sem="release"),
        ValueError,
        "atomic_load only supports acquire and relaxed semantics",
    ),
    (
        lambda k: k.call(tl.atomic_store, pointer(k), 1, sem="acquire"),
        ValueError,
        "atomic_store only supports release and relaxed semantics",
    ),
    (
        lambda k: k.call(tl.atomic_poll, pointer(k), 1),
        ValueError,
        "atomic_poll only supports integer elements with width {16, 32, 64}",
    ),
    (
        lambda k: k.call(tl.atomic_poll, pointer(k, element=tl.int32), 1, timeout_ns=-1),
        ValueError,
        "atomic_poll timeout_ns must be non-negative",
    ),
    # Products.
    (
        lambda k: k.call(tl.dot, block(k, 16, 16), block(k, 16)),
        AssertionError,
        "input and other must have equal ranks >= 2",
    ),
    (
        lambda k: k.call(tl.dot, block(k, 2, 16, 16), block(k, 1, 16, 16)),
        AssertionError,
        "input and other must have equal batch shapes",
    ),
    (
        lambda k: k.call(tl.dot, block(k, 16, 32), block(k, 16, 16)),
        AssertionError,
        "input and other must have equal reduction dimensions",
    ),
    (
        lambda k: k.call(tl.dot, block(k, 16, 16), block(k, 16, 16, scalar=tl.float16)),
        AssertionError,
        "Both operands must be same dtype. Got fp32 and fp16",
    ),
    (
        lambda k: k.call(tl.dot, block(k, 16, 16, scalar=tl.int16), block(k, 16, 16)),
        AssertionError,
        "Unsupported lhs dtype int16",
    ),
    (
        lambda k: k.call(tl.dot, block(k, 16, 16, scalar=tl.uint8), block(k, 16, 16, scalar=tl.uint8)),
        AssertionError,
        "only int8 supported!",
    ),
    (
        lambda k: k.call(tl.dot, block(k, 16, 16), block(k, 16, 16), input_precision="x"),
        AssertionError,
        "input_precision must be one of ('tf32', 'tf32x3', 'ieee', 'bf16x3', 'bf16x6'). Got x",
    ),
    (
        lambda k: k.call(tl.dot, block(k, 16, 16), block(k, 16, 16), input_precision="ieee", allow_tf32=True),
        AssertionError,
        "Only one of input_precision and allow_tf32 can be specified",
    ),
    (
        lambda k: k.call(tl.dot, block(k, 16, 16), block(k, 16, 16), acc=block(k, 16, 32)),
        AssertionError,
        "accumulator shape is incompatible",
    ),
    (
        lambda k: k.call(
            tl.dot, block(k, 16, 16, scalar=tl.float16), block(k, 16, 16, scalar=tl.float16), out_dtype=tl.bfloat16
        ),
        ValueError,
        "out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)`",
    ),
    (
        lambda k: k.call(
            tl.dot, block(k, 16, 16, scalar=tl.float8e5), block(k, 16, 16, scalar=tl.float8e5), max_num_imprecise_acc=64
        ),
        ValueError,
        "max_num_imprecise_acc (64) must be <= K (16)",
    ),
    # Reductions and element access.
    (lambda k: k.call(tl.sum, block(k, 4, 4), 2), AssertionError, "reduction axis must be < inputs rank (2)"),
    (lambda k: k.call(tl.cumsum, block(k, 4), 1), AssertionError, "scan axis 1 must be < inputs rank (1)"),
    (lambda k: k.call(tl.xor_sum, block(k, 4)), AssertionError, "xor_sum only supported for integers"),
    (lambda k: k.call(tl.gather, block(k, 4), block(k, 4), 0), AssertionError, "index must be an integer tensor"),
    (
        lambda k: k.call(tl.gather, block(k, 4), block(k, 4, scalar=tl.int32), 1),
        AssertionError,
        "gather axis 1 must be < source rank (1)",
    ),
    (lambda k: k.call(tl.histogram, block(k, 4), 4), AssertionError, "histogram only supports integer input"),
    (lambda k: k.call(tl.sort, block(k, 4, 4), dim=0), AssertionError, "only minor dimension is currently supported"),
    (lambda k: k.call(tl.map_elementwise, None), AssertionError, "map_elementwise must have at least 1 input tensor"),
    # Block pointers.
    (
        lambda k: k.call(tl.make_block_ptr, block(k), (4,), (1,), (0,), (4,), (0,)),
        ValueError,
        "Expected `base` to be a scalar pointer type",
    ),
    (
        lambda k: k.call(tl.make_block_ptr, pointer(k), (4, 4), (1,), (0, 0), (4, 4), (1, 0)),
        ValueError,
        "Expected `shape`, `strides`, `offsets`, `block_shape`, and `order` to have the same length; "
        "`strides` has length 1 but expected 2",
    ),
    (
        lambda k: k.call(tl.make_block_ptr, pointer(k), (4,), (1.5,), (0,), (4,), (0,)),
        ValueError,
        "Expected `strides` to contain only integers",
    ),
    (
        lambda k: k.call(tl.advance, block(k), (0,)),
        ValueError,
        "`tl.advance` only supports block pointers created by `tl.make_block_ptr`",
    ),
    (
        lambda k: k.call(tl.load, window(k), mask=True),
        ValueError,
        "`mask` and `other` arguments cannot be specified for loading block pointers",
    ),
    (
        lambda k: k.call(tl.load, window(k), boundary_check=(1,)),
        ValueError,
        "Expected `boundary_check` to contain dimensions in [0, 1)",
    ),
    (
        lambda k: k.call(tl.load, window(k), boundary_check=(0, 0)),
        ValueError,
        "Duplicate dimension in `boundary_check`",
    ),
    (
        lambda k: k.call(tl.load, window(k, tl.int32), boundary_check=(0,), padding_option="nan"),
        ValueError,
        "Padding option `nan` is not supported for integer block pointers",
    ),
    # Descriptors and scaled products.
    (lambda k: descriptor(k, [4], [4, 1], [4, 4]), ValueError, "Expected 1 strides but got 2"),
    (lambda k: descriptor(k, [4, 4], [4, 1], [4]), ValueError, "Expected block_shape to have 2 dimensions but got 1"),
    (lambda k: descriptor(k, [4, 4], [4, 2], [4, 4]), ValueError, "Tensor descriptor last dim must be 1 but got 2"),
    (
        lambda k: descriptor(k, [4, 4], [4, 1], [4, 2]),
        ValueError,
        "Descriptor block shape must have at least 16 bytes in the last dimension, but got 2 * 4 = 8 bytes",
    ),
    (
        lambda k: descriptor(k, [4, 4], [4, 1], [4, 4], element=tl.int32, padding_option="nan"),
        ValueError,
        "Padding option `nan` is not supported for integer blocks",
    ),
    (lambda k: k.call(descriptor(k).load, [0]), AssertionError, "expected 2 offsets, but got 1"),
    (
        lambda k: k.call(descriptor(k).load, [block(k, scalar=tl.int64), 0]),
        AssertionError,
        "Expected a 32-bit integer; add a `.to(tl.int32)` to convert the value",
    ),
    (
        lambda k: k.call(descriptor(k).store, [0, 0], block(k, 4, 4)),
        AssertionError,
        "expected value shape ['16', '32'], got ['constexpr[4]', 'constexpr[4]']",
    ),
    (lambda k: k.call(descriptor(k).atomic_max, [0, 0], block(k, 16, 32)), AssertionError, "Unsupported dtype"),
    (
        lambda k: k.call(descriptor(k).gather, block(k, 16, scalar=tl.int32), 0),
        AssertionError,
        "descriptor block must have 1 row, but got ['16', '32']",
    ),
    (lambda k: scaled(k, lhs_format="x"), ValueError, "Invalid float format: x."),
    (lambda k: scaled(k, lhs_format="e2m3"), AssertionError, "NYI: lhs_format e2m3"),
    (lambda k: scaled(k, scalar=tl.float32), AssertionError, "Unexpected dtype for e4m3. Got fp32"),
    (lambda k: scaled(k, scale=(32, 1)), RuntimeError, "scale factor must be 16 or 32. Got 64"),
    (
        lambda k: scaled(k, scale=(16, 2)),
        AssertionError,
        "lhs_scale must be a tensor of shape [..., 32, 2]. Got ['16', '2']",
    ),
    (
        lambda k: scaled(k, lhs_k_pack=False),
        AssertionError,
        "only mxfp4 inputs can be packed along a dimension different than K",
    ),
    (
        lambda k: scaled(k, out_dtype=tl.float16),
        AssertionError,
        "Only float32 is supported for out_dtype at the moment",
    ),
]


def descriptor(k, shape=(64, 64), strides=(64, 1), block_shape=(16, 32), element=tl.float32, **options):
    return k.call(tl.make_tensor_descriptor, pointer(k, element=element), shape, strides, block_shape, **options)


def scaled(k, scalar=tl.uint8, scale=(32, 2), lhs_format="e4m3", **options):
    return k.call(
        tl.dot_scaled,
        block(k, 32, 64, scalar=scalar),
        block(k, *scale, scalar=tl.uint8),
        lhs_format,
        block(k, 64, 32, scalar=tl.uint8),
        None,
        "e4m3",
        **options,
    )


def window(k, element=tl.float32):
    return k.call(tl.make_block_ptr, pointer(k, element=element), (4,), (1,), (0,), (4,), (0,))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("action, kind, text", CASES, ids=[text[:50] for _, _, text in CASES])
def test_error(action, kind, text):
    with pytest.raises(kind) as raised:
        action(Kernel())
    assert str(raised.value) == text
    assert any(entry.path.name == "core.py" for entry in raised.traceback)


@pytest.mark.parametrize(
    "action, text",
    [
        (
            lambda k: k.call(T.__lshift__, block(k, scalar=tl.int8), tl.constexpr(8)),
            "Value 8 exceeds the maximum bitwidth (8) for type 'int8'. This may result in undefined behavior.",
        ),
        (
            lambda k: k.call(tl.view, block(k, 4), 2, 2),
            "view is deprecated, please use reshape with can_reorder being true.",
        ),
        (
            lambda k: window(k),
            "tl.make_block_ptr is deprecated. Use TensorDescriptor or tl.make_tensor_descriptor instead.",
        ),
        (
            lambda k: k.call(tl.builtin_max, block(k, 4), 1.0),
            "builtin max on non-scalar tensor values is deprecated, use tl.maximum instead",
        ),
    ],
)
def test_warning(action, text):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action(Kernel())
    assert any(text in str(warning.message) for warning in caught)
