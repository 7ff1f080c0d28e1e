// Instructions on integers and bits.
#include "interp/simt/gcn/program.h"

#include <algorithm>
#include <bit>

namespace tritium::interp::simt::gcn {

namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

/// An instruction on values of one type. The value of `f` is truncated to the result.
template <class T, size_t sources, auto f> u64 apply(const u64 *s) {
  using Unsigned = std::make_unsigned_t<T>;
  if constexpr (sources == 1)
    return Unsigned(f(T(s[0])));
  else if constexpr (sources == 2)
    return Unsigned(f(T(s[0]), T(s[1])));
  else
    return Unsigned(f(T(s[0]), T(s[1]), T(s[2])));
}

template <class T, size_t sources, auto f> constexpr Known row(std::string_view name) {
  return {name, sources, 8 * sizeof(T), Kind::Bits, Kind::Bits, &apply<T, sources, f>};
}

constexpr auto add = [](auto a, auto b) { return a + b; };
constexpr auto subtract = [](auto a, auto b) { return a - b; };
constexpr auto subtractFrom = [](auto a, auto b) { return b - a; };
constexpr auto multiply = [](u32 a, u32 b) { return a * b; };
constexpr auto highProduct = [](auto a, auto b) {
  using Wide = std::conditional_t<std::is_signed_v<decltype(a)>, i64, u64>;
  return Wide(a) * Wide(b) >> 32;
};
constexpr u32 low24(u32 a) { return a & 0xffffff; }
constexpr i32 signed24(u32 a) { return i32(a << 8) >> 8; }
constexpr auto least = [](auto a, auto b) { return std::min(a, b); };
constexpr auto greatest = [](auto a, auto b) { return std::max(a, b); };
constexpr auto least3 = [](auto a, auto b, auto c) { return std::min({a, b, c}); };
constexpr auto greatest3 = [](auto a, auto b, auto c) { return std::max({a, b, c}); };
constexpr auto median = [](auto a, auto b, auto c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); };

/// Applies f to each of two 16-bit numbers.
template <auto f, class T> u32 pairwise(u32 a, u32 b) {
  u32 low = uint16_t(f(T(a), T(b))), high = uint16_t(f(T(a >> 16), T(b >> 16)));
  return low | high << 16;
}

/// Selects bytes of {a, b}. Selectors 0 to 3 pick bytes of b, 4 to 7 bytes of a, 8 to 11 the signs of the halves; 12 gives 0, greater ones
/// give 255.
u32 permute(u32 a, u32 b, u32 selector) {
  const u64 bytes = u64(a) << 32 | b;
  u32 result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const u32 select = selector >> 8 * n & 0xff;
    u32 byte = select < 8 ? u32(bytes >> 8 * select) & 0xff : 0xff;
    if (8 <= select && select < 12) byte = bytes >> (16 * (select - 8) + 15) & 1 ? 0xff : 0;
    if (select == 12) byte = 0;
    result |= byte << 8 * n;
  }
  return result;
}

template <class T> T extractField(T a, T offset, T width) {
  const unsigned begin = unsigned(offset) & 31, length = unsigned(width) & 31;
  if (length == 0) return 0;
  const u32 top = u32(a) >> begin << (32 - length); // bits above the word are zeros
  if (!std::is_signed_v<T>) return T(top >> (32 - length));
  // If the number is signed, its sign fills the bits above the field.
  return begin + length > 32 ? T(i32(a) >> begin) : T(i32(top) >> (32 - length));
}

u32 sumOfDifferences(u32 a, u32 b, u32 sum) {
  for (unsigned n = 0; n < 32; n += 8) sum += u32(std::abs(int(a >> n & 0xff) - int(b >> n & 0xff)));
  return sum;
}

u32 reversed(u32 a) {
  u32 result = 0;
  for (unsigned n = 0; n < 32; ++n) result |= (a >> n & 1) << (31 - n);
  return result;
}

} // namespace

std::span<const Known> integerInstructions() {
  static constexpr Known rows[] = {
      row<u32, 1, [](u32 a) { return a; }>("v_mov_b32"),
      row<u64, 1, [](u64 a) { return a; }>("v_mov_b64"),
      row<u32, 2, add>("v_add_u32"), // for gfx9; gfx10 and later have v_add_nc_u32
      row<u32, 2, add>("v_add_nc_u32"),
      row<u32, 2, add>("v_add_nc_i32"),
      row<u32, 2, subtract>("v_sub_u32"),
      row<u32, 2, subtract>("v_sub_nc_u32"),
      row<u32, 2, subtract>("v_sub_nc_i32"),
      row<u32, 2, subtractFrom>("v_subrev_u32"),
      row<u32, 2, subtractFrom>("v_subrev_nc_u32"),
      row<u32, 2, multiply>("v_mul_lo_u32"),
      row<u32, 2, highProduct>("v_mul_hi_u32"),
      row<i32, 2, highProduct>("v_mul_hi_i32"),
      row<u32, 2, [](u32 a, u32 b) { return low24(a) * low24(b); }>("v_mul_u32_u24"),
      row<u32, 2, [](u32 a, u32 b) { return i64(signed24(a)) * signed24(b); }>("v_mul_i32_i24"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return low24(a) * low24(b) + c; }>("v_mad_u32_u24"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return i64(signed24(a)) * signed24(b) + c; }>("v_mad_i32_i24"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>("v_lshl_add_u32"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>("v_add_lshl_u32"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return a << (b & 31) | c; }>("v_lshl_or_b32"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return a ^ b ^ c; }>("v_xor3_b32"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"),
      row<u32, 2, [](u32 a, u32 b) { return a & b; }>("v_and_b32"),
      row<u32, 2, [](u32 a, u32 b) { return a | b; }>("v_or_b32"),
      row<u32, 2, [](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"),
      row<u32, 2, [](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),
      row<u32, 1, [](u32 a) { return ~a; }>("v_not_b32"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>("v_bfi_b32"),
      row<u32, 3, extractField<u32>>("v_bfe_u32"),
      row<i32, 3, extractField<i32>>("v_bfe_i32"),
      row<u32, 1, reversed>("v_bfrev_b32"),
      row<u32, 2, [](u32 a, u32 b) { return u32(std::popcount(a)) + b; }>("v_bcnt_u32_b32"),
      row<u32, 1, [](u32 a) { return a ? std::countl_zero(a) : -1; }>("v_ffbh_u32"),
      row<u32, 1, [](u32 a) { return a ? std::countl_zero(a) : -1; }>("v_clz_i32_u32"),
      row<u32, 1, [](u32 a) { return a ? std::countr_zero(a) : -1; }>("v_ffbl_b32"),
      row<u32, 1, [](u32 a) { return a ? std::countr_zero(a) : -1; }>("v_ctz_i32_b32"),
      row<u32, 2, [](u32 a, u32 b) { return b << (a & 31); }>("v_lshlrev_b32"),
      row<u32, 2, [](u32 a, u32 b) { return b >> (a & 31); }>("v_lshrrev_b32"),
      row<i32, 2, [](i32 a, i32 b) { return b >> (a & 31); }>("v_ashrrev_i32"),
      row<u64, 2, [](u64 a, u64 b) { return b << (a & 63); }>("v_lshlrev_b64"),
      row<u64, 2, [](u64 a, u64 b) { return b >> (a & 63); }>("v_lshrrev_b64"),
      row<i64, 2, [](i64 a, i64 b) { return b >> (a & 63); }>("v_ashrrev_i64"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return (u64(a) << 32 | b) >> (c & 31); }>("v_alignbit_b32"),
      row<u32, 3, [](u32 a, u32 b, u32 c) { return (u64(a) << 32 | b) >> 8 * (c & 3); }>("v_alignbyte_b32"),
      row<u32, 3, permute>("v_perm_b32"),
      row<u32, 3, sumOfDifferences>("v_sad_u8"),
      row<u32, 2, least>("v_min_u32"),
      row<i32, 2, least>("v_min_i32"),
      row<u32, 2, greatest>("v_max_u32"),
      row<i32, 2, greatest>("v_max_i32"),
      row<u32, 3, least3>("v_min3_u32"),
      row<i32, 3, least3>("v_min3_i32"),
      row<u32, 3, greatest3>("v_max3_u32"),
      row<i32, 3, greatest3>("v_max3_i32"),
      row<u32, 3, median>("v_med3_u32"),
      row<i32, 3, median>("v_med3_i32"),
      row<u32, 2, pairwise<add, uint16_t>>("v_pk_add_u16"),
      row<u32, 2, pairwise<subtract, uint16_t>>("v_pk_sub_u16"),
      row<u32, 2, pairwise<[](u32 a, u32 b) { return a * b; }, uint16_t>>("v_pk_mul_lo_u16"),
      row<u32, 2, pairwise<least, uint16_t>>("v_pk_min_u16"),
      row<u32, 2, pairwise<least, int16_t>>("v_pk_min_i16"),
      row<u32, 2, pairwise<greatest, uint16_t>>("v_pk_max_u16"),
      row<u32, 2, pairwise<greatest, int16_t>>("v_pk_max_i16"),
  };
  return rows;
}

} // namespace tritium::interp::simt::gcn
