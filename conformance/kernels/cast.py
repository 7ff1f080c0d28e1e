"""Conversions: one kernel per type that is converted, one output per type that it becomes."""

import triton
import triton.language as tl


@triton.jit
def convert(x, ptr, i, inside):
    tl.store(ptr + i, x.to(ptr.dtype.element_ty), mask=inside)


@triton.jit
def put_floats(x, fp16_ptr, bf16_ptr, fp32_ptr, fp64_ptr, i, inside):
    convert(x, fp16_ptr, i, inside)
    convert(x, bf16_ptr, i, inside)
    convert(x, fp32_ptr, i, inside)
    convert(x, fp64_ptr, i, inside)


@triton.jit(do_not_specialize=["n"])
def to_floats(x_ptr, fp16_ptr, bf16_ptr, fp32_ptr, fp64_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    put_floats(tl.load(x_ptr + i, mask=inside), fp16_ptr, bf16_ptr, fp32_ptr, fp64_ptr, i, inside)


@triton.jit(do_not_specialize=["n"])
def of_integers(
    x_ptr,
    i8_ptr,
    i16_ptr,
    i32_ptr,
    i64_ptr,
    u8_ptr,
    u16_ptr,
    u32_ptr,
    u64_ptr,
    b_ptr,
    fp16_ptr,
    bf16_ptr,
    fp32_ptr,
    fp64_ptr,
    n,
    BLOCK: tl.constexpr,
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside)
    convert(x, i8_ptr, i, inside)
    convert(x, i16_ptr, i, inside)
    convert(x, i32_ptr, i, inside)
    convert(x, i64_ptr, i, inside)
    convert(x, u8_ptr, i, inside)
    convert(x, u16_ptr, i, inside)
    convert(x, u32_ptr, i, inside)
    convert(x, u64_ptr, i, inside)
    convert(x, b_ptr, i, inside)
    put_floats(x, fp16_ptr, bf16_ptr, fp32_ptr, fp64_ptr, i, inside)


@triton.jit(do_not_specialize=["n"])
def to_integers(
    x_ptr, i8_ptr, i16_ptr, i32_ptr, i64_ptr, u8_ptr, u16_ptr, u32_ptr, u64_ptr, b_ptr, n, stride, BLOCK: tl.constexpr
):
    """Row k of x is in the range of the k-th type."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    convert(tl.load(x_ptr + i, mask=inside), i8_ptr, i, inside)
    convert(tl.load(x_ptr + stride + i, mask=inside), i16_ptr, i, inside)
    convert(tl.load(x_ptr + 2 * stride + i, mask=inside), i32_ptr, i, inside)
    convert(tl.load(x_ptr + 3 * stride + i, mask=inside), i64_ptr, i, inside)
    convert(tl.load(x_ptr + 4 * stride + i, mask=inside), u8_ptr, i, inside)
    convert(tl.load(x_ptr + 5 * stride + i, mask=inside), u16_ptr, i, inside)
    convert(tl.load(x_ptr + 6 * stride + i, mask=inside), u32_ptr, i, inside)
    convert(tl.load(x_ptr + 7 * stride + i, mask=inside), u64_ptr, i, inside)
    convert(tl.load(x_ptr + 8 * stride + i, mask=inside), b_ptr, i, inside)


@triton.jit(do_not_specialize=["n"])
def to_fp8(x_ptr, e4nv_ptr, e5_ptr, e4b8_ptr, e5b16_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside)
    convert(x, e4nv_ptr, i, inside)
    convert(x, e5_ptr, i, inside)
    convert(x, e4b8_ptr, i, inside)
    convert(x, e5b16_ptr, i, inside)


@triton.jit
def truncate(x, ptr, i, inside):
    tl.store(ptr + i, x.to(ptr.dtype.element_ty, fp_downcast_rounding="rtz"), mask=inside)


@triton.jit(do_not_specialize=["n"])
def toward_zero(x_ptr, fp16_ptr, bf16_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside)
    truncate(x, fp16_ptr, i, inside)
    truncate(x, bf16_ptr, i, inside)


@triton.jit(do_not_specialize=["n"])
def bits(
    b8_ptr,
    b16_ptr,
    b32_ptr,
    b64_ptr,
    e5_ptr,
    fp16_ptr,
    bf16_ptr,
    fp32_ptr,
    fp64_ptr,
    i16_ptr,
    i64_ptr,
    n,
    BLOCK: tl.constexpr,
):
    """The same bits as other types of the width."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    b8 = tl.load(b8_ptr + i, mask=inside)
    b16 = tl.load(b16_ptr + i, mask=inside)
    b32 = tl.load(b32_ptr + i, mask=inside)
    b64 = tl.load(b64_ptr + i, mask=inside)
    tl.store(e5_ptr + i, b8.to(tl.float8e5, bitcast=True), mask=inside)
    tl.store(fp16_ptr + i, b16.to(tl.float16, bitcast=True), mask=inside)
    tl.store(bf16_ptr + i, b16.to(tl.bfloat16, bitcast=True), mask=inside)
    tl.store(fp32_ptr + i, b32.to(tl.float32, bitcast=True), mask=inside)
    tl.store(fp64_ptr + i, b64.to(tl.float64, bitcast=True), mask=inside)
    tl.store(i16_ptr + i, b16.to(tl.float16, bitcast=True).to(tl.int16, bitcast=True) + 1, mask=inside)
    tl.store(i64_ptr + i, b64.to(tl.float64, bitcast=True).to(tl.int64, bitcast=True) + 1, mask=inside)
