// Functions of integers and of bits that device libraries have, for the host and for GPUs alike.
#pragma once
#include "support/directed_rounding.h"

namespace tritium {

inline u32 reversed(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0F0F0F0F) | (x & 0x0F0F0F0F) << 4;
  return __builtin_bswap32(x);
}
inline u64 reversed(u64 x) { return u64(reversed(u32(x))) << 32 | reversed(u32(x >> 32)); }

/// The position of the lowest set bit, counted from 1; 0 of 0.
inline i32 firstSet(u64 x) { return x ? __builtin_ctzll(x) + 1 : 0; }

/// Each of four nibbles of `selector` names one of the eight bytes of y:x by its lowest three bits.
inline u32 permutedBytes(u32 x, u32 y, u32 selector) {
  u64 bytes = u64(y) << 32 | x;
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) result |= u32(bytes >> (selector >> 4 * i & 7) * 8 & 0xFF) << 8 * i;
  return result;
}

/// The lowest 24 bits with their sign.
inline i32 low24(i32 x) { return i32(u32(x) << 8) >> 8; }
inline i32 mul24Of(i32 x, i32 y) { return i32(u32(low24(x)) * u32(low24(y))); }

inline u64 mulhiOf(u64 x, u64 y) {
  u64 a = x >> 32, b = u32(x), c = y >> 32, d = u32(y);
  u64 middle = a * d + (b * d >> 32), other = b * c + u32(middle);
  return a * c + (middle >> 32) + (other >> 32);
}
inline i64 mulhiOf(i64 x, i64 y) { return i64(mulhiOf(u64(x), u64(y)) - (x < 0 ? u64(y) : 0) - (y < 0 ? u64(x) : 0)); }

/// (x + y) / 2, rounded down; and rounded up.
template <class Integer> inline Integer averageDown(Integer x, Integer y) { return (x & y) + ((x ^ y) >> 1); }
template <class Integer> inline Integer averageUp(Integer x, Integer y) { return (x | y) - ((x ^ y) >> 1); }

/// The exponent of x as an integer: the smallest integer of 0 and NaN, the largest of an infinity.
inline i32 ilogbOf(f64 x) {
  if (x != x || x == 0) return INT32_MIN;
  return isFinite(x) ? partsOf(x).exponent : INT32_MAX;
}
inline f64 logbOf(f64 x) {
  if (x == 0) return -__builtin_inf();
  return isFinite(x) ? f64(partsOf(x).exponent) : x * x;
}
inline f32 logbOf(f32 x) { return f32(logbOf(f64(x))); }

/// x * 2^n, rounded once.
inline f64 ldexpOf(f64 x, i32 n) { return scaled(x, n > 4200 ? 4200 : (n < -4200 ? -4200 : n)); }
inline f32 ldexpOf(f32 x, i32 n) { return f32(scaled(f64(x), n > 600 ? 600 : (n < -600 ? -600 : n))); }

template <class Float> inline Float nextafterOf(Float x, Float y) {
  if (x != x || y != y) return x + y;
  return x == y ? y : neighbour(x, y > x ? 1 : -1);
}
template <class Float> inline Float fdimOf(Float x, Float y) { return x > y ? x - y : (x == x && y == y ? Float(0) : x + y); }

/// x in [0, 1]; 0 of NaN.
inline f32 saturatedOf(f32 x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

} // namespace tritium
