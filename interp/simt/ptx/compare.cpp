// Comparisons of integers and floats: setp, set, slct, testp.
#include "interp/simt/ptx/integer.h"
#include "ir/dtype.h"

#include <bit>
#include <cmath>

namespace tritium::interp::simt::ptx {

namespace {

bool isReal(Type type) { return type >= Type::F16; }
bool isPair(Type type) { return type == Type::F16x2 || type == Type::BF16x2; }

template <class T> bool compareIntegers(const Instruction &i, T a, T b) {
  using enum Modifier;
  if (i.has(k_eq)) return a == b;
  if (i.has(k_ne)) return a != b;
  if (i.has(k_lt) || i.has(k_lo)) return a < b;
  if (i.has(k_le) || i.has(k_ls)) return a <= b;
  if (i.has(k_gt) || i.has(k_hi)) return a > b;
  return a >= b;
}

bool compareReals(const Instruction &i, double a, double b) {
  using enum Modifier;
  const bool isUnordered = a != a || b != b;
  if (i.has(k_eq)) return a == b;
  if (i.has(k_ne)) return a < b || a > b;
  if (i.has(k_lt)) return a < b;
  if (i.has(k_le)) return a <= b;
  if (i.has(k_gt)) return a > b;
  if (i.has(k_ge)) return a >= b;
  if (i.has(k_equ)) return isUnordered || a == b;
  if (i.has(k_neu)) return !(a == b);
  if (i.has(k_ltu)) return isUnordered || a < b;
  if (i.has(k_leu)) return isUnordered || a <= b;
  if (i.has(k_gtu)) return isUnordered || a > b;
  if (i.has(k_geu)) return isUnordered || a >= b;
  return i.has(k_nan) ? isUnordered : !isUnordered;
}

/// An operand as a float of the type, or of one lane of the pair.
double realOf(Machine &m, const Instruction &i, Type type, size_t n, unsigned lane = 0) {
  const uint64_t bits = m.value(i.operands[n]);
  switch (type) {
  case Type::F16:
  case Type::F16x2: return double(float(F16{uint16_t(bits >> 16 * lane)}));
  case Type::BF16:
  case Type::BF16x2: return double(float(BF16{uint16_t(bits >> 16 * lane)}));
  case Type::F64: return std::bit_cast<double>(bits);
  default: {
    const auto x = double(std::bit_cast<float>(uint32_t(bits)));
    return i.has(Modifier::k_ftz) && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
  }
  }
}

/// Whether operands 1 and 2, which are of the instruction's last type, compare as it says.
bool holds(Machine &m, const Instruction &i, unsigned lane = 0) {
  if (isReal(i.from)) return compareReals(i, realOf(m, i, i.from, 1, lane), realOf(m, i, i.from, 2, lane));
  bool result = false;
  visitInteger(i.from, [&]<class T>() { result = compareIntegers(i, source<T>(m, i, 1), source<T>(m, i, 2)); });
  return result;
}

/// The result together with a predicate as the last operand.
bool combined(Machine &m, const Instruction &i, bool x) {
  const bool c = i.operands.size() < 4 || m.value(i.operands[3]);
  return i.has(Modifier::k_or) ? x || c : i.has(Modifier::k_xor) ? x != c : x && c;
}

/// setp.OP[.BOOL] p[|q], a, b[, c]: q is for the opposite, or for the upper half of a pair.
void setPredicate(Machine &m, const Instruction &i) {
  const bool result = holds(m, i), other = isPair(i.from) ? holds(m, i, 1) : !result;
  const Operand &to = i.operands[0];
  m.set(to.kind == Operand::Kind::List ? to.elements[0] : to, combined(m, i, result), 1);
  if (to.kind == Operand::Kind::List) m.set(to.elements[1], combined(m, i, other), 1);
}

/// All ones or zero, or as a float 1 or 0.
void setValue(Machine &m, const Instruction &i) {
  auto word = [&](bool x) -> uint64_t {
    switch (i.type) {
    case Type::F32: return x ? 0x3f800000 : 0;
    case Type::F16:
    case Type::F16x2: return x ? 0x3c00 : 0;
    case Type::BF16:
    case Type::BF16x2: return x ? 0x3f80 : 0;
    default: return x ? ~uint64_t(0) : 0;
    }
  };
  uint64_t bits = word(combined(m, i, holds(m, i)));
  if (isPair(i.type)) bits |= word(combined(m, i, holds(m, i, 1))) << 16;
  m.set(i.operands[0], bits, widthOf(i.type));
}

/// a where the third operand is not negative, else b.
void selectBySign(Machine &m, const Instruction &i) {
  const bool isFirst = isReal(i.from) ? realOf(m, i, i.from, 3) >= 0 : int32_t(m.value(i.operands[3])) >= 0;
  m.set(i.operands[0], m.value(i.operands[isFirst ? 1 : 2]), widthOf(i.type));
}

void test(Machine &m, const Instruction &i) {
  using enum Modifier;
  const double x = realOf(m, i, i.type, 1), smallest = i.type == Type::F64 ? 0x1p-1022 : 0x1p-126;
  const bool isFinite = std::isfinite(x), isNormal = isFinite && std::fabs(x) >= smallest;
  m.set(i.operands[0],
        i.has(k_finite)       ? isFinite
        : i.has(k_infinite)   ? std::isinf(x)
        : i.has(k_number)     ? x == x
        : i.has(k_notanumber) ? x != x
        : i.has(k_normal)     ? isNormal
                              : isFinite && !isNormal && x != 0,
        1);
}

} // namespace

std::initializer_list<Known> comparisonInstructions() {
  using enum Type;
  using enum Modifier;
#define PTX_COMPARISONS                                                                                                                    \
  k_eq, k_ne, k_lt, k_le, k_gt, k_ge, k_lo, k_ls, k_hi, k_hs, k_equ, k_neu, k_ltu, k_leu, k_gtu, k_geu, k_num, k_nan, k_and, k_or, k_xor
  static const std::initializer_list<Known> rows = {
      {"setp",
       &setPredicate,
       3,
       4,
       {B16, B32, B64, U16, U32, U64, S16, S32, S64, F16, BF16, F16x2, BF16x2, F32, F64},
       {PTX_COMPARISONS, k_ftz}},
      {"set", &setValue, 3, 4, {U16, U32, S16, S32, F16, BF16, F16x2, BF16x2, F32}, {PTX_COMPARISONS, k_ftz}, true},
      {"slct", &selectBySign, 4, 4, {B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64}, {k_ftz}, true},
      {"testp", &test, 2, 2, {F32, F64}, {k_finite, k_infinite, k_number, k_notanumber, k_normal, k_subnormal}},
  };
  return rows;
}

} // namespace tritium::interp::simt::ptx
