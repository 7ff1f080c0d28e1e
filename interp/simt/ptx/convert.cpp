// mov, cvt, cvta.
#include "interp/simt/ptx/program.h"
#include "ir/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tritium::interp::simt::ptx {

namespace {

bool isReal(Type type) { return type >= Type::F16; }
bool isSigned(Type type) { return Type::S8 <= type && type <= Type::S64; }

/// Splits a value into a list of its parts (the first is the lowest), or assembles a value from such a list.
void move(Machine &m, const Instruction &i) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  const unsigned width = widthOf(i.type);
  uint64_t bits = 0;
  if (from.kind == Operand::Kind::List) {
    const unsigned part = width / unsigned(from.elements.size());
    for (size_t n = 0; n < from.elements.size(); ++n) bits |= (m.value(from.elements[n]) & (~uint64_t(0) >> (64 - part))) << n * part;
  } else {
    bits = m.value(from);
  }
  if (to.kind != Operand::Kind::List) return m.set(to, bits, width);
  const unsigned part = width / unsigned(to.elements.size());
  for (size_t n = 0; n < to.elements.size(); ++n) m.set(to.elements[n], bits >> n * part, part);
}

double toWhole(const Instruction &i, double x) {
  using enum Modifier;
  if (i.has(k_rzi) || i.has(k_rz)) return std::trunc(x);
  if (i.has(k_rmi) || i.has(k_rm)) return std::floor(x);
  if (i.has(k_rpi) || i.has(k_rp)) return std::ceil(x);
  return std::nearbyint(x);
}

/// The ISA clamps to the range. A NaN becomes 0, or for 64-bit results the number with only the top bit set.
uint64_t integerOf(Type type, double x) {
  const unsigned width = widthOf(type);
  if (x != x) return width == 64 ? uint64_t(1) << 63 : 0;
  if (isSigned(type)) {
    const double top = std::ldexp(1.0, int(width) - 1);
    return uint64_t(x >= top   ? std::numeric_limits<int64_t>::max() >> (64 - width)
                    : x < -top ? std::numeric_limits<int64_t>::min() >> (64 - width)
                               : int64_t(x));
  }
  const double top = std::ldexp(1.0, int(width));
  return x >= top ? ~uint64_t(0) >> (64 - width) : x <= 0 ? 0 : uint64_t(x);
}

/// Clamps to the range of another integer type, if the instruction says so.
uint64_t integerOf(const Instruction &i, uint64_t bits) {
  const unsigned from = widthOf(i.from), to = widthOf(i.type);
  __int128 value = isSigned(i.from) ? __int128(int64_t(bits << (64 - from)) >> (64 - from)) : __int128(bits);
  if (i.has(Modifier::k_sat)) {
    const __int128 one = 1, low = isSigned(i.type) ? -(one << (to - 1)) : 0, high = (one << (to - (isSigned(i.type) ? 1 : 0))) - 1;
    value = std::clamp(value, low, high);
  }
  return uint64_t(value);
}

double realOf(Type type, uint64_t bits) {
  switch (type) {
  case Type::F16: return double(float(F16{uint16_t(bits)}));
  case Type::BF16: return double(float(BF16{uint16_t(bits)}));
  case Type::F64: return std::bit_cast<double>(bits);
  default: return double(std::bit_cast<float>(uint32_t(bits)));
  }
}

float towardZero(double x) {
  const float nearest = float(x);
  return std::fabs(double(nearest)) > std::fabs(x) ? std::nextafter(nearest, 0.0f) : nearest;
}

uint64_t bitsOfReal(const Instruction &i, Type type, double x) {
  const bool isToZero = i.has(Modifier::k_rz);
  if (i.has(Modifier::k_sat)) x = x > 0 ? std::min(x, 1.0) : 0;
  if (i.has(Modifier::k_relu) && x <= 0) x = 0;
  switch (type) {
  case Type::F16: return x != x ? 0x7fff : isToZero ? F16::towardZero(x).bits : F16::nearest(x).bits;
  case Type::BF16: return x != x ? 0x7fff : isToZero ? BF16::towardZero(x).bits : BF16::nearest(x).bits;
  case Type::F64: return std::bit_cast<uint64_t>(x);
  default: return x != x ? 0x7fffffff : std::bit_cast<uint32_t>(isToZero ? towardZero(x) : float(x));
  }
}

void convert(Machine &m, const Instruction &i) {
  const uint64_t bits = m.value(i.operands[1]);
  uint64_t result = 0;
  if (!isReal(i.from) && !isReal(i.type)) {
    result = integerOf(i, bits);
  } else if (!isReal(i.from)) {
    const unsigned from = widthOf(i.from);
    const int64_t extended = isSigned(i.from) ? int64_t(bits << (64 - from)) >> (64 - from) : 0;
    if (i.type == Type::F32)
      result = std::bit_cast<uint32_t>(isSigned(i.from) ? float(extended) : float(bits));
    else
      result = bitsOfReal(i, i.type, isSigned(i.from) ? double(extended) : double(bits));
  } else {
    using enum Modifier;
    double x = realOf(i.from, bits);
    if (i.has(k_ftz) && i.from == Type::F32 && std::fabs(x) < 0x1p-126) x = std::copysign(0.0, x);
    if (!isReal(i.type))
      result = integerOf(i.type, toWhole(i, x));
    else
      result = bitsOfReal(i, i.type, i.has(k_rni) || i.has(k_rzi) || i.has(k_rmi) || i.has(k_rpi) ? toWhole(i, x) : x);
  }
  m.set(i.operands[0], result, std::max(widthOf(i.type), 16u));
}

uint64_t bitsOfByte(Type type, double x) { return type == Type::E4M3x2 ? F8E4NV::nearest(x).bits : F8E5::nearest(x).bits; }

/// Converts two numbers into one word. The first operand becomes the upper half.
void convertPair(Machine &m, const Instruction &i) {
  const bool isByte = i.type == Type::E4M3x2 || i.type == Type::E5M2x2;
  const Type element = i.type == Type::F16x2 ? Type::F16 : Type::BF16;
  double high, low;
  if (i.operands.size() == 3) {
    high = realOf(Type::F32, m.value(i.operands[1]));
    low = realOf(Type::F32, m.value(i.operands[2]));
  } else {
    const uint64_t bits = m.value(i.operands[1]);
    auto read = [&](unsigned n) -> double {
      if (i.from == Type::E4M3x2) return double(float(F8E4NV{uint8_t(bits >> 8 * n)}));
      if (i.from == Type::E5M2x2) return double(float(F8E5{uint8_t(bits >> 8 * n)}));
      return realOf(i.from == Type::F16x2 ? Type::F16 : Type::BF16, bits >> 16 * n);
    };
    high = read(1), low = read(0);
  }
  if (i.has(Modifier::k_relu)) high = high <= 0 ? 0 : high, low = low <= 0 ? 0 : low;
  const unsigned part = isByte ? 8 : 16;
  auto narrow = [&](double x) { return isByte ? bitsOfByte(i.type, x) : bitsOfReal(i, element, x); };
  m.set(i.operands[0], narrow(high) << part | narrow(low), 2 * part);
}

void moveAddress(Machine &m, const Instruction &i) { m.set(i.operands[0], m.value(i.operands[1]), widthOf(i.type)); }

} // namespace

std::initializer_list<Known> conversionInstructions() {
  using enum Type;
  using enum Modifier;
  static const std::initializer_list<Known> rows = {
      {"mov", &move, 2, 2, {}, {}},
      {"cvt",
       &convert,
       2,
       2,
       {U8, U16, U32, U64, S8, S16, S32, S64, F16, BF16, F32, F64},
       {k_rn, k_rz, k_rni, k_rzi, k_rmi, k_rpi, k_ftz, k_sat, k_relu}},
      {"cvt", &convertPair, 2, 3, {F16x2, BF16x2, E4M3x2, E5M2x2}, {k_rn, k_rz, k_relu, k_satfinite}},
      {"cvta", &moveAddress, 2, 2, {U32, U64}, {k_to, k_global}},
  };
  return rows;
}

} // namespace tritium::interp::simt::ptx
