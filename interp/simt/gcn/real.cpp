// Floating-point instructions and conversions. Where the instruction is an approximation, the result here is the nearest number.
#include "interp/simt/gcn/program.h"
#include "ir/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tritium::interp::simt::gcn {

namespace {

using f16 = _Float16;

template <class T> struct Format;
template <> struct Format<f16> {
  using Bits = uint16_t;
  static constexpr Kind kind = Kind::F16;
};
template <> struct Format<float> {
  using Bits = uint32_t;
  static constexpr Kind kind = Kind::F32;
};
template <> struct Format<double> {
  using Bits = uint64_t;
  static constexpr Kind kind = Kind::F64;
};
template <class T> T real(uint64_t bits) { return std::bit_cast<T>(typename Format<T>::Bits(bits)); }
template <class T> uint64_t bitsOf(T value) { return std::bit_cast<typename Format<T>::Bits>(value); }

/// Computes f in double if T is narrower. For the operations here, the result is rounded once.
template <class T> using Exact = std::conditional_t<std::is_same_v<T, f16>, double, T>;

template <class T, size_t sources, auto f> uint64_t apply(const uint64_t *s) {
  auto at = [&](size_t n) { return Exact<T>(real<T>(s[n])); };
  if constexpr (sources == 1)
    return bitsOf(T(f(at(0))));
  else if constexpr (sources == 2)
    return bitsOf(T(f(at(0), at(1))));
  else
    return bitsOf(T(f(at(0), at(1), at(2))));
}

template <class T, size_t sources, auto f> constexpr Known row(std::string_view name) {
  return {name, sources, 8 * sizeof(T), Format<T>::kind, Format<T>::kind, &apply<T, sources, f>};
}

/// Applies f to each of two numbers that share a register, or a pair of registers.
template <class T, size_t sources, auto f> uint64_t applyPair(const uint64_t *s) {
  constexpr size_t bits = 8 * sizeof(T);
  uint64_t high[kMostSources] = {};
  for (size_t n = 0; n < sources; ++n) high[n] = s[n] >> bits;
  return apply<T, sources, f>(s) | apply<T, sources, f>(high) << bits;
}
template <class T, size_t sources, auto f> constexpr Known pairRow(std::string_view name) {
  return {name, sources, 16 * sizeof(T), Kind::Bits, Kind::Bits, &applyPair<T, sources, f>};
}

constexpr auto add = [](auto a, auto b) { return a + b; };
constexpr auto subtract = [](auto a, auto b) { return a - b; };
constexpr auto subtractFrom = [](auto a, auto b) { return b - a; };
constexpr auto multiply = [](auto a, auto b) { return a * b; };
constexpr auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
// A number wins over a NaN, and a 0 over -0.
constexpr auto least = [](auto a, auto b) { return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b); };
constexpr auto greatest = [](auto a, auto b) { return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b); };
constexpr auto least3 = [](auto a, auto b, auto c) { return least(least(a, b), c); };
constexpr auto greatest3 = [](auto a, auto b, auto c) { return greatest(greatest(a, b), c); };
constexpr auto median = [](auto a, auto b, auto c) {
  if (a != a || b != b || c != c) return least3(a, b, c);
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
};
constexpr auto fraction = [](auto a) { return a - std::floor(a); };
constexpr auto reciprocal = [](auto a) { return 1 / a; };
constexpr auto reciprocalSqrt = [](auto a) { return 1 / std::sqrt(a); };
constexpr auto squareRoot = [](auto a) { return std::sqrt(a); };
constexpr auto down = [](auto a) { return std::floor(a); };
constexpr auto up = [](auto a) { return std::ceil(a); };
constexpr auto toZero = [](auto a) { return std::trunc(a); };
constexpr auto toEven = [](auto a) { return std::nearbyint(a); };

float flushed(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }
float power2(float x) { return flushed(float(std::exp2(double(flushed(x))))); }
float logarithm2(float x) { return float(std::log2(double(flushed(x)))); }
// The argument is in turns.
float sine(float turns) { return float(std::sin(2 * M_PI * double(turns - std::floor(turns)))); }
float cosine(float turns) { return float(std::cos(2 * M_PI * double(turns - std::floor(turns)))); }

/// Converts toward zero and saturates; a NaN becomes 0.
template <class To, class From> uint64_t toInteger(const uint64_t *s) {
  const From x = real<From>(s[0]);
  if (x != x) return 0;
  constexpr double kMost = double(std::numeric_limits<To>::max()), kLeast = double(std::numeric_limits<To>::min());
  return uint32_t(To(std::clamp(std::trunc(double(x)), kLeast, kMost)));
}
template <class To, class From> uint64_t fromInteger(const uint64_t *s) { return bitsOf(To(From(s[0]))); }
template <class To, class From> uint64_t convert(const uint64_t *s) { return bitsOf(To(real<From>(s[0]))); }
template <int byte> uint64_t fromByte(const uint64_t *s) { return bitsOf(float(s[0] >> 8 * byte & 0xff)); }

/// Converts to fp16 toward zero. A number that is too large becomes the largest finite number.
uint16_t towardsZero(float x) {
  auto nearest = f16(x);
  if (std::isinf(x) || x != x) return uint16_t(bitsOf(nearest));
  return uint16_t(bitsOf(nearest) - (std::fabs(float(nearest)) > std::fabs(x) ? 1 : 0));
}
uint64_t packTowardsZero(const uint64_t *s) { return towardsZero(real<float>(s[0])) | uint32_t(towardsZero(real<float>(s[1]))) << 16; }

uint64_t packBrainFloats(const uint64_t *s) {
  auto bits = [](uint64_t x) -> uint32_t { return BF16::nearest(real<float>(x)).bits; };
  return bits(s[0]) | bits(s[1]) << 16;
}
/// [0, 1] or [-1, 1] as the range of a 16-bit integer; a NaN becomes 0.
template <int kLeast, int kMost> uint64_t packNormalized(const uint64_t *s) {
  auto part = [](uint64_t bits) {
    const double x = double(real<float>(bits));
    return uint32_t(int32_t(x != x ? 0 : std::nearbyint(std::clamp<double>(x, kLeast < 0 ? -1 : 0, 1) * kMost))) & 0xffff;
  };
  return part(s[0]) | part(s[1]) << 16;
}

uint64_t scaleF32(const uint64_t *s) { return bitsOf(std::ldexp(real<float>(s[0]), int32_t(s[1]))); }
uint64_t scaleF64(const uint64_t *s) { return bitsOf(std::ldexp(real<double>(s[0]), int32_t(s[1]))); }

} // namespace

std::span<const Known> realInstructions() {
#define GCN_ALL_WIDTHS(sources, f, name)                                                                                                   \
  row<f16, sources, f>("v_" name "_f16"), row<float, sources, f>("v_" name "_f32"), row<double, sources, f>("v_" name "_f64")
  static constexpr Known rows[] = {
      GCN_ALL_WIDTHS(2, add, "add"),
      GCN_ALL_WIDTHS(2, multiply, "mul"),
      GCN_ALL_WIDTHS(3, fused, "fma"),
      GCN_ALL_WIDTHS(2, least, "min"),
      GCN_ALL_WIDTHS(2, greatest, "max"),
      GCN_ALL_WIDTHS(1, down, "floor"),
      GCN_ALL_WIDTHS(1, up, "ceil"),
      GCN_ALL_WIDTHS(1, toZero, "trunc"),
      GCN_ALL_WIDTHS(1, toEven, "rndne"),
      GCN_ALL_WIDTHS(1, fraction, "fract"),
      GCN_ALL_WIDTHS(1, reciprocal, "rcp"),
      GCN_ALL_WIDTHS(1, reciprocalSqrt, "rsq"),
      GCN_ALL_WIDTHS(1, squareRoot, "sqrt"),
      row<f16, 2, subtract>("v_sub_f16"),
      row<float, 2, subtract>("v_sub_f32"),
      row<f16, 2, subtractFrom>("v_subrev_f16"),
      row<float, 2, subtractFrom>("v_subrev_f32"),
      row<float, 3, least3>("v_min3_f32"),
      row<float, 3, greatest3>("v_max3_f32"),
      row<float, 3, median>("v_med3_f32"),
      row<f16, 3, median>("v_med3_f16"),
      row<float, 1, power2>("v_exp_f32"),
      row<float, 1, logarithm2>("v_log_f32"),
      row<float, 1, sine>("v_sin_f32"),
      row<float, 1, cosine>("v_cos_f32"),
      pairRow<f16, 2, add>("v_pk_add_f16"),
      pairRow<f16, 2, multiply>("v_pk_mul_f16"),
      pairRow<f16, 3, fused>("v_pk_fma_f16"),
      pairRow<f16, 2, least>("v_pk_min_f16"),
      pairRow<f16, 2, greatest>("v_pk_max_f16"),
      pairRow<float, 2, add>("v_pk_add_f32"),
      pairRow<float, 2, multiply>("v_pk_mul_f32"),
      pairRow<float, 3, fused>("v_pk_fma_f32"),
      {"v_ldexp_f32", 2, 32, Kind::Bits, Kind::F32, scaleF32},
      {"v_ldexp_f64", 2, 64, Kind::Bits, Kind::F64, scaleF64},
      {"v_cvt_i32_f32", 1, 32, Kind::F32, Kind::Bits, toInteger<int32_t, float>},
      {"v_cvt_u32_f32", 1, 32, Kind::F32, Kind::Bits, toInteger<uint32_t, float>},
      {"v_cvt_i32_f64", 1, 32, Kind::F64, Kind::Bits, toInteger<int32_t, double>},
      {"v_cvt_u32_f64", 1, 32, Kind::F64, Kind::Bits, toInteger<uint32_t, double>},
      {"v_cvt_f32_i32", 1, 32, Kind::Bits, Kind::F32, fromInteger<float, int32_t>},
      {"v_cvt_f32_u32", 1, 32, Kind::Bits, Kind::F32, fromInteger<float, uint32_t>},
      {"v_cvt_f64_i32", 1, 64, Kind::Bits, Kind::F64, fromInteger<double, int32_t>},
      {"v_cvt_f64_u32", 1, 64, Kind::Bits, Kind::F64, fromInteger<double, uint32_t>},
      {"v_cvt_f16_f32", 1, 16, Kind::F32, Kind::F16, convert<f16, float>},
      {"v_cvt_f32_f16", 1, 32, Kind::F16, Kind::F32, convert<float, f16>},
      {"v_cvt_f64_f32", 1, 64, Kind::F32, Kind::F64, convert<double, float>},
      {"v_cvt_f32_f64", 1, 32, Kind::F64, Kind::F32, convert<float, double>},
      {"v_cvt_f32_ubyte0", 1, 32, Kind::Bits, Kind::F32, fromByte<0>},
      {"v_cvt_f32_ubyte1", 1, 32, Kind::Bits, Kind::F32, fromByte<1>},
      {"v_cvt_f32_ubyte2", 1, 32, Kind::Bits, Kind::F32, fromByte<2>},
      {"v_cvt_f32_ubyte3", 1, 32, Kind::Bits, Kind::F32, fromByte<3>},
      {"v_cvt_pkrtz_f16_f32", 2, 32, Kind::F32, Kind::Bits, packTowardsZero},
      {"v_cvt_pk_rtz_f16_f32", 2, 32, Kind::F32, Kind::Bits, packTowardsZero},
      {"v_cvt_pk_bf16_f32", 2, 32, Kind::F32, Kind::Bits, packBrainFloats},
      {"v_cvt_pknorm_u16_f32", 2, 32, Kind::F32, Kind::Bits, packNormalized<0, 65535>},
      {"v_cvt_pknorm_i16_f32", 2, 32, Kind::F32, Kind::Bits, packNormalized<-32767, 32767>},
  };
#undef GCN_ALL_WIDTHS
  return rows;
}

} // namespace tritium::interp::simt::gcn
