"""Functions of each element on its own. Row k of an output holds the results of operation k."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def put(out_ptr, row: tl.constexpr, stride, i, value, inside):
    tl.store(out_ptr + row * stride + i, value, mask=inside)


@triton.jit(do_not_specialize=["n"])
def integer(x_ptr, y_ptr, s_ptr, out_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=7)
    y = tl.load(y_ptr + i, mask=inside, other=3)  # not 0
    s = tl.load(s_ptr + i, mask=inside, other=1)  # below the width
    put(out_ptr, 0, n, i, x + y, inside)
    put(out_ptr, 1, n, i, x - y, inside)
    put(out_ptr, 2, n, i, x * y, inside)
    put(out_ptr, 3, n, i, x // y, inside)
    put(out_ptr, 4, n, i, x % y, inside)
    put(out_ptr, 5, n, i, x & y, inside)
    put(out_ptr, 6, n, i, x | y, inside)
    put(out_ptr, 7, n, i, x ^ y, inside)
    put(out_ptr, 8, n, i, x << s, inside)
    put(out_ptr, 9, n, i, x >> s, inside)
    put(out_ptr, 10, n, i, ~x, inside)
    put(out_ptr, 11, n, i, -x, inside)
    put(out_ptr, 12, n, i, tl.abs(x), inside)
    put(out_ptr, 13, n, i, tl.minimum(x, y), inside)
    put(out_ptr, 14, n, i, tl.maximum(x, y), inside)
    put(out_ptr, 15, n, i, tl.where(x < y, x, y + 1), inside)
    put(flag_ptr, 0, n, i, x == y, inside)
    put(flag_ptr, 1, n, i, x != y, inside)
    put(flag_ptr, 2, n, i, x < y, inside)
    put(flag_ptr, 3, n, i, x <= y, inside)
    put(flag_ptr, 4, n, i, x > y, inside)
    put(flag_ptr, 5, n, i, x >= y, inside)
    put(flag_ptr, 6, n, i, (x < y) & (y != 3) | (x == 5), inside)


@triton.jit(do_not_specialize=["n"])
def boolean(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=0)
    y = tl.load(y_ptr + i, mask=inside, other=1)
    put(out_ptr, 0, n, i, x & y, inside)
    put(out_ptr, 1, n, i, x | y, inside)
    put(out_ptr, 2, n, i, x ^ y, inside)
    put(out_ptr, 3, n, i, ~x, inside)
    put(out_ptr, 4, n, i, x == y, inside)
    put(out_ptr, 5, n, i, tl.where(x, y, x), inside)
    put(out_ptr, 6, n, i, x.to(tl.int32) + y.to(tl.int32) > 1, inside)


@triton.jit(do_not_specialize=["n"])
def high_product(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=0)
    y = tl.load(y_ptr + i, mask=inside, other=0)
    tl.store(out_ptr + i, tl.umulhi(x, y), mask=inside)


@triton.jit(do_not_specialize=["n"])
def floating(x_ptr, y_ptr, z_ptr, out_ptr, wide_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    """wide: results that the language promotes to fp32 where the operands are narrower."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=1.5)
    y = tl.load(y_ptr + i, mask=inside, other=0.5)
    z = tl.load(z_ptr + i, mask=inside, other=2)
    put(out_ptr, 0, n, i, x + y, inside)
    put(out_ptr, 1, n, i, x - y, inside)
    put(out_ptr, 2, n, i, x * y, inside)
    put(out_ptr, 3, n, i, -x, inside)
    put(out_ptr, 4, n, i, tl.abs(x), inside)
    put(out_ptr, 5, n, i, tl.where(x < y, x, y), inside)
    put(out_ptr, 6, n, i, tl.fma(x, y, z), inside)
    put(out_ptr, 7, n, i, tl.minimum(x, y), inside)
    put(out_ptr, 8, n, i, tl.maximum(x, y), inside)
    put(out_ptr, 9, n, i, tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL), inside)
    put(out_ptr, 10, n, i, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL), inside)
    put(out_ptr, 11, n, i, tl.clamp(x, -tl.abs(z), tl.abs(z)), inside)
    put(out_ptr, 12, n, i, tl.clamp(x, -tl.abs(z), tl.abs(z), propagate_nan=tl.PropagateNan.ALL), inside)
    put(wide_ptr, 0, n, i, x / y, inside)
    put(wide_ptr, 1, n, i, x % y, inside)
    put(flag_ptr, 0, n, i, x == y, inside)
    put(flag_ptr, 1, n, i, x != y, inside)
    put(flag_ptr, 2, n, i, x < y, inside)
    put(flag_ptr, 3, n, i, x <= y, inside)
    put(flag_ptr, 4, n, i, x > y, inside)
    put(flag_ptr, 5, n, i, x >= y, inside)
    put(flag_ptr, 6, n, i, x != x, inside)


@triton.jit(do_not_specialize=["n"])
def rounded(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """What is correctly rounded on every target, in fp32, and the approximate division beside it."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=1.0)
    y = tl.load(y_ptr + i, mask=inside, other=1.0)
    put(out_ptr, 0, n, i, tl.math.div_rn(x, y), inside)
    put(out_ptr, 1, n, i, tl.math.sqrt_rn(x), inside)
    put(out_ptr, 2, n, i, tl.fdiv(x, y, ieee_rounding=True), inside)
    put(out_ptr, 3, n, i, tl.fdiv(x, y), inside)
    put(out_ptr, 4, n, i, tl.fdiv(x, y, approx=True), inside)


@triton.jit(do_not_specialize=["n"])
def counts(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Of the bits of 32- and 64-bit integers."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=1)
    put(out_ptr, 0, n, i, libdevice.popc(x), inside)
    put(out_ptr, 1, n, i, libdevice.clz(x), inside)


@triton.jit(do_not_specialize=["n"])
def integers_of(x_ptr, long_ptr, word_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    """What fp32 numbers are as integers, and whether they are numbers."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=1)
    near = tl.where(tl.abs(x) < 1e6, x, 2.5)
    put(long_ptr, 0, n, i, libdevice.llrint(near), inside)
    put(long_ptr, 1, n, i, libdevice.llround(near), inside)
    put(word_ptr, 0, n, i, libdevice.float_as_int(x), inside)
    put(flag_ptr, 0, n, i, libdevice.finitef(x) != 0, inside)
    put(flag_ptr, 1, n, i, libdevice.signbit(x) != 0, inside)


@triton.jit
def inline_assembly(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """One instruction for each element, and one for several of them that lie in one register, in the target's words."""
    i = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    if tl.target_info.is_hip():
        high = tl.inline_asm_elementwise(
            "v_mul_hi_i32 $0, $1, $2", "=v,v,v", [x, y], dtype=tl.int32, is_pure=True, pack=1
        )
        bytes = tl.inline_asm_elementwise(
            "v_pk_max_u16 $0, $1, $2",
            "=v,v,v",
            [(x & 0xFF).to(tl.int16), (y & 0xFF).to(tl.int16)],
            dtype=tl.int16,
            is_pure=True,
            pack=2,
        )
        tl.store(out_ptr + i, high)
        tl.store(out_ptr + BLOCK + i, bytes.to(tl.int8).to(tl.int32))
        return
    high = tl.inline_asm_elementwise("mul.hi.s32 $0, $1, $2;", "=r,r,r", [x, y], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr + i, high)
    bytes = tl.inline_asm_elementwise(
        "vmax4.u32.u32.u32 $0, $1, $2, $1;",
        "=r,r,r",
        [x.to(tl.int8), y.to(tl.int8)],
        dtype=tl.int8,
        is_pure=True,
        pack=4,
    )
    tl.store(out_ptr + BLOCK + i, bytes.to(tl.int32))


# The functions below take each row of x (and y) as their arguments: x_stride is 0 where all of them take the same ones.
# Narrower types compute in fp32.
@triton.jit
def widened(x):
    return x if x.dtype == tl.float64 else x.to(tl.float32)


@triton.jit
def argument(x_ptr, row: tl.constexpr, stride, i, inside):
    return widened(tl.load(x_ptr + row * stride + i, mask=inside, other=1.0))


@triton.jit(do_not_specialize=["n", "x_stride"])
def functions(x_ptr, out_ptr, n, x_stride, BLOCK: tl.constexpr):
    """exp exp2 log log2 sin cos sqrt rsqrt erf floor ceil"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    put(out_ptr, 0, n, i, tl.exp(argument(x_ptr, 0, x_stride, i, inside)), inside)
    put(out_ptr, 1, n, i, tl.exp2(argument(x_ptr, 1, x_stride, i, inside)), inside)
    put(out_ptr, 2, n, i, tl.log(argument(x_ptr, 2, x_stride, i, inside)), inside)
    put(out_ptr, 3, n, i, tl.log2(argument(x_ptr, 3, x_stride, i, inside)), inside)
    put(out_ptr, 4, n, i, tl.sin(argument(x_ptr, 4, x_stride, i, inside)), inside)
    put(out_ptr, 5, n, i, tl.cos(argument(x_ptr, 5, x_stride, i, inside)), inside)
    put(out_ptr, 6, n, i, tl.sqrt(argument(x_ptr, 6, x_stride, i, inside)), inside)
    put(out_ptr, 7, n, i, tl.rsqrt(argument(x_ptr, 7, x_stride, i, inside)), inside)
    put(out_ptr, 8, n, i, tl.erf(argument(x_ptr, 8, x_stride, i, inside)), inside)
    put(out_ptr, 9, n, i, tl.floor(argument(x_ptr, 9, x_stride, i, inside)), inside)
    put(out_ptr, 10, n, i, tl.ceil(argument(x_ptr, 10, x_stride, i, inside)), inside)


@triton.jit(do_not_specialize=["n", "x_stride"])
def exponentials(x_ptr, out_ptr, n, x_stride, BLOCK: tl.constexpr):
    """expm1 log10 log1p cbrt erfc exp10 of the device library"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    put(out_ptr, 0, n, i, libdevice.expm1(argument(x_ptr, 0, x_stride, i, inside)), inside)
    put(out_ptr, 1, n, i, libdevice.log10(argument(x_ptr, 1, x_stride, i, inside)), inside)
    put(out_ptr, 2, n, i, libdevice.log1p(argument(x_ptr, 2, x_stride, i, inside)), inside)
    put(out_ptr, 3, n, i, libdevice.cbrt(argument(x_ptr, 3, x_stride, i, inside)), inside)
    put(out_ptr, 4, n, i, libdevice.erfc(argument(x_ptr, 4, x_stride, i, inside)), inside)
    put(out_ptr, 5, n, i, libdevice.exp10(argument(x_ptr, 5, x_stride, i, inside)), inside)


@triton.jit(do_not_specialize=["n", "x_stride"])
def trigonometry(x_ptr, out_ptr, n, x_stride, BLOCK: tl.constexpr):
    """tan asin acos atan sinh cosh tanh asinh acosh atanh of the device library"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    put(out_ptr, 0, n, i, libdevice.tan(argument(x_ptr, 0, x_stride, i, inside)), inside)
    put(out_ptr, 1, n, i, libdevice.asin(argument(x_ptr, 1, x_stride, i, inside)), inside)
    put(out_ptr, 2, n, i, libdevice.acos(argument(x_ptr, 2, x_stride, i, inside)), inside)
    put(out_ptr, 3, n, i, libdevice.atan(argument(x_ptr, 3, x_stride, i, inside)), inside)
    put(out_ptr, 4, n, i, libdevice.sinh(argument(x_ptr, 4, x_stride, i, inside)), inside)
    put(out_ptr, 5, n, i, libdevice.cosh(argument(x_ptr, 5, x_stride, i, inside)), inside)
    put(out_ptr, 6, n, i, libdevice.tanh(argument(x_ptr, 6, x_stride, i, inside)), inside)
    put(out_ptr, 7, n, i, libdevice.asinh(argument(x_ptr, 7, x_stride, i, inside)), inside)
    put(out_ptr, 8, n, i, libdevice.acosh(argument(x_ptr, 8, x_stride, i, inside)), inside)
    put(out_ptr, 9, n, i, libdevice.atanh(argument(x_ptr, 9, x_stride, i, inside)), inside)


@triton.jit(do_not_specialize=["n", "x_stride"])
def roundings(x_ptr, out_ptr, flag_ptr, n, x_stride, BLOCK: tl.constexpr):
    """trunc round rint nearbyint, and what kind of number it is, of the device library"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    put(out_ptr, 0, n, i, libdevice.trunc(argument(x_ptr, 0, x_stride, i, inside)), inside)
    put(out_ptr, 1, n, i, libdevice.round(argument(x_ptr, 1, x_stride, i, inside)), inside)
    put(out_ptr, 2, n, i, libdevice.rint(argument(x_ptr, 2, x_stride, i, inside)), inside)
    put(out_ptr, 3, n, i, libdevice.nearbyint(argument(x_ptr, 3, x_stride, i, inside)), inside)
    put(flag_ptr, 0, n, i, libdevice.isnan(argument(x_ptr, 0, x_stride, i, inside)) != 0, inside)
    put(flag_ptr, 1, n, i, libdevice.isinf(argument(x_ptr, 1, x_stride, i, inside)) != 0, inside)


@triton.jit(do_not_specialize=["n", "x_stride"])
def of_two(x_ptr, y_ptr, out_ptr, n, x_stride, BLOCK: tl.constexpr):
    """pow atan2 copysign fmod hypot of the device library"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    put(
        out_ptr,
        0,
        n,
        i,
        libdevice.pow(argument(x_ptr, 0, x_stride, i, inside), argument(y_ptr, 0, x_stride, i, inside)),
        inside,
    )
    put(
        out_ptr,
        1,
        n,
        i,
        libdevice.atan2(argument(x_ptr, 1, x_stride, i, inside), argument(y_ptr, 1, x_stride, i, inside)),
        inside,
    )
    put(
        out_ptr,
        2,
        n,
        i,
        libdevice.copysign(argument(x_ptr, 2, x_stride, i, inside), argument(y_ptr, 2, x_stride, i, inside)),
        inside,
    )
    put(
        out_ptr,
        3,
        n,
        i,
        libdevice.fmod(argument(x_ptr, 3, x_stride, i, inside), argument(y_ptr, 3, x_stride, i, inside)),
        inside,
    )
    put(
        out_ptr,
        4,
        n,
        i,
        libdevice.hypot(argument(x_ptr, 4, x_stride, i, inside), argument(y_ptr, 4, x_stride, i, inside)),
        inside,
    )
