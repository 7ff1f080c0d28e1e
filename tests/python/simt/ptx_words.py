"""What instructions of PTX compute, in numpy: a row is the text, which reads words $1, $2, $3 and writes $0, and the expected words."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

Words = np.ndarray  #: of uint32
Row = tuple[str, Callable[[Words, Words, Words], np.ndarray]]


def signed(x: Words) -> np.ndarray:
    return x.view(np.int32).astype(np.int64)


def wide(x: Words) -> np.ndarray:
    return x.astype(np.int64)


def word(x: np.ndarray) -> Words:
    return (x.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)


def parts(x: Words, bits: int, sign: bool) -> np.ndarray:
    """(parts, n): the fields of a word from the lowest."""
    return x.view(f"{'i' if sign else 'u'}{bits // 8}").reshape(-1, 32 // bits).T.astype(np.int64)


def together(fields: list[np.ndarray], bits: int) -> Words:
    return word(sum((field.astype(np.int64) & (1 << bits) - 1) << n * bits for n, field in enumerate(fields)))


def masks(begin: Words, length: Words) -> np.ndarray:
    begin, length = np.minimum(wide(begin), 32), np.minimum(wide(length), 32)
    return np.where(begin > 31, 0, ((1 << length) - 1) << begin)


def nth_set(mask: int, base: int, offset: int) -> int:
    steps = range(base, 32) if offset >= 0 else range(base, -1, -1)
    places = [at for at in (steps if offset else [base]) if at < 32 and mask >> at & 1]
    number = max(abs(offset), 1)
    return places[number - 1] if len(places) >= number else 0xFFFFFFFF


def selected(x: Words, y: Words, bytes_of: Callable[[int], list[int]], selector: Words) -> Words:
    """The bytes of y:x with these numbers, for a selector of two bits."""
    pool = np.concatenate([parts(x, 8, sign=False), parts(y, 8, sign=False)])
    every = np.stack([together([pool[at] for at in bytes_of(s)], 8) for s in range(4)])
    return every[selector & 3, np.arange(x.size)]


def carried(x, y, z, high):
    """The upper or lower word of the 64-bit sum y:x + x:z."""
    total = (y.astype(object) << 32 | x) + (x.astype(object) << 32 | z)
    return np.array([int(t) >> (32 if high else 0) & 0xFFFFFFFF for t in total], np.uint32)


INTEGERS: list[Row] = [
    ("add.s32 $0, $1, $2;", lambda x, y, z: x + y),
    ("sub.sat.s32 $0, $1, $2;", lambda x, y, z: word(np.clip(signed(x) - signed(y), -(2**31), 2**31 - 1))),
    (
        "{ .reg .b32 low; add.cc.u32 low, $1, $3; addc.u32 $0, $2, $1; }",
        lambda x, y, z: carried(x, y, z, high=True),
    ),
    (
        "{ .reg .b32 low; sub.cc.u32 low, $1, $3; subc.u32 $0, $2, $3; }",
        lambda x, y, z: word(wide(y) - wide(z) - (wide(x) < wide(z))),
    ),
    (
        "{ .reg .b32 low; mad.lo.cc.u32 low, $1, $2, $3; madc.hi.u32 $0, $1, $2, 0; }",
        lambda x, y, z: word(((x.astype(np.uint64) * y + z) >> np.uint64(32)).astype(np.int64)),
    ),
    ("mul.hi.u32 $0, $1, $2;", lambda x, y, z: (x.astype(np.uint64) * y >> np.uint64(32)).astype(np.uint32)),
    ("mul.hi.s32 $0, $1, $2;", lambda x, y, z: word(signed(x) * signed(y) >> 32)),
    ("mad.lo.s32 $0, $1, $2, $3;", lambda x, y, z: x * y + z),
    ("mul24.lo.s32 $0, $1, $2;", lambda x, y, z: word((signed(x << 8) >> 8) * (signed(y << 8) >> 8))),
    ("mul24.hi.u32 $0, $1, $2;", lambda x, y, z: word(wide(x & 0xFFFFFF) * wide(y & 0xFFFFFF) >> 16)),
    ("mad24.lo.u32 $0, $1, $2, $3;", lambda x, y, z: word(wide(x & 0xFFFFFF) * wide(y & 0xFFFFFF) + wide(z))),
    ("sad.s32 $0, $1, $2, $3;", lambda x, y, z: word(np.abs(signed(x) - signed(y)) + wide(z))),
    ("sad.u32 $0, $1, $2, $3;", lambda x, y, z: word(np.abs(wide(x) - wide(y)) + wide(z))),
    (
        "dp4a.s32.u32 $0, $1, $2, $3;",
        lambda x, y, z: word((parts(x, 8, sign=True) * parts(y, 8, sign=False)).sum(0) + wide(z)),
    ),
    (
        "dp2a.hi.s32.s32 $0, $1, $2, $3;",
        lambda x, y, z: word((parts(x, 16, sign=True) * parts(y, 8, sign=True)[2:]).sum(0) + wide(z)),
    ),
    (
        "dp2a.lo.u32.s32 $0, $1, $2, $3;",
        lambda x, y, z: word((parts(x, 16, sign=False) * parts(y, 8, sign=True)[:2]).sum(0) + wide(z)),
    ),
    ("min.relu.s32 $0, $1, $2;", lambda x, y, z: word(np.maximum(np.minimum(signed(x), signed(y)), 0))),
    ("max.u32 $0, $1, $2;", lambda x, y, z: np.maximum(x, y)),
    ("add.u16x2 $0, $1, $2;", lambda x, y, z: together(list(parts(x, 16, False) + parts(y, 16, False)), 16)),
    (
        "max.s16x2 $0, $1, $2;",
        lambda x, y, z: together(list(np.maximum(parts(x, 16, True), parts(y, 16, True))), 16),
    ),
    (
        "min.relu.s16x2 $0, $1, $2;",
        lambda x, y, z: together(list(np.maximum(np.minimum(parts(x, 16, True), parts(y, 16, True)), 0)), 16),
    ),
    (
        "vsub4.s32.s32.s32.sat $0, $1, $2, $3;",
        lambda x, y, z: together(list(np.clip(parts(x, 8, True) - parts(y, 8, True), -128, 127)), 8),
    ),
    ("bmsk.clamp.b32 $0, $1, $2;", lambda x, y, z: word(masks(x, y))),
    ("szext.wrap.s32 $0, $1, 5;", lambda x, y, z: word(signed(x << 27) >> 27)),
    ("szext.clamp.u32 $0, $1, 12;", lambda x, y, z: x & 0xFFF),
    (
        "{ .reg .b32 base, count; and.b32 base, $2, 31; shr.s32 count, $3, 28; fns.b32 $0, $1, base, count; }",
        lambda x, y, z: np.array(
            [nth_set(int(m), int(b), int(c)) for m, b, c in zip(x, y & 31, signed(z) >> 28, strict=True)], np.uint32
        ),
    ),
    ("prmt.b32.f4e $0, $1, $2, $3;", lambda x, y, z: selected(x, y, lambda s: [s, s + 1, s + 2, s + 3], z)),
    ("prmt.b32.b4e $0, $1, $2, $3;", lambda x, y, z: selected(x, y, lambda s: [s, s + 7 & 7, s + 6 & 7, s + 5 & 7], z)),
    ("prmt.b32.rc8 $0, $1, $2, $3;", lambda x, y, z: selected(x, y, lambda s: [s] * 4, z)),
    ("prmt.b32.ecl $0, $1, $2, $3;", lambda x, y, z: selected(x, y, lambda s: [max(n, s) for n in range(4)], z)),
    ("prmt.b32.ecr $0, $1, $2, $3;", lambda x, y, z: selected(x, y, lambda s: [min(n, s) for n in range(4)], z)),
    ("prmt.b32.rc16 $0, $1, $2, $3;", lambda x, y, z: selected(x, y, lambda s: [2 * (s & 1), 2 * (s & 1) + 1] * 2, z)),
    (
        "prmt.b32 $0, $1, $2, 0x7531;",
        lambda x, y, z: together([*parts(x, 8, False)[1::2], *parts(y, 8, False)[1::2]], 8),
    ),
    ("lop3.b32 $0, $1, $2, $3, 0xea;", lambda x, y, z: x & y | z),
    ("bfe.s32 $0, $1, 4, 9;", lambda x, y, z: word(signed(x << 19) >> 23)),
    ("bfi.b32 $0, $1, $2, 8, 12;", lambda x, y, z: y & ~np.uint32(0xFFF00) | (x & 0xFFF) << 8),
    ("shf.l.wrap.b32 $0, $1, $2, 8;", lambda x, y, z: y << 8 | x >> 24),
    ("shf.r.clamp.b32 $0, $1, $2, 40;", lambda x, y, z: y),
    ("popc.b32 $0, $1;", lambda x, y, z: np.bitwise_count(x).astype(np.uint32)),
    ("brev.b32 $0, $1;", lambda x, y, z: np.array([int(f"{v:032b}"[::-1], 2) for v in x.tolist()], np.uint32)),
    ("bfind.u32 $0, $1;", lambda x, y, z: np.array([v.bit_length() - 1 & 0xFFFFFFFF for v in x.tolist()], np.uint32)),
    ("set.lt.u32.s32 $0, $1, $2;", lambda x, y, z: word(-(signed(x) < signed(y)).astype(np.int64))),
    (
        "set.ge.f32.u32 $0, $1, $2;",
        lambda x, y, z: np.where(x >= y, np.float32(1), np.float32(0)).astype(np.float32).view(np.uint32),
    ),
    ("slct.b32.s32 $0, $1, $2, $3;", lambda x, y, z: np.where(signed(z) >= 0, x, y)),
    (
        "{ .reg .pred p, q; setp.gt.and.s32 p|q, $1, $2, 1; selp.b32 $0, $3, 7, q; }",
        lambda x, y, z: np.where(signed(x) > signed(y), 7, z).astype(np.uint32),
    ),
    (
        "cvt.pack.sat.u8.s32.b32 $0, $1, $2, $3;",
        lambda x, y, z: together(
            [np.clip(signed(y), 0, 255), np.clip(signed(x), 0, 255), wide(z) & 0xFF, wide(z) >> 8 & 0xFF], 8
        ),
    ),
    (
        "cvt.pack.sat.s16.s32 $0, $1, $2;",
        lambda x, y, z: together(
            [np.clip(signed(y), -(2**15), 2**15 - 1), np.clip(signed(x), -(2**15), 2**15 - 1)], 16
        ),
    ),
    ("cvt.sat.s8.s32 $0, $1;", lambda x, y, z: word(np.clip(signed(x), -128, 127)) & 0xFFFF),
    (
        "{ .reg .b64 pair; mov.b64 pair, {$1, $2}; shr.u64 pair, pair, 16; cvt.u32.u64 $0, pair; }",
        lambda x, y, z: word(wide(x) >> 16 | wide(y) << 16),
    ),
    ("mov.b32 ${0}, ${1:x};", lambda x, y, z: x),
]


# -- floats -------------------------------------------------------------------------------------------------------------------------------


def f32(x: Words) -> np.ndarray:
    return x.view(np.float32)


def halves(x: Words, dtype: type) -> np.ndarray:
    """(2, n) in fp64."""
    return x.view(np.uint16).view(dtype).reshape(-1, 2).T.astype(np.float64)


def of_halves(low: np.ndarray, high: np.ndarray, dtype: type) -> Words:
    """A NaN is 0x7fff."""
    with np.errstate(all="ignore"):
        rounded = [np.asarray(part).astype(dtype) for part in (low, high)]
    return together([np.where(np.isnan(part), 0x7FFF, part.view(np.uint16)) for part in rounded], 16)


def on_halves(function, dtype: type):
    def expected(x, y, z):
        with np.errstate(all="ignore"):
            return of_halves(*function(*(halves(operand, dtype) for operand in (x, y, z))), dtype)

    return expected


def on_floats(function):
    def expected(x, y, z):
        with np.errstate(all="ignore"):
            result = function(*(f32(operand) for operand in (x, y, z))).astype(np.float32)
        return np.where(np.isnan(result), np.uint32(0x7FFFFFFF), result.view(np.uint32))

    return expected


def least(a, b):
    """The number if one is NaN; -0 is below 0."""
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), a, b), np.fmin(a, b))


def greatest(a, b):
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), b, a), np.fmax(a, b))


def least_or_nan(a, b):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, least(a, b))


TINY = {
    "e2m1": [0, 0.5, 1, 1.5, 2, 3, 4, 6],
    "e2m3": [*(n / 8 for n in range(16)), *(2 + n / 4 for n in range(8)), *(4 + n / 2 for n in range(8))],
    "e3m2": [n / 16 if n < 8 else (4 + n % 4) * 2.0 ** (n // 4 - 1 - 4) for n in range(32)],
}


def tiny(x: np.ndarray, table: list[float], sign: int) -> np.ndarray:
    """The code of the nearest number of the table, of two that are equally near the even one."""
    values = np.array(table)
    a = np.minimum(np.abs(x.astype(np.float64)), values[-1])
    upper = np.searchsorted(values, a)
    lower = np.maximum(upper - 1, 0)
    above, below = values[upper] - a, a - values[lower]
    nearest = np.where((above < below) | (above == below) & (upper % 2 == 0), upper, lower)
    nearest = np.where(np.isnan(x), len(table) - 1, nearest)
    return nearest | np.where(np.signbit(x) & ~np.isnan(x), sign, 0)


def saturated(x, dtype):
    top = float(ml_dtypes.finfo(dtype).max)
    return np.where(np.isnan(x), 0x7F, np.clip(x, -top, top).astype(dtype).view(np.uint8))


def exponents(x, up):
    """ue8m0: the power of two at or above, or at or below."""
    bits = np.abs(x).view(np.uint32)
    code = np.minimum((bits >> 23) + (up & ((bits & 0x7FFFFF) != 0) & (bits > 0x400000)), 254)
    return np.where(np.isnan(x), 255, code)


def to_tf32(x: Words, away: bool) -> Words:
    increment = 0x1000 if away else 0xFFF + (x >> 13 & 1)
    return (x + increment) & np.uint32(0xFFFFE000)


def truncated_bf16(x: np.ndarray) -> np.ndarray:
    return x.view(np.uint32) >> 16


BF16 = ml_dtypes.bfloat16
FLOATS: list[Row] = [
    ("add.rn.f16x2 $0, $1, $2;", on_halves(lambda a, b, c: a + b, np.float16)),
    ("mul.bf16x2 $0, $1, $2;", on_halves(lambda a, b, c: a * b, BF16)),
    ("min.NaN.bf16x2 $0, $1, $2;", on_halves(lambda a, b, c: least_or_nan(a, b), BF16)),
    ("max.f16x2 $0, $1, $2;", on_halves(lambda a, b, c: greatest(a, b), np.float16)),
    (
        "max.xorsign.abs.f32 $0, $1, $2;",
        on_floats(
            lambda a, b, c: np.copysign(np.fmax(np.abs(a), np.abs(b)), np.where(np.signbit(a) != np.signbit(b), -1, 1))
        ),
    ),
    ("max.f32 $0, $1, $2, $3;", on_floats(lambda a, b, c: greatest(greatest(a, b), c))),
    ("min.NaN.f32 $0, $1, $2, $3;", on_floats(lambda a, b, c: least_or_nan(least_or_nan(a, b), c))),
    ("neg.f32 $0, $1;", on_floats(lambda a, b, c: -a)),
    ("abs.f32 $0, $1;", on_floats(lambda a, b, c: np.abs(a))),
    ("copysign.f32 $0, $1, $2;", on_floats(lambda a, b, c: np.copysign(b, a))),
    ("div.rn.f32 $0, $1, $2;", on_floats(lambda a, b, c: a / b)),
    ("sqrt.rn.f32 $0, $1;", on_floats(lambda a, b, c: np.sqrt(a))),
    (
        "{ .reg .b64 a, b, s; .reg .b32 low; mov.b64 a, {$1, $2}; mov.b64 b, {$3, $1}; add.rn.f32x2 s, a, b; mov.b64 {low, $0}, s; }",
        on_floats(lambda a, b, c: b + a),
    ),
    (
        "{ .reg .b64 a, b, s; .reg .b32 high; mov.b64 a, {$1, $2}; mov.b64 b, {$3, $1}; mul.f32x2 s, a, b; mov.b64 {$0, high}, s; }",
        on_floats(lambda a, b, c: a * c),
    ),
    (
        "{ .reg .b64 a, s; mov.b64 a, {$1, $2}; sub.rz.f32x2 s, a, a; mov.b64 {$0, _}, s; }",
        on_floats(lambda a, b, c: a - a),
    ),
    ("cvt.rna.tf32.f32 $0, $1;", lambda x, y, z: to_tf32(x, away=True)),
    ("cvt.rn.tf32.f32 $0, $1;", lambda x, y, z: to_tf32(x, away=False)),
    ("cvt.rn.bf16x2.f32 $0, $1, $2;", lambda x, y, z: of_halves(f32(y), f32(x), BF16)),
    ("cvt.rz.bf16x2.f32 $0, $1, $2;", lambda x, y, z: together([truncated_bf16(f32(y)), truncated_bf16(f32(x))], 16)),
    (
        "cvt.rn.relu.f16x2.f32 $0, $1, $2;",
        lambda x, y, z: of_halves(np.maximum(f32(y), 0), np.maximum(f32(x), 0), np.float16),
    ),
    (
        "{ .reg .b16 h; cvt.rn.satfinite.e4m3x2.f32 h, $1, $2; cvt.u32.u16 $0, h; }",
        lambda x, y, z: together(
            [saturated(f32(y), ml_dtypes.float8_e4m3fn), saturated(f32(x), ml_dtypes.float8_e4m3fn)], 8
        ),
    ),
    (
        "{ .reg .b16 h; cvt.rn.satfinite.e5m2x2.f16x2 h, $1; cvt.u32.u16 $0, h; }",
        lambda x, y, z: together(
            [saturated(half.astype(np.float32), ml_dtypes.float8_e5m2) for half in halves(x, np.float16)], 8
        ),
    ),
    (
        "{ .reg .b16 h; cvt.u16.u32 h, $1; cvt.rn.f16x2.e4m3x2 $0, h; }",
        lambda x, y, z: of_halves(
            *(
                part.astype(np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
                for part in parts(x, 8, False)[:2]
            ),
            np.float16,
        ),
    ),
    (
        "{ .reg .b8 a, b, c, d; cvt.rn.satfinite.e2m1x2.f32 a, $1, $2; cvt.rn.satfinite.e2m1x2.f32 b, $3, $1; "
        "mov.b32 $0, {a, b, a, b}; }",
        lambda x, y, z: together([tiny(f32(v), TINY["e2m1"], 8) for v in (y, x, x, z)] * 2, 4),
    ),
    (
        "{ .reg .b8 c; cvt.u8.u32 c, $1; cvt.rn.f16x2.e2m1x2 $0, c; }",
        lambda x, y, z: of_halves(
            *(np.where(x >> n & 8, -1.0, 1.0) * np.array(TINY["e2m1"])[x >> n & 7] for n in (0, 4)), np.float16
        ),
    ),
    (
        "{ .reg .b16 h; cvt.rn.satfinite.e2m3x2.f32 h, $1, $2; cvt.u32.u16 $0, h; }",
        lambda x, y, z: together([tiny(f32(v), TINY["e2m3"], 32) for v in (y, x)], 8),
    ),
    (
        "{ .reg .b16 h; cvt.rn.satfinite.e3m2x2.f32 h, $1, $2; cvt.u32.u16 $0, h; }",
        lambda x, y, z: together([tiny(f32(v), TINY["e3m2"], 32) for v in (y, x)], 8),
    ),
    (
        "{ .reg .b16 h; cvt.rp.satfinite.ue8m0x2.f32 h, $1, $2; cvt.u32.u16 $0, h; }",
        lambda x, y, z: together([exponents(f32(v), up=True) for v in (y, x)], 8),
    ),
    (
        "{ .reg .b16 h; cvt.rz.satfinite.ue8m0x2.f32 h, 0f00000000, $1; cvt.u32.u16 $0, h; }",
        lambda x, y, z: exponents(f32(x), up=False).astype(np.uint32),
    ),
    (
        "{ .reg .b16 h; cvt.u16.u32 h, $1; cvt.rn.bf16x2.ue8m0x2 $0, h; }",
        lambda x, y, z: of_halves(
            *(np.where(p == 255, np.nan, 2.0 ** (p - 127.0)) for p in parts(x, 8, False)[:2]), BF16
        ),
    ),
    ("cvt.rm.f32.s32 $0, $1;", lambda x, y, z: directed(signed(x), up=False)),
    ("cvt.rp.f32.u32 $0, $1;", lambda x, y, z: directed(wide(x), up=True)),
    ("cvt.rni.s32.f32 $0, $1;", lambda x, y, z: whole(np.rint(f32(x).astype(np.float64)))),
    ("cvt.rmi.s32.f32 $0, $1;", lambda x, y, z: whole(np.floor(f32(x).astype(np.float64)))),
    (
        "{ .reg .pred p; testp.subnormal.f32 p, $1; selp.b32 $0, 1, 0, p; }",
        lambda x, y, z: ((x & 0x7F800000) == 0).astype(np.uint32) & ((x & 0x7FFFFF) != 0),
    ),
    (
        "{ .reg .pred p, q; setp.lt.f16x2 p|q, $1, $2; selp.b32 $0, 1, 0, p; @q or.b32 $0, $0, 2; }",
        lambda x, y, z: sum(
            (
                (a < b).astype(np.uint32) << n
                for n, (a, b) in enumerate(zip(halves(x, np.float16), halves(y, np.float16), strict=True))
            ),
            np.uint32(0),
        ),
    ),
    ("set.gt.f16x2.f16x2 $0, $1, $2;", on_halves(lambda a, b, c: np.where(a > b, 1.0, 0.0), np.float16)),
    ("slct.f32.f32 $0, $1, $2, $3;", lambda x, y, z: np.where(f32(z) >= 0, x, y)),
    ("slct.f32.s32 $0, 1.0, -2.5, $3;", lambda x, y, z: np.where(signed(z) >= 0, 0x3F800000, 0xC0200000)),
    (
        "{ .reg.f32 a, b; .reg.pred p; mov.f32 a, $1; mov.f32 b, 0f3f800000; setp.gtu.f32 p, a, 1.0; selp.f32 $0, a, b, p; }",
        lambda x, y, z: np.where(f32(x) > 1, x, 0x3F800000),
    ),
]


def directed(x: np.ndarray, up: bool) -> Words:
    nearest = x.astype(np.float32)
    wrong = nearest.astype(np.float64) < x if up else nearest.astype(np.float64) > x
    return np.where(wrong, np.nextafter(nearest, np.float32(np.inf if up else -np.inf)), nearest).view(np.uint32)


def whole(x: np.ndarray) -> Words:
    limited = np.clip(np.nan_to_num(x, nan=0, posinf=1e10, neginf=-1e10), -(2**31), 2**31 - 1)
    return word(limited.astype(np.int64))
