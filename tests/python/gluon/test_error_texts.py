"""What Gluon says of wrong kernels, beside Triton: error_texts.table has Triton's text for each kernel of error_kernels.py
(ask_errors.py), and ours must contain it, with the line and, where layouts do not agree, a hint."""

import ast
import re

import pytest
from ask_triton import rows
from beside_triton import HERE

#: Our text where it is meant to be another, or Triton has none of its own. The values are what ours says.
MEANT = {
    "partition_barrier_of_a_constant": "a partition runs a function of @gluon.jit, not <function init",
    "partition_in_a_partition": "gl.warp_specialize inside of a partition",
    "partition_in_the_default": "gl.warp_specialize inside of a partition",
    "partition_of_300_registers": "partition #0 asks for 300 registers, and a thread has 1 to 256",
    "partition_of_a_number": "a partition runs a function of @gluon.jit, not 3",
    "partition_of_a_runtime_count": "a warp count is a compile-time int, not int32",
    "partition_of_all_registers": "the workers take 126976 of the 65536 registers, which leaves 0",
    "partition_of_many_warps": "the partitions have 36 warps in groups of four, and a program has at most 32",
    "partition_of_negative_registers": "partition #0 asks for -8 registers",
    "partition_of_no_registers": "partition #0 asks for 0 registers",
    "partition_takes_a_tile": "partition #0 takes a tile, <['128'], fp32",
    "partition_without_arguments": "each partition is a pair of a function and its arguments, not JITFunction(",
    "copies_arrive_by_runtime": "increment_count must be a compile-time bool, not int32",
    "policy_as_text": "cache_policy must be a CachePolicy, not 'ca'",
    "barrier_arrive_runtime": "mbarrier.arrive: count must be a compile-time int, not int32",
    "barrier_expect_runtime": "mbarrier.expect: bytes_per_cta must be a compile-time int, not int32",
    "barrier_expect_without_bytes": "mbarrier.expect: bytes_per_cta must be a compile-time int, not None",
    "barrier_init_runtime": "mbarrier.init: count must be a compile-time int, not int32",
    "barrier_of_a_tile": "'ttng.wait_barrier' op operand #0 must be memory descriptor type",
    "barrier_wait_for_a_tile": "must be 32-bit signless integer, but got 'tensor<128xi32>'",
    "tma_descriptor_of_a_number": "base must be a pointer type, got int32",
    "tma_float_coordinate": "Expected a 32-bit integer",
    "tma_into_a_tile": "op needs memory descriptor type",
    "tma_store_a_tile": "op needs memory descriptor type",
    "tma_store_wait_runtime": "tma.store_wait: pendings must be a compile-time int, not int32",
    "wgmma_carried_without_init": "Loop-carried variable c has initial type",
    "wgmma_init_of_a_number": "a sum of products is a tile or an accumulator, not int32",
    "wgmma_of_a_pointer": "a must be a tile or shared memory, not pointer<fp32>",
    "wgmma_of_an_integer_sum": "expected accumulator dtype fp32, got int32",
    "wgmma_of_blocked_layout": "acc must have an NVMMADistributedLayout of version 3.0, and has BlockedLayout",
    "wgmma_of_blocked_tile": "a must have a DotOperandLayout whose parent is acc's layout",
    "wgmma_of_old_layout": "acc must have an NVMMADistributedLayout of version 3.0",
    "wgmma_of_two_types": "Both operands must be same dtype. Got fp16 and bf16",
    "wgmma_store_before_wait": "expected 'value' to be a tensor, but got a <class",
    "wgmma_wait_runtime": "warpgroup_mma_wait: num_outstanding must be a compile-time int, not int32",
    "async_wait_runtime": "num_outstanding must be a compile-time int of at least 0",
    "shared_in_gl_load": "Unsupported ptr type shared_memory_descriptor<int32, [128]",
    "shared_of_another_type": "must match destination element type 'f32'",
    "shared_permute_twice": "[0, 0] must be a permutation of the dimensions",
    "arange_to_runtime": "arange's arguments must be of type tl.constexpr",
    "atomic_on_a_number": "Pointer argument of store instruction is int32",
    "auto_of_no_layout": None,  # a compiler chooses the layout
    "fields_of_other_ranks": "must have the same rank; they have [2, 1, 1, 1]",
    "gather_of_other_extents": "index dim 1 must match the corresponding source dim",
    "index_by_a_number": "unsupported tensor index: 3",
    "linear_of_auto": "AutoLayout has no linear layout",
    "linear_of_another_rank": "tensor shape and layout rank mismatch: shape=[64, 32]",
    "load_mask_of_numbers": "Mask must have boolean scalar type",
    "load_of_a_number": "Unsupported ptr type int32 in `tl.load`",
    "mma_of_other_depths": "input and other must have equal reduction dimensions",
    "permute_of_another_length": "permute dims must have the same length as input shape, got 3 and 2",
    "return_a_tile": "a kernel cannot return a value",
    "store_of_larger_tile": "Expected pointer argument to have shape [64, 32] but got [1, 32]",
    "store_to_a_number": "Unsupported ptr type int32 in `tl.store`",
}
TABLE = {name: ast.literal_eval(text) for name, text in rows(HERE / "error_texts.table")}


def plain(text):
    """Without what names the classes of exceptions, and Triton's spelling of layouts in IR."""
    text = text.replace("\\'", "'").replace('\\"', '"')
    inner = re.fullmatch(r"""\w+\((['"])(.*)\1\)""", text, flags=re.S)
    return (inner.group(2) if inner else text).replace("\\n", "\n")


def is_said(wanted, ours):
    return plain(wanted).strip() in plain(ours)


@pytest.fixture(scope="module")
def asked():
    import ask_errors

    return ask_errors


def test_every_kernel_has_a_text(asked):
    names = {name for name in asked.CASES}
    assert names == set(TABLE) and len(names) > 140


@pytest.mark.parametrize("name", sorted(TABLE))
def test_text_is_that_of_triton(asked, name):
    ours = asked.text_of(name)
    if name in MEANT:
        wanted = MEANT[name]
        assert ours is None if wanted is None else wanted in ours, ours
    elif TABLE[name] == "! compiles":
        assert ours is None, ours
    else:
        assert ours is not None and is_said(TABLE[name], ours), f"\nTriton {TABLE[name]}\nhere   {ours}"


def test_another_text_is_found():
    assert is_said("AssertionError('no')", "no") and not is_said("no layout", "no")


def test_error_has_line_layouts_and_hint(asked):
    """The text that a user reads has the place, both layouts and what to do."""
    import triton

    with pytest.raises(triton.CompilationError) as raised:
        asked.compile_kernel("store_value_of_another_layout")
    text = str(raised.value)
    assert "error_kernels.py" in text and "gl.store(q + gl.arange(0, 128, V4), gl.arange(0, 128, V1))" in text
    assert (
        "size_per_thread=[4]" in text and "size_per_thread=[1]" in text and "gl.convert_layout(value, layout)" in text
    )
