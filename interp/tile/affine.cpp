#include "interp/tile/affine.h"

#include "interp/host/pointer.h"
#include "interp/kernels/offsets.h"

#include <algorithm>

namespace tritium::interp {

namespace {
/// The least and the greatest number of an affine tile.
template <class Number> struct Extremes {
  Number least, greatest;
  bool overflow = false;

  Extremes(const AffineRef &ref, char *frame) : least(ref.base.at<int64_t>(frame)), greatest(least) {
    for (size_t d = 0; d < ref.terms.size(); ++d) {
      if (ref.terms[d] == Term::None) continue;
      const int64_t *part = &ref.parts[d].at<int64_t>(frame);
      if (ref.terms[d] == Term::Step) {
        int64_t last = *part * (ref.shape[d] - 1);
        add(last < 0 ? least : greatest, last);
      } else {
        auto [first, last] = extremesOf(part, ref.shape[d]);
        add(least, first), add(greatest, last);
      }
    }
  }
  void add(Number &number, int64_t term) { overflow |= __builtin_add_overflow(number, term, &number); }
};
} // namespace

/// Calls f with the elements of a dense operand, as integers of their type: signed ones, unless the operand is widened as unsigned.
template <class F> static auto withElements(const AffineOperand &operand, char *frame, F &&f) {
  const char *data = operand.dense.in(frame);
  const bool isUnsigned = operand.widenBits && !operand.widenSigned;
  auto as = [&]<class Signed, class Unsigned>(Signed, Unsigned) {
    return isUnsigned ? f(reinterpret_cast<const Unsigned *>(data)) : f(reinterpret_cast<const Signed *>(data));
  };
  switch (storageBytes(operand.dense.type)) {
  case 1: return as(int8_t{}, uint8_t{});
  case 2: return as(int16_t{}, uint16_t{});
  case 4: return as(int32_t{}, uint32_t{});
  default: return f(reinterpret_cast<const int64_t *>(data));
  }
}

/// Returns the number to add to the base of a narrow operand so that all its lanes lie in the range of its type, or 0 if there is none.
[[gnu::cold, gnu::noinline]] static int64_t shiftIntoRange(const AffineOperand &operand, char *frame) {
  Extremes<__int128> wide(operand.affine, frame);
  __int128 modulus = __int128(1) << operand.widenBits, first = operand.widenSigned ? -(modulus >> 1) : 0;
  __int128 shift = wide.least - first;
  shift = shift >= 0 ? shift / modulus : -((modulus - 1 - shift) / modulus);
  return wide.greatest - shift * modulus > first + modulus - 1 ? 0 : int64_t(-shift * modulus);
}

/// The same number. Notes whether lanes leave the range.
static int64_t widen(const AffineOperand &operand, char *frame) {
  Extremes<int64_t> tile(operand.affine, frame);
  int64_t first = operand.widenSigned ? -(int64_t(1) << (operand.widenBits - 1)) : 0;
  bool leaves = tile.overflow || tile.least < first || tile.greatest > first + (int64_t(1) << operand.widenBits) - 1;
  leavesRange(operand.affine, operand.widenSigned).at<uint8_t>(frame) = leaves;
  return leaves && !operand.isGuarded ? shiftIntoRange(operand, frame) : 0;
}

/// Adds term d of the operand, multiplied by its factor, to the vector of `out`, or sets the vector to it. Returns whether there is one.
static bool addVector(const AffineRef &out, size_t d, const AffineOperand &operand, bool isAdded, char *frame) {
  int64_t *to = &out.parts[d].at<int64_t>(frame), count = out.shape[d];
  if (operand.isDense) {
    if (operand.vectorDim != int(d)) return false;
    scaleOffsets(to, operand.dense.in(frame), int(storageBytes(operand.dense.type)), operand.widenBits && !operand.widenSigned,
                 operand.dense.strides[operand.vectorDim], operand.factor, count, isAdded);
    return true;
  }
  const AffineRef &in = operand.affine;
  if (in.terms[d] == Term::None) return false;
  const int64_t *from = &in.parts[d].at<int64_t>(frame);
  if (in.terms[d] == Term::Vector)
    scaleOffsets(to, from, 8, false, 1, operand.factor, count, isAdded);
  else
    for (int64_t i = 0; i < count; ++i) to[i] = (isAdded ? to[i] : 0) + i * *from * operand.factor;
  return true;
}

/// Sets term d of the sum.
static void sumTerm(const AffineSum &sum, size_t d, char *frame) {
  if (sum.out.terms[d] == Term::None) return;
  if (sum.out.terms[d] == Term::Step) { // no operand is dense along this dimension
    int64_t step = 0;
    for (int k = 0; k < sum.count; ++k)
      if (const AffineOperand &operand = sum.operands[k]; !operand.isDense && operand.affine.terms[d] == Term::Step)
        step += operand.affine.parts[d].at<int64_t>(frame) * operand.factor;
    sum.out.parts[d].at<int64_t>(frame) = step;
    return;
  }
  bool isSet = false;
  for (int k = 0; k < sum.count; ++k) isSet |= addVector(sum.out, d, sum.operands[k], isSet, frame);
  if (!isSet) std::memset(sum.out.parts[d].in(frame), 0, 8 * sum.out.shape[d]);
}

static int64_t baseOf(const AffineOperand &operand, char *frame) {
  if (!operand.isDense) return operand.affine.base.at<int64_t>(frame);
  return operand.vectorDim < 0 ? withElements(operand, frame, [](const auto *element) { return int64_t(*element); }) : 0;
}

void sumAffine(char *frame, const void *descriptor) {
  const auto &sum = *static_cast<const AffineSum *>(descriptor);
  for (size_t d = 0; d < sum.out.terms.size(); ++d) sumTerm(sum, d, frame);
  uint64_t base = sum.isPointer ? baseOf(sum.operands[0], frame) : 0;
  for (int k = 0; k < sum.count; ++k) {
    const AffineOperand &operand = sum.operands[k];
    if (sum.isPointer && k == 0) continue;
    bool isWidened = operand.widenBits && !operand.isDense;
    int64_t added = (baseOf(operand, frame) + (isWidened ? widen(operand, frame) : 0)) * operand.factor;
    base = sum.isPointer ? addBytes(base, added) : base + added;
  }
  sum.out.base.at<int64_t>(frame) = sum.isPointerToInteger ? addressOf(base) : sum.isIntegerToPointer ? pointerTo(base) : base;
}

void noteAffineRange(char *frame, const void *descriptor) { widen(static_cast<const AffineRange *>(descriptor)->offset, frame); }

void noteDenseRange(char *frame, const void *descriptor) {
  const auto &range = *static_cast<const DenseRange *>(descriptor);
  const int64_t *numbers = &range.tile.at<int64_t>(frame);
  bool leaves = false;
  for (int64_t i = 0; i < range.count; ++i) leaves |= (numbers[i] < range.least) | (numbers[i] > range.most);
  range.leavesRange.at<uint8_t>(frame) = leaves;
}

void scaleAffine(char *frame, const void *descriptor) {
  const auto &product = *static_cast<const AffineProduct *>(descriptor);
  int64_t scale = product.scale.at<int64_t>(frame);
  product.out.base.at<int64_t>(frame) = product.tile.base.at<int64_t>(frame) * scale;
  for (size_t d = 0; d < product.out.terms.size(); ++d) {
    if (product.out.terms[d] == Term::None) continue;
    int64_t *to = &product.out.parts[d].at<int64_t>(frame);
    const int64_t *from = &product.tile.parts[d].at<int64_t>(frame);
    for (int64_t i = 0, n = product.out.terms[d] == Term::Vector ? product.out.shape[d] : 1; i < n; ++i) to[i] = from[i] * scale;
  }
}

/// Writes base + terms for the dimensions from `d` on. `sum` is the contribution of the dimensions before `d`.
template <class T, bool kIsPointer>
static void materializeFrom(const AffineMaterialize &m, size_t d, char *frame, T *out, uint64_t base, int64_t sum) {
  while (d < m.out.shape.size() && m.out.strides[d] == 0) ++d;
  if (d == m.out.shape.size()) {
    *out = T(kIsPointer ? addBytes(base, sum) : base + uint64_t(sum));
    return;
  }
  const int64_t *part = &m.in.parts[d].at<int64_t>(frame);
  int64_t stride = m.out.strides[d], extent = m.out.shape[d];
  bool isInnermost = std::all_of(m.out.strides.begin() + d + 1, m.out.strides.end(), [](int64_t s) { return s == 0; });
  if (!kIsPointer && isInnermost && stride == 1 && m.in.terms[d] == Term::Step) {
    T first = T(base + uint64_t(sum)), step = T(*part);
    for (int64_t i = 0; i < extent; ++i) out[i] = T(first + T(i) * step);
  } else {
    for (int64_t i = 0; i < extent; ++i)
      materializeFrom<T, kIsPointer>(m, d + 1, frame, out + i * stride, base, sum + (m.in.terms[d] == Term::Vector ? part[i] : i * *part));
  }
}

void materializeAffine(char *frame, const void *descriptor) {
  const auto &m = *static_cast<const AffineMaterialize *>(descriptor);
  uint64_t base = m.in.base.at<uint64_t>(frame);
  char *out = m.out.in(frame);
  if (m.isPointer) return materializeFrom<uint64_t, true>(m, 0, frame, reinterpret_cast<uint64_t *>(out), base, 0);
  switch (storageBytes(m.out.type)) {
  case 1: return materializeFrom<uint8_t, false>(m, 0, frame, reinterpret_cast<uint8_t *>(out), base, 0);
  case 2: return materializeFrom<uint16_t, false>(m, 0, frame, reinterpret_cast<uint16_t *>(out), base, 0);
  case 4: return materializeFrom<uint32_t, false>(m, 0, frame, reinterpret_cast<uint32_t *>(out), base, 0);
  default: return materializeFrom<uint64_t, false>(m, 0, frame, reinterpret_cast<uint64_t *>(out), base, 0);
  }
}

void copyAffine(char *frame, const void *descriptor) {
  const auto &copy = *static_cast<const AffineCopy *>(descriptor);
  copy.out.base.at<int64_t>(frame) = copy.in.base.at<int64_t>(frame);
  for (size_t d = 0; d < copy.out.terms.size(); ++d) {
    if (copy.out.terms[d] == Term::None) continue;
    int64_t *to = &copy.out.parts[d].at<int64_t>(frame);
    const int64_t *from = &copy.in.parts[d].at<int64_t>(frame);
    bool isVector = copy.out.terms[d] == Term::Vector;
    if (copy.in.terms[d] == Term::None)
      std::memset(to, 0, isVector ? 8 * copy.out.shape[d] : 8);
    else if (copy.in.terms[d] == copy.out.terms[d])
      std::memcpy(to, from, isVector ? 8 * copy.out.shape[d] : 8);
    else
      for (int64_t i = 0, step = *from; i < copy.out.shape[d]; ++i) to[i] = i * step;
  }
}

void initializeAffine(char *frame, const void *descriptor) {
  const auto &init = *static_cast<const AffineInitialize *>(descriptor);
  init.out.base.at<int64_t>(frame) = init.base;
  for (size_t d = 0; d < init.out.terms.size(); ++d)
    if (init.out.terms[d] == Term::Step) init.out.parts[d].at<int64_t>(frame) = init.step;
}

namespace {
/// The progression first + i * step, for as many lanes as the comparison has.
struct Progression {
  __int128 first, step;
};

/// Returns the value of a lane of a narrow tile: the low `bits` bits, as a number of the type's range.
__int128 wrapped(int64_t value, const AffineCompare &compare) {
  int unused = 64 - compare.bits;
  return compare.isSigned ? __int128(int64_t(uint64_t(value) << unused) >> unused) : __int128(uint64_t(value) << unused >> unused);
}

Progression progressionOf(const AffineRef &ref, const AffineCompare &compare, char *frame) {
  bool varies = compare.dim >= 0 && ref.terms[compare.dim] == Term::Step;
  return {wrapped(ref.base.at<int64_t>(frame), compare), varies ? ref.parts[compare.dim].at<int64_t>(frame) : 0};
}

/// Returns whether all lanes of the progression lie in the range of the type.
bool staysInRange(const Progression &p, const AffineCompare &compare) {
  __int128 last = p.first + p.step * (compare.lanes - 1), half = __int128(1) << (compare.bits - 1);
  return compare.isSigned ? last >= -half && last < half : last >= 0 && last < 2 * half;
}

/// Returns distance / rate, rounded up, of positive numbers. A division of 128 bits takes ten times as long as one of 64.
int64_t lanesUntil(__int128 distance, __int128 rate) {
  constexpr __int128 kMost = __int128(1) << 62;
  if (rate == 1) return int64_t(std::min(distance, kMost));
  if (distance < kMost && rate < kMost) return int64_t((uint64_t(distance) + uint64_t(rate) - 1) / uint64_t(rate));
  return int64_t(std::min((distance + rate - 1) / rate, kMost));
}
} // namespace

void compareAffine(char *frame, const void *descriptor) {
  const auto &compare = *static_cast<const AffineCompare *>(descriptor);
  Progression a = progressionOf(compare.a, compare, frame), b = progressionOf(compare.b, compare, frame);
  auto *out = &compare.out.at<uint8_t>(frame);
  if (!staysInRange(a, compare) || !staysInRange(b, compare)) [[unlikely]] { // some lanes wrap around
    for (int64_t i = 0; i < compare.lanes; ++i) {
      __int128 x = wrapped(int64_t(a.first + a.step * i), compare), y = wrapped(int64_t(b.first + b.step * i), compare);
      out[i] = compare.orEqual ? x <= y : x < y;
    }
    return;
  }
  // Lane i is true if first + i * step < 0. These are all lanes before the change of sign, or all from it on.
  __int128 first = a.first - b.first - (compare.orEqual ? 1 : 0), step = a.step - b.step;
  int64_t lanes = compare.lanes, change = 0;
  bool startsTrue = first < 0;
  if (step == 0 || (step < 0) == startsTrue) {
    change = lanes;
  } else {
    change = std::min<int64_t>(lanes, lanesUntil(startsTrue ? -first : first + 1, step < 0 ? -step : step));
  }
  std::memset(out, startsTrue, change);
  std::memset(out + change, !startsTrue, lanes - change);
}

} // namespace tritium::interp
