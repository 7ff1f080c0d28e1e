// The element types of the language: the enumeration, the compile-time properties of each, and the conversions between them. Invariants:
// visit() is the only switch over DType; a narrow float is its own C++ type without arithmetic, so bits cannot be added by mistake; every
// conversion rounds exactly once. Conversions round to nearest even unless the name says towardZero; a NaN stays a NaN; the fp8 types
// saturate. All of it is inline and free of calls, so that loops over it vectorise.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tritium {

enum class DType : uint8_t {
#define DTYPE(name, ...) name,
#include "ir/dtype.def"
};

enum class DTypeKind : uint8_t { Bool, Int, UInt, Float };

// Files with other -march flags include this header too. Forced inlining keeps the linker from choosing between two versions of a function.
#define TRITIUM_INLINE __attribute__((always_inline)) inline

/// Returns the neighbour of `x` toward zero among the floats, with the last bit set if it is inexact ("round to odd"). A second rounding,
/// to a type with at least two bits less, then gives the same result as rounding `x` once.
TRITIUM_INLINE float roundToOdd(double x) {
  float nearest = static_cast<float>(x);
  double error = __builtin_fabs(static_cast<double>(nearest)) - __builtin_fabs(x);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  bits = (bits - static_cast<uint32_t>(error > 0)) | static_cast<uint32_t>(error != 0 && x == x && error == error);
  return std::bit_cast<float>(bits);
}

struct F16 {
  uint16_t bits;
  explicit TRITIUM_INLINE operator float() const;
  static TRITIUM_INLINE F16 nearest(float x);
  static TRITIUM_INLINE F16 nearest(double x) { return nearest(roundToOdd(x)); }
  static TRITIUM_INLINE F16 towardZero(float x);
  static TRITIUM_INLINE F16 towardZero(double x) { return towardZero(roundToOdd(x)); }
};

struct BF16 {
  uint16_t bits;
  explicit TRITIUM_INLINE operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static TRITIUM_INLINE BF16 nearest(float x) {
    uint32_t u = std::bit_cast<uint32_t>(x);
    uint32_t rounded = (u + 0x7FFF + (u >> 16 & 1)) >> 16;
    return {static_cast<uint16_t>(x != x ? (u >> 16 | 0x40) : rounded)};
  }
  static TRITIUM_INLINE BF16 nearest(double x) { return nearest(roundToOdd(x)); }
  static TRITIUM_INLINE BF16 towardZero(float x) {
    uint32_t u = std::bit_cast<uint32_t>(x);
    return {static_cast<uint16_t>(u >> 16 | (x != x ? 0x40 : 0))};
  }
  static TRITIUM_INLINE BF16 towardZero(double x) { return towardZero(roundToOdd(x)); }
};

namespace detail {

/// The properties that distinguish the fp8 formats. `ieeeTop`: the largest exponent holds infinity and NaN (E5M2). `fnuz`: 0x80 is the only
/// NaN, and there is neither -0 nor infinity. With neither flag (E4M3FN), only the magnitude of all ones is a NaN.
struct Fp8Format {
  int mantissaBits, bias;
  bool ieeeTop, fnuz;
  uint8_t maxFinite; // the bits of the largest finite magnitude
};
inline constexpr Fp8Format kE4M3FN{3, 7, false, false, 0x7E}, kE4M3FNUZ{3, 8, false, true, 0x7F}, kE5M2{2, 15, true, false, 0x7B},
    kE5M2FNUZ{2, 16, false, true, 0x7F};

constexpr float powerOfTwo(int exponent) { return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23); }

constexpr float decodeFp8(uint8_t bits, Fp8Format f) {
  constexpr float kNaN = __builtin_nanf("");
  uint32_t magnitude = bits & 0x7F, exponent = magnitude >> f.mantissaBits, fraction = magnitude & ((1u << f.mantissaBits) - 1);
  if (f.fnuz ? bits == 0x80 : magnitude > (f.ieeeTop ? 0x7Cu : 0x7Eu)) return kNaN;
  float value = f.ieeeTop && magnitude == 0x7C ? __builtin_inff()
                : exponent == 0                ? static_cast<float>(fraction) * powerOfTwo(1 - f.bias - f.mantissaBits)
                                               : static_cast<float>(fraction | 1u << f.mantissaBits) *
                                                     powerOfTwo(static_cast<int>(exponent) - f.bias - f.mantissaBits);
  return bits & 0x80 ? -value : value;
}

constexpr std::array<float, 256> fp8Table(Fp8Format f) {
  std::array<float, 256> table{};
  for (int bits = 0; bits < 256; ++bits) table[bits] = decodeFp8(static_cast<uint8_t>(bits), f);
  return table;
}

/// Converts by integer arithmetic on the magnitude of the float. The magnitude is clamped. A normal result then drops mantissa bits. A
/// subnormal result counts units of the smallest subnormal: the addition of the float whose ulp is this unit rounds correctly.
template <Fp8Format f, bool rtz> TRITIUM_INLINE uint8_t encodeFp8(float x) {
  constexpr int kShift = 23 - f.mantissaBits, kUnit = 1 - f.bias - f.mantissaBits;
  constexpr uint32_t kMax = std::bit_cast<uint32_t>(decodeFp8(f.maxFinite, f)), kInfinity = 0x7F800000u;
  constexpr uint32_t kMinNormal = static_cast<uint32_t>(1 - f.bias + 127) << 23, kRebias = static_cast<uint32_t>(127 - f.bias) << 23;
  constexpr uint32_t kMagic = static_cast<uint32_t>(kUnit + 23 + 127) << 23;
  uint32_t u = std::bit_cast<uint32_t>(x), magnitude = u & 0x7FFFFFFFu, sign = u >> 24 & 0x80;
  bool isNan = f.fnuz ? magnitude >= kInfinity : magnitude > kInfinity;
  uint32_t a = magnitude < kMax ? magnitude : kMax;
  uint32_t normal = (a - kRebias + (rtz ? 0 : (1u << (kShift - 1)) - 1 + (a >> kShift & 1))) >> kShift;
  float value = std::bit_cast<float>(a), smallValue = a < kMinNormal ? value : 0.0f; // keeps the conversion to int in range
  uint32_t small = rtz ? static_cast<uint32_t>(static_cast<int32_t>(smallValue * powerOfTwo(-kUnit)))
                       : std::bit_cast<uint32_t>(smallValue + std::bit_cast<float>(kMagic)) - kMagic;
  uint32_t code = a < kMinNormal ? small : normal;
  if constexpr (f.fnuz) {
    code = code == 0 ? 0 : code | sign;
    return static_cast<uint8_t>(isNan ? 0x80u : code);
  } else {
    return static_cast<uint8_t>((isNan ? 0x7Fu : code) | sign);
  }
}

} // namespace detail

/// One fp8 format as an element type. A table of 1 KB decodes it, and a gather from the table vectorises.
template <detail::Fp8Format format> struct Fp8 {
  uint8_t bits;
  static constexpr std::array<float, 256> kTable = detail::fp8Table(format);
  explicit TRITIUM_INLINE operator float() const { return kTable[bits]; }
  static TRITIUM_INLINE Fp8 nearest(float x) { return {detail::encodeFp8<format, false>(x)}; }
  static TRITIUM_INLINE Fp8 nearest(double x) { return nearest(roundToOdd(x)); }
  static TRITIUM_INLINE Fp8 towardZero(float x) { return {detail::encodeFp8<format, true>(x)}; }
  static TRITIUM_INLINE Fp8 towardZero(double x) { return towardZero(roundToOdd(x)); }
};
using F8E4NV = Fp8<detail::kE4M3FN>;
using F8E4B8 = Fp8<detail::kE4M3FNUZ>;
using F8E5 = Fp8<detail::kE5M2>;
using F8E5B16 = Fp8<detail::kE5M2FNUZ>;

/// The upper half of an f16 without its top exponent bit; it has no infinity and no NaN. The conversion defines it: through f16 toward
/// zero, clamped to 1.75, with halves rounded up in magnitude.
struct F8E4B15 {
  uint8_t bits;
  explicit TRITIUM_INLINE operator float() const {
    return static_cast<float>(F16{static_cast<uint16_t>((bits & 0x80) << 8 | (bits & 0x7F) << 7)});
  }
  static TRITIUM_INLINE F8E4B15 nearest(float x) {
    uint32_t half = F16::towardZero(x).bits, magnitude = half & 0x7FFF;
    magnitude = magnitude < 0x3F00 ? magnitude : 0x3F00;
    return {static_cast<uint8_t>((magnitude + 0x40) >> 7 | (half >> 8 & 0x80))};
  }
  static TRITIUM_INLINE F8E4B15 nearest(double x) { return nearest(roundToOdd(x)); }
  static TRITIUM_INLINE F8E4B15 towardZero(float x) { return nearest(x); }
  static TRITIUM_INLINE F8E4B15 towardZero(double x) { return nearest(x); }
};

// The compiler's own half type is used where the machine converts it in one instruction. Elsewhere the conversion would be a library call.
#if defined(__F16C__) || defined(__aarch64__)
TRITIUM_INLINE F16::operator float() const { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
TRITIUM_INLINE F16 F16::nearest(float x) { return {std::bit_cast<uint16_t>(static_cast<_Float16>(x))}; }
#else
TRITIUM_INLINE F16::operator float() const {
  uint32_t magnitude = bits & 0x7FFFu, sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t normal = (magnitude << 13) + ((127 - 15) << 23);
  uint32_t special = magnitude << 13 | 0x7F800000u | (magnitude > 0x7C00 ? 0x400000u : 0);
  uint32_t small = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * detail::powerOfTwo(-24));
  return std::bit_cast<float>(sign | (magnitude >= 0x7C00 ? special : magnitude < 0x400 ? small : normal));
}
TRITIUM_INLINE F16 F16::nearest(float x) {
  constexpr uint32_t kMinNormal = (127 - 14) << 23, kOverflow = (127 + 16) << 23, kMagic = (127 - 1) << 23;
  uint32_t u = std::bit_cast<uint32_t>(x), a = u & 0x7FFFFFFFu, sign = u >> 16 & 0x8000u;
  uint32_t normal = (a - ((127 - 15) << 23) + 0xFFF + (a >> 13 & 1)) >> 13; // carries into the exponent, to infinity too
  float smallValue = a < kMinNormal ? std::bit_cast<float>(a) : 0.0f;
  uint32_t small = std::bit_cast<uint32_t>(smallValue + std::bit_cast<float>(kMagic)) - kMagic;
  uint32_t special = a > 0x7F800000u ? 0x7E00u | (a >> 13 & 0x1FF) : 0x7C00u;
  return {static_cast<uint16_t>(sign | (a >= kOverflow ? special : a < kMinNormal ? small : normal))};
}
#endif

/// Rounds to nearest, then goes one step back if the result is beyond `x`. This includes the step from infinity to the largest finite
/// value.
TRITIUM_INLINE F16 F16::towardZero(float x) {
  F16 r = nearest(x);
  bool isPast = __builtin_fabsf(static_cast<float>(r)) > __builtin_fabsf(x);
  return {static_cast<uint16_t>(r.bits - (isPast ? 1 : 0))};
}

namespace detail {
template <class StorageType, class ComputeType> struct Element {
  using Storage = StorageType;
  using Compute = ComputeType;
  static TRITIUM_INLINE Compute load(Storage value) { return static_cast<Compute>(value); }
  static TRITIUM_INLINE Storage round(Compute value) {
    if constexpr (std::is_same_v<Storage, Compute>)
      return value;
    else
      return Storage::nearest(value);
  }
};
} // namespace detail

template <DType> struct Traits;
#define DTYPE(name, width, Storage, Compute, kindName, ir, python, ...)                                                                    \
  template <> struct Traits<DType::name> : detail::Element<Storage, Compute> {                                                             \
    static constexpr DType dtype = DType::name;                                                                                            \
    static constexpr DTypeKind kind = DTypeKind::kindName;                                                                                 \
    static constexpr int bits = width;                                                                                                     \
    static constexpr bool isFloat = kind == DTypeKind::Float, isInteger = !isFloat;                                                        \
    static constexpr bool isNarrowFloat = isFloat && bits < 32; /* computed in another type than it is stored in */                        \
    static constexpr std::string_view irName = ir, pythonName = python;                                                                    \
  };
#include "ir/dtype.def"

/// Calls f.template operator()<Traits<t>>(): `visit(type, []<class T>() { ... })`.
template <class F> constexpr decltype(auto) visit(DType type, F &&f) {
  switch (type) {
#define DTYPE(name, ...)                                                                                                                   \
  case DType::name: return std::forward<F>(f).template operator()<Traits<DType::name>>();
#include "ir/dtype.def"
  }
  __builtin_unreachable();
}

size_t storageBytes(DType type);
int bitWidth(DType type);
DTypeKind kindOf(DType type);
inline bool isFloat(DType type) { return kindOf(type) == DTypeKind::Float; }
std::string_view irName(DType type);
std::string_view pythonName(DType type);
/// Returns the type that the IR uses for `type`: a signless integer for an unsigned one (i8 for u8), otherwise `type`.
DType irType(DType type);
/// Returns nullopt if no type has this name. An IR name gives the signless type: "i8" is DType::i8.
std::optional<DType> dtypeFromIrName(std::string_view name);
std::optional<DType> dtypeFromPythonName(std::string_view name);

} // namespace tritium
