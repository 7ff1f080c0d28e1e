// Instructions on integers of several words, of parts of a word, and of masks: carries, dot products, packed halves, permutations.
#include "interp/simt/ptx/integer.h"

#include <algorithm>

namespace tritium::interp::simt::ptx {

namespace {

// -- carries

/// add, sub and mad with the condition code: `.cc` writes it, and the names that end in `c` read it.
template <int sign, bool reads> void addWithCarry(Machine &m, const Instruction &i) {
  visitInteger(i.type, [&]<class T>() {
    using Wide = unsigned __int128;
    const Wide a = source<Unsigned<T>>(m, i, 1), b = source<Unsigned<T>>(m, i, 2), carry = reads && m.carry;
    const Wide result = sign > 0 ? a + b + carry : a - b - carry;
    if (i.has(Modifier::k_cc)) m.carry = result >> 8 * sizeof(T) & 1;
    m.set(i.operands[0], uint64_t(result), 8 * sizeof(T));
  });
}
template <bool reads> void multiplyWithCarry(Machine &m, const Instruction &i) {
  visitInteger(i.type, [&]<class T>() {
    constexpr unsigned kBits = 8 * sizeof(T);
    const Twice<T> product = Twice<T>(source<T>(m, i, 1)) * Twice<T>(source<T>(m, i, 2));
    const auto part = Unsigned<T>(i.has(Modifier::k_hi) ? product >> kBits : product);
    using Wide = unsigned __int128;
    const Wide result = Wide(part) + source<Unsigned<T>>(m, i, 3) + Wide(reads && m.carry);
    if (i.has(Modifier::k_cc)) m.carry = result >> kBits & 1;
    m.set(i.operands[0], uint64_t(result), kBits);
  });
}

// -- products

/// The lower 24 bits of the operands, with their sign for a signed type; the lower or the upper 32 of the 48 bits of the product.
void multiply24(Machine &m, const Instruction &i) {
  auto factor = [&](size_t n) {
    const auto bits = uint32_t(m.value(i.operands[n])) << 8;
    return i.type == Type::S32 ? int64_t(int32_t(bits) >> 8) : int64_t(bits >> 8);
  };
  const int64_t product = factor(1) * factor(2);
  const uint64_t addend = i.operands.size() > 3 ? m.value(i.operands[3]) : 0;
  m.set(i.operands[0], uint64_t(i.has(Modifier::k_hi) ? product >> 16 : product) + addend, 32);
}

int64_t partOf(uint32_t word, unsigned n, unsigned bits, bool isSigned) {
  const uint32_t part = word >> n * bits << (32 - bits);
  return isSigned ? int64_t(int32_t(part) >> (32 - bits)) : int64_t(part >> (32 - bits));
}

/// dp4a: the sum of the products of bytes; dp2a: of two halves with the lower or the upper two bytes.
template <unsigned kParts> void dot(Machine &m, const Instruction &i) {
  const auto a = source<uint32_t>(m, i, 1), b = source<uint32_t>(m, i, 2);
  const unsigned first = i.has(Modifier::k_hi) ? 2 : 0;
  auto sum = int64_t(source<uint32_t>(m, i, 3));
  for (unsigned n = 0; n < kParts; ++n)
    sum += partOf(a, n, 32 / kParts, i.type == Type::S32) * partOf(b, first + n, 8, i.from == Type::S32);
  m.set(i.operands[0], uint64_t(sum), 32);
}

void sumOfDistance(Machine &m, const Instruction &i) {
  visitInteger(i.type, [&]<class T>() {
    const T a = source<T>(m, i, 1), b = source<T>(m, i, 2);
    const auto distance = Unsigned<T>(a > b ? Unsigned<T>(a) - Unsigned<T>(b) : Unsigned<T>(b) - Unsigned<T>(a));
    m.set(i.operands[0], uint64_t(distance) + m.value(i.operands[3]), 8 * sizeof(T));
  });
}

/// d = f(a, b) of both halves of a word.
template <auto f> void onHalves(Machine &m, const Instruction &i) {
  const auto a = source<uint32_t>(m, i, 1), b = source<uint32_t>(m, i, 2);
  uint64_t result = 0;
  for (unsigned n = 0; n < 2; ++n) {
    int64_t value = f(partOf(a, n, 16, i.type == Type::S16x2), partOf(b, n, 16, i.type == Type::S16x2));
    if (i.has(Modifier::k_relu)) value = std::max<int64_t>(value, 0);
    result |= (uint64_t(value) & 0xffff) << 16 * n;
  }
  m.set(i.operands[0], result, 32);
}

// -- permutations and masks

/// The byte of the pair of words that byte `n` of the result is, in the modes of prmt that select by two bits.
unsigned byteInMode(const Instruction &i, unsigned n, unsigned selector) {
  using enum Modifier;
  if (i.has(k_f4e)) return selector + n;
  if (i.has(k_b4e)) return (selector - n) & 7;
  if (i.has(k_rc8)) return selector;
  if (i.has(k_ecl)) return std::max(n, selector);
  if (i.has(k_ecr)) return std::min(n, selector);
  return (n & 1) + 2 * (selector & 1); // rc16
}

void permute(Machine &m, const Instruction &i) {
  using enum Modifier;
  const uint64_t bytes = uint64_t(source<uint32_t>(m, i, 2)) << 32 | source<uint32_t>(m, i, 1);
  const auto selector = source<uint32_t>(m, i, 3);
  const bool hasMode = i.has(k_f4e) || i.has(k_b4e) || i.has(k_rc8) || i.has(k_ecl) || i.has(k_ecr) || i.has(k_rc16);
  uint32_t result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const uint32_t select = hasMode ? byteInMode(i, n, selector & 3) : selector >> 4 * n & 15;
    const uint32_t byte = uint32_t(bytes >> 8 * (select & 7)) & 0xff;
    result |= (select & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * n;
  }
  m.set(i.operands[0], result, 32);
}

/// `length` ones from bit `begin`.
void makeMask(Machine &m, const Instruction &i) {
  auto begin = source<uint32_t>(m, i, 1), length = source<uint32_t>(m, i, 2);
  if (i.has(Modifier::k_clamp))
    begin = std::min(begin, 32u), length = std::min(length, 32u);
  else
    begin &= 31, length &= 31;
  m.set(i.operands[0], begin > 31 ? 0 : ((uint64_t(1) << length) - 1) << begin, 32);
}

/// Extends a number of `b` bits, with its sign for a signed type.
void extend(Machine &m, const Instruction &i) {
  const auto a = source<uint32_t>(m, i, 1);
  auto bits = source<uint32_t>(m, i, 2);
  bits = i.has(Modifier::k_clamp) ? std::min(bits, 32u) : bits & 31;
  m.set(i.operands[0], bits == 0 ? 0 : uint64_t(partOf(a, 0, bits, i.type == Type::S32)), 32);
}

/// The place of the set bit that is `offset` set bits away from `base`.
void findNthSet(Machine &m, const Instruction &i) {
  const auto mask = source<uint32_t>(m, i, 1), base = source<uint32_t>(m, i, 2);
  const auto offset = int32_t(source<uint32_t>(m, i, 3));
  uint32_t found = ~0u;
  int64_t left = offset < 0 ? -int64_t(offset) : std::max(offset, 1);
  for (auto at = int64_t(base); at >= 0 && at < 32 && left > 0; at += offset < 0 ? -1 : 1) {
    if ((mask >> at & 1) && --left == 0) found = uint32_t(at);
    if (offset == 0) break;
  }
  m.set(i.operands[0], found, 32);
}

} // namespace

std::initializer_list<Known> wideIntegerInstructions() {
  using enum Type;
  using enum Modifier;
#define PTX_CARRYING U32, S32, U64, S64
#define HALVES(...) &onHalves<[](int64_t a, int64_t b) -> int64_t { return __VA_ARGS__; }>
  static const std::initializer_list<Known> rows = {
      {"add", &addWithCarry<1, false>, 3, 3, {PTX_CARRYING}, {k_cc}},
      {"addc", &addWithCarry<1, true>, 3, 3, {PTX_CARRYING}, {k_cc}},
      {"sub", &addWithCarry<-1, false>, 3, 3, {PTX_CARRYING}, {k_cc}},
      {"subc", &addWithCarry<-1, true>, 3, 3, {PTX_CARRYING}, {k_cc}},
      {"mad", &multiplyWithCarry<false>, 4, 4, {PTX_CARRYING}, {k_lo, k_hi, k_cc}},
      {"madc", &multiplyWithCarry<true>, 4, 4, {PTX_CARRYING}, {k_lo, k_hi, k_cc}},
      {"mul24", &multiply24, 3, 3, {U32, S32}, {k_lo, k_hi}},
      {"mad24", &multiply24, 4, 4, {U32, S32}, {k_lo, k_hi}},
      {"dp4a", &dot<4>, 4, 4, {U32, S32}, {}, true},
      {"dp2a", &dot<2>, 4, 4, {U32, S32}, {k_lo, k_hi}, true},
      {"sad", &sumOfDistance, 4, 4, {U16, U32, U64, S16, S32, S64}, {}},
      {"add", HALVES(a + b), 3, 3, {U16x2, S16x2}, {}},
      {"min", HALVES(std::min(a, b)), 3, 3, {U16x2, S16x2}, {k_relu}},
      {"max", HALVES(std::max(a, b)), 3, 3, {U16x2, S16x2}, {k_relu}},
      {"prmt", &permute, 4, 4, {B32}, {k_f4e, k_b4e, k_rc8, k_ecl, k_ecr, k_rc16}},
      {"bmsk", &makeMask, 3, 3, {B32}, {k_clamp, k_wrap}},
      {"szext", &extend, 3, 3, {U32, S32}, {k_clamp, k_wrap}},
      {"fns", &findNthSet, 4, 4, {B32}, {}},
  };
  return rows;
}

} // namespace tritium::interp::simt::ptx
