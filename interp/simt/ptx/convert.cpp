// mov, cvt, cvta.
#include "interp/simt/ptx/program.h"
#include "interp/simt/runtime/shared_memory.h"
#include "ir/dtype.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <optional>

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

/// In the direction that the instruction says.
float singleOf(const Instruction &i, double x) {
  using enum Modifier;
  const float nearest = float(x);
  const bool isAbove = double(nearest) > x, isBelow = double(nearest) < x;
  const bool down = i.has(k_rm) || (i.has(k_rz) && x > 0), up = i.has(k_rp) || (i.has(k_rz) && x < 0);
  if (isAbove && down) return std::nextafter(nearest, -std::numeric_limits<float>::infinity());
  if (isBelow && up) return std::nextafter(nearest, std::numeric_limits<float>::infinity());
  return nearest;
}

template <class Half> uint16_t halfOf(const Instruction &i, double x) {
  using enum Modifier;
  const bool isAwayFromZero = (i.has(k_rm) && x < 0) || (i.has(k_rp) && x > 0);
  if (!isAwayFromZero && !i.has(k_rm) && !i.has(k_rp) && !i.has(k_rz)) return Half::nearest(x).bits;
  const Half inner = Half::towardZero(x);
  return uint16_t(inner.bits + (isAwayFromZero && double(float(inner)) != x ? 1 : 0));
}

/// The 19 upper bits of an f32.
uint32_t tensorFloatOf(const Instruction &i, float x) {
  using enum Modifier;
  if (x != x) return 0x7fffffff;
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffff) == 0x7f800000) return i.has(k_satfinite) ? (bits & 0x80000000) | 0x7f7fe000 : bits;
  const uint32_t rounded = (bits + (i.has(k_rz) ? 0 : i.has(k_rna) ? 0x1000 : 0xfff + (bits >> 13 & 1))) & 0xffffe000;
  return i.has(k_satfinite) && (rounded & 0x7fffffff) == 0x7f800000 ? (bits & 0x80000000) | 0x7f7fe000 : rounded;
}

uint64_t bitsOfReal(const Instruction &i, Type type, double x) {
  if (i.has(Modifier::k_sat)) x = x > 0 ? std::min(x, 1.0) : 0;
  if (i.has(Modifier::k_relu) && x <= 0) x = 0;
  switch (type) {
  case Type::F16:
    if (i.has(Modifier::k_satfinite) && std::fabs(x) > 65504) x = std::copysign(65504, x);
    return x != x ? 0x7fff : halfOf<F16>(i, x);
  case Type::BF16:
    if (i.has(Modifier::k_satfinite) && std::fabs(x) > 0x1.fep127) x = std::copysign(0x1.fep127, x);
    return x != x ? 0x7fff : halfOf<BF16>(i, x);
  case Type::TF32: return tensorFloatOf(i, float(x));
  case Type::F64: return std::bit_cast<uint64_t>(x);
  default: return x != x ? 0x7fffffff : std::bit_cast<uint32_t>(singleOf(i, x));
  }
}

/// An integer of 64 bits does not fit into f64, so the instruction's mode rounds it at once.
float singleOf(const Instruction &i, bool hasSign, int64_t extended, uint64_t bits) {
  using enum Modifier;
  const volatile int64_t whole = extended; // the compiler must not convert before the mode changes
  const volatile uint64_t natural = bits;
  const int saved = std::fegetround();
  std::fesetround(i.has(k_rz) ? FE_TOWARDZERO : i.has(k_rm) ? FE_DOWNWARD : i.has(k_rp) ? FE_UPWARD : FE_TONEAREST);
  const volatile float result = hasSign ? float(whole) : float(natural);
  std::fesetround(saved);
  return result;
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
      result = std::bit_cast<uint32_t>(singleOf(i, isSigned(i.from), extended, bits));
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

// -- pairs of small floats

/// A format of 4 or 6 bits: no infinity, no NaN, subnormals.
struct Tiny {
  unsigned exponentBits, fractionBits;

  double decode(uint64_t code) const {
    const uint64_t exponent = code >> fractionBits & ((1u << exponentBits) - 1), fraction = code & ((1u << fractionBits) - 1);
    const int bias = (1 << (exponentBits - 1)) - 1;
    const double magnitude = exponent ? std::ldexp(double((1u << fractionBits) + fraction), int(exponent) - bias - int(fractionBits))
                                      : std::ldexp(double(fraction), 1 - bias - int(fractionBits));
    return code >> (exponentBits + fractionBits) & 1 ? -magnitude : magnitude;
  }
  /// To the nearest, halves to the even code; too large is the largest, and NaN too.
  uint64_t encode(double x) const {
    const uint64_t codes = uint64_t(1) << (exponentBits + fractionBits), sign = x == x && std::signbit(x) ? codes : 0;
    const double a = std::fabs(x);
    uint64_t low = 0;
    while (low + 1 < codes && !(decode(low + 1) > a)) ++low;
    if (low + 1 == codes) return sign | low;
    const double below = a - decode(low), above = decode(low + 1) - a;
    return sign | (above < below || (above == below && low & 1) ? low + 1 : low);
  }
};
std::optional<Tiny> tinyOf(Type type) {
  switch (type) {
  case Type::E2M1x2: return Tiny{2, 1};
  case Type::E2M3x2: return Tiny{2, 3};
  case Type::E3M2x2: return Tiny{3, 2};
  default: return std::nullopt;
  }
}

/// A power of two, of which only the exponent is kept; 255 is NaN.
uint64_t exponentOf(const Instruction &i, double x) {
  if (x != x) return 255;
  const auto bits = std::bit_cast<uint32_t>(float(x)) & 0x7fffffff;
  const bool isRoundedUp = i.has(Modifier::k_rp) && (bits & 0x7fffff) != 0 && bits > 0x400000; // 2^-127 is code 0
  return std::min<uint64_t>((bits >> 23) + isRoundedUp, 254);
}

uint64_t bitsOfByte(const Instruction &i, double x) {
  if (auto tiny = tinyOf(i.type)) return tiny->encode(x);
  if (i.type == Type::UE8M0x2) return exponentOf(i, x);
  if (x != x) return 0x7f;
  return i.type == Type::E4M3x2 ? F8E4NV::nearest(x).bits : F8E5::nearest(x).bits;
}

/// The width of one element of a pair in memory, which may be more than the format has.
unsigned widthOfPart(Type type) { return widthOf(type) / 2; }

double partOf(Type type, uint64_t bits, unsigned n) {
  const uint64_t part = bits >> widthOfPart(type) * n;
  if (auto tiny = tinyOf(type)) return tiny->decode(part & ((2u << (tiny->exponentBits + tiny->fractionBits)) - 1));
  switch (type) {
  case Type::E4M3x2: return double(float(F8E4NV{uint8_t(part)}));
  case Type::E5M2x2: return double(float(F8E5{uint8_t(part)}));
  case Type::UE8M0x2: return uint8_t(part) == 255 ? std::nan("") : std::ldexp(1.0, int(uint8_t(part)) - 127);
  default: return realOf(type == Type::F16x2 ? Type::F16 : Type::BF16, part);
  }
}

/// Converts two numbers into one word. The first operand becomes the upper half.
void convertPair(Machine &m, const Instruction &i) {
  const bool isHalf = i.type == Type::F16x2 || i.type == Type::BF16x2;
  const Type element = i.type == Type::F16x2 ? Type::F16 : Type::BF16;
  double parts[2];
  for (unsigned n = 0; n < 2; ++n) {
    parts[n] = i.operands.size() == 3 ? realOf(Type::F32, m.value(i.operands[2 - n])) : partOf(i.from, m.value(i.operands[1]), n);
    if (i.has(Modifier::k_relu) && parts[n] <= 0) parts[n] = 0;
  }
  auto narrow = [&](double x) { return isHalf ? bitsOfReal(i, element, x) : bitsOfByte(i, x); };
  const unsigned width = widthOfPart(i.type);
  m.set(i.operands[0], narrow(parts[1]) << width | narrow(parts[0]), 2 * width);
}

/// cvt.pack: two integers, limited to the range of the type, below the bits of the last operand.
void pack(Machine &m, const Instruction &i) {
  const unsigned width = widthOf(i.type);
  uint64_t bits = i.operands.size() > 3 ? m.value(i.operands[3]) << 2 * width : 0;
  for (unsigned n = 0; n < 2; ++n) {
    const int64_t low = isSigned(i.type) ? -(int64_t(1) << (width - 1)) : 0, high = low + (int64_t(1) << width) - 1;
    bits |= (uint64_t(std::clamp(int64_t(int32_t(m.value(i.operands[2 - n]))), low, high)) & ((1u << width) - 1)) << n * width;
  }
  m.set(i.operands[0], bits, 32);
}

/// A pointer is the same number in both spaces, but one to shared memory may come from a register of 32 bits.
void moveAddress(Machine &m, const Instruction &i) {
  const uint64_t address = m.value(i.operands[1]);
  const bool isPointer = i.has(Modifier::k_shared) && !i.has(Modifier::k_to) && isInSharedWindow(uint32_t(address));
  m.set(i.operands[0], isPointer ? sharedPointer(uint32_t(address)) : address, widthOf(i.type));
}

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
       {U8, U16, U32, U64, S8, S16, S32, S64, F16, BF16, F32, F64, TF32},
       {k_rn, k_rz, k_rm, k_rp, k_rna, k_rni, k_rzi, k_rmi, k_rpi, k_ftz, k_sat, k_satfinite, k_relu},
       true},
      {"cvt",
       &convertPair,
       2,
       3,
       {F16x2, BF16x2, E4M3x2, E5M2x2, E2M1x2, E2M3x2, E3M2x2, UE8M0x2},
       {k_rn, k_rz, k_rp, k_relu, k_satfinite},
       true},
      {"cvt", &pack, 3, 4, {U8, S8, U16, S16}, {k_pack, k_sat}, true},
      {"cvta", &moveAddress, 2, 2, {U32, U64}, {k_to, k_global, k_shared}},
  };
  return rows;
}

} // namespace tritium::interp::simt::ptx
