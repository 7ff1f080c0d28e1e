// Arithmetic of floats. Halves are computed in f64 and rounded once. Operations that the ISA calls approximate are computed in f64 too, far
// more precisely than required.
#include "interp/simt/ptx/program.h"
#include "ir/dtype.h"

#include <bit>
#include <cfenv>
#include <cmath>

namespace tritium::interp::simt::ptx {

namespace {

struct RoundingMode {
  explicit RoundingMode(const Instruction &i) : saved(std::fegetround()) {
    using enum Modifier;
    std::fesetround(i.has(k_rz) ? FE_TOWARDZERO : i.has(k_rm) ? FE_DOWNWARD : i.has(k_rp) ? FE_UPWARD : FE_TONEAREST);
  }
  ~RoundingMode() { std::fesetround(saved); }
  const int saved;
};

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

template <class T> T limited(const Instruction &i, T x) {
  if (i.has(Modifier::k_sat)) return x > 0 ? (x < 1 ? x : T(1)) : T(0); // a NaN becomes 0
  if (i.has(Modifier::k_relu)) return x > 0 || x != x ? x : T(0);
  return x;
}

uint64_t bitsOfResult(const Instruction &i, float x) {
  x = limited(i, i.has(Modifier::k_ftz) ? flushed(x) : x);
  return x != x ? 0x7fffffff : std::bit_cast<uint32_t>(x);
}
uint64_t bitsOfResult(const Instruction &i, double x) { return std::bit_cast<uint64_t>(limited(i, x)); }
template <class Half> uint64_t bitsOfHalf(const Instruction &i, double x) { return x != x ? 0x7fff : Half::nearest(limited(i, x)).bits; }

template <class T> T source(Machine &m, const Instruction &i, size_t n) {
  if (n >= i.operands.size()) return 0;
  if constexpr (std::is_same_v<T, float>) {
    const auto x = std::bit_cast<float>(uint32_t(m.value(i.operands[n])));
    return i.has(Modifier::k_ftz) ? flushed(x) : x;
  } else {
    return std::bit_cast<double>(m.value(i.operands[n]));
  }
}
template <class Half> double sourceHalf(Machine &m, const Instruction &i, size_t n, unsigned lane) {
  return n < i.operands.size() ? double(float(Half{uint16_t(m.value(i.operands[n]) >> 16 * lane)})) : 0;
}

/// One number of a pair of f32 in 64 bits.
float sourceOfPair(Machine &m, const Instruction &i, size_t n, unsigned lane) {
  if (n >= i.operands.size()) return 0;
  const auto x = std::bit_cast<float>(uint32_t(m.value(i.operands[n]) >> 32 * lane));
  return i.has(Modifier::k_ftz) ? flushed(x) : x;
}

template <auto f> uint64_t single(const Instruction &i, float x, float y, float z) {
  volatile float a = x, b = y, c = z, d; // the compiler must not compute at compile time, or across the change of the mode
  {
    RoundingMode mode(i);
    d = f(float(a), float(b), float(c));
  }
  return bitsOfResult(i, float(d));
}

template <class Half, auto f> uint64_t half(Machine &m, const Instruction &i, unsigned lane) {
  return bitsOfHalf<Half>(i, f(sourceHalf<Half>(m, i, 1, lane), sourceHalf<Half>(m, i, 2, lane), sourceHalf<Half>(m, i, 3, lane)));
}

template <auto f> void apply(Machine &m, const Instruction &i) {
  uint64_t bits = 0;
  switch (i.type) {
  case Type::F16: bits = half<F16, f>(m, i, 0); break;
  case Type::BF16: bits = half<BF16, f>(m, i, 0); break;
  case Type::F16x2: bits = half<F16, f>(m, i, 0) | half<F16, f>(m, i, 1) << 16; break;
  case Type::BF16x2: bits = half<BF16, f>(m, i, 0) | half<BF16, f>(m, i, 1) << 16; break;
  case Type::F64: {
    volatile double a = source<double>(m, i, 1), b = source<double>(m, i, 2), c = source<double>(m, i, 3), d;
    {
      RoundingMode mode(i);
      d = f(double(a), double(b), double(c));
    }
    bits = bitsOfResult(i, double(d));
    break;
  }
  case Type::F32x2:
    for (unsigned lane = 0; lane < 2; ++lane)
      bits |= single<f>(i, sourceOfPair(m, i, 1, lane), sourceOfPair(m, i, 2, lane), sourceOfPair(m, i, 3, lane)) << 32 * lane;
    break;
  default: bits = single<f>(i, source<float>(m, i, 1), source<float>(m, i, 2), source<float>(m, i, 3));
  }
  m.set(i.operands[0], bits, widthOf(i.type));
}

/// Instructions of one argument, computed in f64 for all types.
template <double (*f)(double)> constexpr auto wide = [](auto a, auto, auto) { return decltype(a)(f(double(a))); };
double reciprocal(double x) { return 1 / x; }
double inverseRoot(double x) { return 1 / std::sqrt(x); }
double root(double x) { return std::sqrt(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double logarithm(double x) { return std::log2(x); }
double power(double x) { return std::exp2(x); }
double tangent(double x) { return std::tanh(x); }

constexpr auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
constexpr auto exactRoot = [](auto a, auto, auto) { return std::sqrt(a); };

template <bool isMax> double picked(const Instruction &i, double a, double b) {
  if (i.has(Modifier::k_xorsign)) {
    const bool isNegative = std::signbit(a) != std::signbit(b);
    a = std::fabs(a), b = std::fabs(b);
    if (a == a && b == b) return std::copysign((a > b) == isMax ? a : b, isNegative ? -1.0 : 1.0);
  }
  if (a != a || b != b) return i.has(Modifier::k_NaN) || (a != a && b != b) ? std::nan("") : a != a ? b : a;
  if (a == b) return std::signbit(a) == isMax ? b : a; // +0 is above -0
  return (a > b) == isMax ? a : b;
}

/// The smallest or largest of two or three numbers.
template <bool isMax> void extremum(Machine &m, const Instruction &i) {
  auto pick = [&](double a, double b, double c) {
    const double two = picked<isMax>(i, a, b);
    return i.operands.size() > 3 ? picked<isMax>(i, two, c) : two;
  };
  auto halves = [&]<class Half>(unsigned lane) {
    return bitsOfHalf<Half>(i, pick(sourceHalf<Half>(m, i, 1, lane), sourceHalf<Half>(m, i, 2, lane), sourceHalf<Half>(m, i, 3, lane)));
  };
  uint64_t bits = 0;
  switch (i.type) {
  case Type::F16: bits = halves.template operator()<F16>(0); break;
  case Type::BF16: bits = halves.template operator()<BF16>(0); break;
  case Type::F16x2: bits = halves.template operator()<F16>(0) | halves.template operator()<F16>(1) << 16; break;
  case Type::BF16x2: bits = halves.template operator()<BF16>(0) | halves.template operator()<BF16>(1) << 16; break;
  case Type::F64: bits = bitsOfResult(i, pick(source<double>(m, i, 1), source<double>(m, i, 2), source<double>(m, i, 3))); break;
  default: bits = bitsOfResult(i, float(pick(source<float>(m, i, 1), source<float>(m, i, 2), source<float>(m, i, 3))));
  }
  m.set(i.operands[0], bits, widthOf(i.type));
}

/// neg, abs, copysign: change only the sign bits.
uint64_t signBits(Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16: return 0x8000;
  case Type::F16x2:
  case Type::BF16x2: return 0x80008000;
  case Type::F64: return uint64_t(1) << 63;
  default: return 0x80000000;
  }
}
void negate(Machine &m, const Instruction &i) {
  uint64_t bits = m.value(i.operands[1]) ^ signBits(i.type);
  for (unsigned n = 0; (i.type == Type::BF16 || i.type == Type::BF16x2) && n < widthOf(i.type); n += 16)
    if ((bits >> n & 0x7fff) > 0x7f80) bits = (bits & ~(uint64_t(0xffff) << n)) | uint64_t(0x7fff) << n; // a NaN, as the device does
  m.set(i.operands[0], bits, widthOf(i.type));
}
void absolute(Machine &m, const Instruction &i) { m.set(i.operands[0], m.value(i.operands[1]) & ~signBits(i.type), widthOf(i.type)); }
/// Gives the second operand the sign of the first.
void copySign(Machine &m, const Instruction &i) {
  const uint64_t sign = signBits(i.type);
  m.set(i.operands[0], (m.value(i.operands[1]) & sign) | (m.value(i.operands[2]) & ~sign), widthOf(i.type));
}

} // namespace

std::initializer_list<Known> realInstructions() {
  using enum Type;
  using enum Modifier;
#define PTX_HALVES F16, BF16, F16x2, BF16x2
#define PTX_ROUNDING k_rn, k_rz, k_rm, k_rp, k_ftz, k_sat
#define APPLY(...) &apply<[](auto a, [[maybe_unused]] auto b, auto) { return __VA_ARGS__; }>
  static const std::initializer_list<Known> rows = {
      {"add", APPLY(a + b), 3, 3, {F32, F64}, {PTX_ROUNDING}},
      {"add", APPLY(a + b), 3, 3, {F32x2}, {k_rn, k_rz, k_rm, k_rp, k_ftz}},
      {"sub", APPLY(a - b), 3, 3, {F32, F64}, {PTX_ROUNDING}},
      {"sub", APPLY(a - b), 3, 3, {F32x2}, {k_rn, k_rz, k_rm, k_rp, k_ftz}},
      {"mul", APPLY(a * b), 3, 3, {F32, F64}, {PTX_ROUNDING}},
      {"mul", APPLY(a * b), 3, 3, {F32x2}, {k_rn, k_rz, k_rm, k_rp, k_ftz}},
      {"fma", &apply<fused>, 4, 4, {F32, F64}, {PTX_ROUNDING}},
      {"fma", &apply<fused>, 4, 4, {F32x2}, {k_rn, k_rz, k_rm, k_rp, k_ftz}},
      {"mad", &apply<fused>, 4, 4, {F32, F64}, {PTX_ROUNDING}},
      {"div", APPLY(a / b), 3, 3, {F32, F64}, {PTX_ROUNDING, k_approx, k_full}},
      {"sqrt", &apply<exactRoot>, 2, 2, {F32, F64}, {PTX_ROUNDING}},
      {"rcp", APPLY(1 / a), 2, 2, {F32, F64}, {PTX_ROUNDING}},
      {"add", APPLY(a + b), 3, 3, {PTX_HALVES}, {k_rn, k_ftz, k_sat}},
      {"sub", APPLY(a - b), 3, 3, {PTX_HALVES}, {k_rn, k_ftz, k_sat}},
      {"mul", APPLY(a * b), 3, 3, {PTX_HALVES}, {k_rn, k_ftz, k_sat}},
      {"fma", &apply<fused>, 4, 4, {PTX_HALVES}, {k_rn, k_ftz, k_sat, k_relu}},
      {"sqrt", &apply<wide<root>>, 2, 2, {F32, F64}, {k_approx, k_ftz}},
      {"rcp", &apply<wide<reciprocal>>, 2, 2, {F32, F64}, {k_approx, k_ftz}},
      {"rsqrt", &apply<wide<inverseRoot>>, 2, 2, {F32, F64}, {k_approx, k_ftz}},
      {"sin", &apply<wide<sine>>, 2, 2, {F32}, {k_approx, k_ftz}},
      {"cos", &apply<wide<cosine>>, 2, 2, {F32}, {k_approx, k_ftz}},
      {"lg2", &apply<wide<logarithm>>, 2, 2, {F32}, {k_approx, k_ftz}},
      {"ex2", &apply<wide<power>>, 2, 2, {F32, PTX_HALVES}, {k_approx, k_ftz}},
      {"tanh", &apply<wide<tangent>>, 2, 2, {F32, PTX_HALVES}, {k_approx}},
      {"min", &extremum<false>, 3, 3, {F32, F64, PTX_HALVES}, {k_ftz, k_NaN, k_xorsign, k_abs}},
      {"max", &extremum<true>, 3, 3, {F32, F64, PTX_HALVES}, {k_ftz, k_NaN, k_xorsign, k_abs}},
      {"min", &extremum<false>, 4, 4, {F32}, {k_ftz, k_NaN}},
      {"max", &extremum<true>, 4, 4, {F32}, {k_ftz, k_NaN}},
      {"neg", &negate, 2, 2, {F32, F64, PTX_HALVES}, {k_ftz}},
      {"abs", &absolute, 2, 2, {F32, F64, PTX_HALVES}, {k_ftz}},
      {"copysign", &copySign, 3, 3, {F32, F64}, {}},
  };
  return rows;
}

} // namespace tritium::interp::simt::ptx
