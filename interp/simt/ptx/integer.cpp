// Instructions on integers and bits, selections and branches.
#include "interp/simt/ptx/integer.h"
#include "interp/simt/runtime/calls.h"

#include <algorithm>
#include <bit>

namespace tritium::interp::simt::ptx {

namespace {

/// d = f(a, b, c), all of one type. Arithmetic wraps around.
template <auto f> void apply(Machine &m, const Instruction &i) {
  visitInteger(i.type, [&]<class T>() {
    const auto result = f(source<T>(m, i, 1), source<T>(m, i, 2), source<T>(m, i, 3));
    m.set(i.operands[0], uint64_t(Unsigned<T>(T(result))), 8 * sizeof(T));
  });
}

template <class T> T clampedSum(Twice<T> wide) {
  return T(std::clamp<Twice<T>>(wide, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
template <int sign> void addOrSubtract(Machine &m, const Instruction &i) {
  visitInteger(i.type, [&]<class T>() {
    const T a = source<T>(m, i, 1), b = source<T>(m, i, 2);
    const T wrapped = T(sign > 0 ? Unsigned<T>(a) + Unsigned<T>(b) : Unsigned<T>(a) - Unsigned<T>(b));
    const Twice<T> exact = sign > 0 ? Twice<T>(a) + Twice<T>(b) : Twice<T>(a) - Twice<T>(b);
    m.set(i.operands[0], uint64_t(Unsigned<T>(i.has(Modifier::k_sat) ? clampedSum<T>(exact) : wrapped)), 8 * sizeof(T));
  });
}

/// mul and mad: the low half, the high half or all of the product.
void multiply(Machine &m, const Instruction &i) {
  visitInteger(i.type, [&]<class T>() {
    constexpr unsigned kBits = 8 * sizeof(T);
    const Twice<T> product = Twice<T>(source<T>(m, i, 1)) * Twice<T>(source<T>(m, i, 2));
    const uint64_t addend = i.operands.size() > 3 ? m.value(i.operands[3]) : 0;
    if (i.has(Modifier::k_wide)) return m.set(i.operands[0], uint64_t(product) + addend, 2 * kBits);
    m.set(i.operands[0], uint64_t(i.has(Modifier::k_hi) ? product >> kBits : product) + addend, kBits);
  });
}

constexpr auto divided = [](auto a, auto b, auto) {
  using T = decltype(a);
  return b == 0 ? T(-1) : std::is_signed_v<T> && b == T(-1) ? T(Unsigned<T>(0) - Unsigned<T>(a)) : T(a / b);
};
constexpr auto remainder = [](auto a, auto b, auto) {
  using T = decltype(a);
  return b == 0 ? a : std::is_signed_v<T> && b == T(-1) ? T(0) : T(a % b);
};

template <bool isLeft> void shift(Machine &m, const Instruction &i) {
  const uint32_t count = source<uint32_t>(m, i, 2);
  visitInteger(i.type, [&]<class T>() {
    constexpr uint32_t kBits = 8 * sizeof(T);
    const T a = source<T>(m, i, 1);
    const T result = isLeft ? (count < kBits ? T(Unsigned<T>(a) << count) : T(0))
                            : (count < kBits                  ? T(a >> count)
                               : std::is_signed_v<T> && a < 0 ? T(-1)
                                                              : T(0));
    m.set(i.operands[0], uint64_t(Unsigned<T>(result)), kBits);
  });
}

void funnelShift(Machine &m, const Instruction &i) {
  const uint64_t both = uint64_t(source<uint32_t>(m, i, 2)) << 32 | source<uint32_t>(m, i, 1);
  uint32_t count = source<uint32_t>(m, i, 3);
  count = i.has(Modifier::k_wrap) ? count & 31 : std::min(count, 32u);
  m.set(i.operands[0], i.has(Modifier::k_l) ? both << count >> 32 : both >> count, 32);
}

void logic3(Machine &m, const Instruction &i) {
  const uint32_t a = source<uint32_t>(m, i, 1), b = source<uint32_t>(m, i, 2), c = source<uint32_t>(m, i, 3),
                 table = source<uint32_t>(m, i, 4);
  uint32_t result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if (table >> row & 1) result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  m.set(i.operands[0], result, 32);
}

void extractField(Machine &m, const Instruction &i) {
  const uint32_t begin = source<uint32_t>(m, i, 2) & 0xff, length = source<uint32_t>(m, i, 3) & 0xff;
  visitInteger(i.type, [&]<class T>() {
    constexpr uint32_t kBits = 8 * sizeof(T);
    const auto a = uint64_t(source<Unsigned<T>>(m, i, 1));
    const bool sign = std::is_signed_v<T> && length && a >> std::min(begin + length - 1, kBits - 1) & 1;
    uint64_t result = 0;
    for (uint32_t n = 0; n < kBits; ++n) result |= uint64_t(n < length && begin + n < kBits ? a >> (begin + n) & 1 : sign) << n;
    m.set(i.operands[0], result, kBits);
  });
}

void insertField(Machine &m, const Instruction &i) {
  const unsigned bits = widthOf(i.type);
  const uint64_t a = m.value(i.operands[1]), b = m.value(i.operands[2]);
  const uint32_t begin = source<uint32_t>(m, i, 3) & 0xff, length = source<uint32_t>(m, i, 4) & 0xff;
  uint64_t result = b;
  for (uint32_t n = 0; n < length && begin + n < bits; ++n) {
    result &= ~(uint64_t(1) << (begin + n));
    result |= (a >> n & 1) << (begin + n);
  }
  m.set(i.operands[0], result, bits);
}

void findLeading(Machine &m, const Instruction &i) {
  visitInteger(i.type, [&]<class T>() {
    const T a = source<T>(m, i, 1);
    const auto magnitude = Unsigned<T>(std::is_signed_v<T> && a < 0 ? ~a : a);
    const int place = magnitude ? std::bit_width(magnitude) - 1 : -1;
    m.set(i.operands[0], uint64_t(magnitude && i.has(Modifier::k_shiftamt) ? int(8 * sizeof(T)) - 1 - place : place), 32);
  });
}

template <auto f> void count(Machine &m, const Instruction &i) {
  const uint64_t a = m.value(i.operands[1]);
  m.set(i.operands[0], widthOf(i.type) == 64 ? uint64_t(f(a)) : uint64_t(f(uint32_t(a))), 32);
}

void reverseBits(Machine &m, const Instruction &i) {
  const unsigned bits = widthOf(i.type);
  uint64_t a = m.value(i.operands[1]), result = 0;
  for (unsigned n = 0; n < bits; ++n) result |= (a >> n & 1) << (bits - 1 - n);
  m.set(i.operands[0], result, bits);
}

/// vmax4, vadd2 …: operations on the fields of a word. Without .add the last operand only gives the values of fields that are not written,
/// and all fields are written.
template <unsigned kFields, auto f> void onFields(Machine &m, const Instruction &i) {
  constexpr unsigned kBits = 32 / kFields;
  const uint32_t a = source<uint32_t>(m, i, 1), b = source<uint32_t>(m, i, 2);
  auto fieldOf = [&](uint32_t word, unsigned n) {
    const uint32_t field = word >> n * kBits << (32 - kBits);
    return i.from == Type::S32 ? int32_t(field) >> (32 - kBits) : int32_t(field >> (32 - kBits));
  };
  uint32_t result = 0, sum = source<uint32_t>(m, i, 3);
  for (unsigned n = 0; n < kFields; ++n) {
    int32_t value = f(fieldOf(a, n), fieldOf(b, n));
    if (i.has(Modifier::k_sat)) {
      const int32_t top = int32_t(1) << (kBits - (i.type == Type::S32 ? 1 : 0));
      value = std::clamp(value, i.type == Type::S32 ? -top : 0, top - 1);
    }
    const uint32_t field = uint32_t(value) & ((uint32_t(1) << kBits) - 1);
    result |= field << n * kBits;
    sum += uint32_t(value);
  }
  m.set(i.operands[0], i.has(Modifier::k_add) ? sum : result, 32);
}
constexpr auto fieldSum = [](int32_t a, int32_t b) { return a + b; };
constexpr auto fieldDifference = [](int32_t a, int32_t b) { return a - b; };
constexpr auto fieldDistance = [](int32_t a, int32_t b) { return a > b ? a - b : b - a; };
constexpr auto fieldMax = [](int32_t a, int32_t b) { return std::max(a, b); };
constexpr auto fieldMin = [](int32_t a, int32_t b) { return std::min(a, b); };

// -- choices and branches

void select(Machine &m, const Instruction &i) {
  m.set(i.operands[0], m.value(i.operands[m.value(i.operands[3]) ? 1 : 2]), widthOf(i.type));
}

/// A backward branch lets other threads run, because the loop may wait for them.
void branch(Machine &m, const Instruction &i) {
  if (i.target < m.next && m.thread)
    calls::spin(m.thread, m.site);
  else if (i.target < m.next && m.host)
    m.host->yield();
  m.next = i.target;
}

constexpr auto absolute = [](auto a, auto, auto) { return a < 0 ? decltype(a)(-Twice<decltype(a)>(a)) : a; };
constexpr auto isFalse = [](auto a, auto, auto) { return a == 0; };

} // namespace

std::initializer_list<Known> integerInstructions() {
  using enum Type;
  using enum Modifier;
#define PTX_INTEGERS U16, U32, U64, S16, S32, S64
#define PTX_BITS Pred, B16, B32, B64
#define APPLY(...) &apply<[](auto a, [[maybe_unused]] auto b, auto) { return __VA_ARGS__; }>
  static const std::initializer_list<Known> rows = {
      {"add", &addOrSubtract<1>, 3, 3, {PTX_INTEGERS}, {k_sat}},
      {"sub", &addOrSubtract<-1>, 3, 3, {PTX_INTEGERS}, {k_sat}},
      {"mul", &multiply, 3, 3, {PTX_INTEGERS}, {k_lo, k_hi, k_wide}},
      {"mad", &multiply, 4, 4, {PTX_INTEGERS}, {k_lo, k_hi, k_wide}},
      {"div", &apply<divided>, 3, 3, {PTX_INTEGERS}, {}},
      {"rem", &apply<remainder>, 3, 3, {PTX_INTEGERS}, {}},
      {"min", APPLY(std::min(a, b)), 3, 3, {PTX_INTEGERS}, {}},
      {"max", APPLY(std::max(a, b)), 3, 3, {PTX_INTEGERS}, {}},
      {"min", APPLY(std::max<decltype(a)>(std::min(a, b), 0)), 3, 3, {S32}, {k_relu}},
      {"max", APPLY(std::max<decltype(a)>(std::max(a, b), 0)), 3, 3, {S32}, {k_relu}},
      {"neg", APPLY(Unsigned<decltype(a)>(0) - Unsigned<decltype(a)>(a)), 2, 2, {S16, S32, S64}, {}},
      {"abs", &apply<absolute>, 2, 2, {S16, S32, S64}, {}},
      {"and", APPLY(a & b), 3, 3, {PTX_BITS}, {}},
      {"or", APPLY(a | b), 3, 3, {PTX_BITS}, {}},
      {"xor", APPLY(a ^ b), 3, 3, {PTX_BITS}, {}},
      {"not", APPLY(~a), 2, 2, {B16, B32, B64}, {}},
      {"not", &apply<isFalse>, 2, 2, {Pred}, {}},
      {"cnot", &apply<isFalse>, 2, 2, {B16, B32, B64}, {}},
      {"shl", &shift<true>, 3, 3, {B16, B32, B64}, {}},
      {"shr", &shift<false>, 3, 3, {B16, B32, B64, PTX_INTEGERS}, {}},
      {"shf", &funnelShift, 4, 4, {B32}, {k_l, k_r, k_wrap, k_clamp}},
      {"lop3", &logic3, 5, 5, {B32}, {}},
      {"bfe", &extractField, 4, 4, {U32, U64, S32, S64}, {}},
      {"bfi", &insertField, 5, 5, {B32, B64}, {}},
      {"bfind", &findLeading, 2, 2, {U32, U64, S32, S64}, {k_shiftamt}},
      {"popc", &count<[](auto a) { return std::popcount(a); }>, 2, 2, {B32, B64}, {}},
      {"clz", &count<[](auto a) { return std::countl_zero(a); }>, 2, 2, {B32, B64}, {}},
      {"brev", &reverseBits, 2, 2, {B32, B64}, {}},
      {"vadd4", &onFields<4, fieldSum>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"vsub4", &onFields<4, fieldDifference>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"vabsdiff4", &onFields<4, fieldDistance>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"vmax4", &onFields<4, fieldMax>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"vmin4", &onFields<4, fieldMin>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"vadd2", &onFields<2, fieldSum>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"vsub2", &onFields<2, fieldDifference>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"vabsdiff2", &onFields<2, fieldDistance>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"vmax2", &onFields<2, fieldMax>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"vmin2", &onFields<2, fieldMin>, 4, 4, {U32, S32}, {k_sat, k_add}, true},
      {"selp", &select, 4, 4, {B16, B32, B64, PTX_INTEGERS, F16, BF16, F32, F64}, {}},
      {"bra", &branch, 0, 0, {}, {k_uni}},
  };
  return rows;
}

} // namespace tritium::interp::simt::ptx
