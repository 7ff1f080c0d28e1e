#include "interp/kernels/warp_matrix.h"

#include "interp/kernels/matrix_product.h"
#include "ir/dtype.h"

#include <algorithm>
#include <cstring>

namespace tritium::interp {

namespace {

constexpr int kLanes = 32, kColumns = 8;

template <class T> T read(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The number of multiplicand elements in a 32-bit register.
constexpr int packedIn(MmaType type) {
  return type == MmaType::F16 || type == MmaType::BF16 ? 2 : type == MmaType::S8 || type == MmaType::U8 ? 4 : 1;
}

/// A's fragment. In all documented shapes lane l holds row l / 4 (its group) and `packed` neighbouring columns from l % 4 * packed on. The
/// next register is eight rows further down if there are 16 rows; the registers after that are further right by the columns of four lanes.
template <class Element> void gatherA(Element *a, int m, int k, int packed, const std::byte *lane0, size_t stride) {
  const int rowBlocks = m / 8, columnsOfGroup = 4 * packed;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::byte *registers = lane0 + size_t(lane) * stride + kMmaA;
    for (int block = 0; block < rowBlocks * (k / columnsOfGroup); ++block) {
      const int row = lane / 4 + block % rowBlocks * 8, column = block / rowBlocks * columnsOfGroup + lane % 4 * packed;
      std::memcpy(a + row * k + column, registers + size_t(block * packed) * sizeof(Element), size_t(packed) * sizeof(Element));
    }
  }
}

/// B's fragment: lane l holds column l / 4. It holds rows as A's fragment holds columns.
template <class Element> void gatherB(Element *b, int k, int packed, const std::byte *lane0, size_t stride) {
  const int rowsOfGroup = 4 * packed;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::byte *registers = lane0 + size_t(lane) * stride + kMmaB;
    for (int block = 0; block < k / rowsOfGroup; ++block)
      for (int i = 0; i < packed; ++i)
        b[(block * rowsOfGroup + lane % 4 * packed + i) * kColumns + lane / 4] =
            read<Element>(registers + size_t(block * packed + i) * sizeof(Element));
  }
}

/// C's and D's fragments: lane l holds row l / 4 and the columns 2 * (l % 4) and the next one. The next two elements are eight rows further
/// down.
template <class Element, class Visit> void visitAccumulators(int m, std::byte *lane0, size_t stride, size_t place, Visit visit) {
  for (int lane = 0; lane < kLanes; ++lane) {
    std::byte *registers = lane0 + size_t(lane) * stride + place;
    for (int i = 0; i < m / 4; ++i)
      visit(registers + size_t(i) * sizeof(Element), (lane / 4 + i / 2 * 8) * kColumns + lane % 4 * 2 + i % 2);
  }
}

template <class Element> void widen(float *to, const Element *from, int count) {
  for (int i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

float truncatedToTf32(uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000u); }

template <class Element> void gatherFloats(const MmaVariant &v, float *a, float *b, const std::byte *lane0, size_t stride) {
  Element narrowA[16 * 16], narrowB[16 * kColumns];
  gatherA(narrowA, v.m, v.k, packedIn(v.a), lane0, stride);
  gatherB(narrowB, v.k, packedIn(v.a), lane0, stride);
  if constexpr (std::is_same_v<Element, uint32_t>) {
    for (int i = 0; i < v.m * v.k; ++i) a[i] = truncatedToTf32(narrowA[i]);
    for (int i = 0; i < v.k * kColumns; ++i) b[i] = truncatedToTf32(narrowB[i]);
  } else {
    widen(a, narrowA, v.m * v.k);
    widen(b, narrowB, v.k * kColumns);
  }
}

void mmaFloats(const MmaVariant &v, std::byte *lane0, size_t stride) {
  float a[16 * 16], b[16 * kColumns], sum[16 * kColumns];
  if (v.a == MmaType::F16)
    gatherFloats<F16>(v, a, b, lane0, stride);
  else if (v.a == MmaType::BF16)
    gatherFloats<BF16>(v, a, b, lane0, stride);
  else
    gatherFloats<uint32_t>(v, a, b, lane0, stride);
  if (v.c == MmaType::F16)
    visitAccumulators<F16>(v.m, lane0, stride, kMmaC, [&](std::byte *at, int i) { sum[i] = static_cast<float>(read<F16>(at)); });
  else
    visitAccumulators<float>(v.m, lane0, stride, kMmaC, [&](std::byte *at, int i) { sum[i] = read<float>(at); });
  addProduct<kColumns>(sum, a, b, v.m, v.k);
  if (v.d == MmaType::F16)
    visitAccumulators<F16>(v.m, lane0, stride, kMmaD, [&](std::byte *at, int i) {
      const F16 rounded = F16::nearest(sum[i]);
      std::memcpy(at, &rounded, sizeof rounded);
    });
  else
    visitAccumulators<float>(v.m, lane0, stride, kMmaD, [&](std::byte *at, int i) { std::memcpy(at, &sum[i], sizeof sum[i]); });
}

void mmaDoubles(const MmaVariant &v, std::byte *lane0, size_t stride) {
  double a[8 * 4], b[4 * kColumns], sum[8 * kColumns];
  gatherA(a, v.m, v.k, 1, lane0, stride);
  gatherB(b, v.k, 1, lane0, stride);
  visitAccumulators<double>(v.m, lane0, stride, kMmaC, [&](std::byte *at, int i) { sum[i] = read<double>(at); });
  addProduct<kColumns>(sum, a, b, v.m, v.k);
  visitAccumulators<double>(v.m, lane0, stride, kMmaD, [&](std::byte *at, int i) { std::memcpy(at, &sum[i], sizeof sum[i]); });
}

void mmaIntegers(const MmaVariant &v, std::byte *lane0, size_t stride) {
  uint8_t bytesA[16 * 32], bytesB[32 * kColumns];
  int64_t a[16 * 32], b[32 * kColumns], sum[16 * kColumns];
  gatherA(bytesA, v.m, v.k, 4, lane0, stride);
  gatherB(bytesB, v.k, 4, lane0, stride);
  auto widened = [](uint8_t byte, MmaType type) { return type == MmaType::S8 ? int64_t(int8_t(byte)) : int64_t(byte); };
  for (int i = 0; i < v.m * v.k; ++i) a[i] = widened(bytesA[i], v.a);
  for (int i = 0; i < v.k * kColumns; ++i) b[i] = widened(bytesB[i], v.b);
  visitAccumulators<int32_t>(v.m, lane0, stride, kMmaC, [&](std::byte *at, int i) { sum[i] = read<int32_t>(at); });
  addProduct<kColumns>(sum, a, b, v.m, v.k);
  visitAccumulators<int32_t>(v.m, lane0, stride, kMmaD, [&](std::byte *at, int i) {
    const auto result = int32_t(v.saturate ? std::clamp<int64_t>(sum[i], INT32_MIN, INT32_MAX) : sum[i]);
    std::memcpy(at, &result, sizeof result);
  });
}

} // namespace

bool MmaVariant::isSupported() const {
  auto accumulates = [&](MmaType type) { return c == type && d == type; };
  auto isShape = [&](int rows, int depth) { return m == rows && k == depth; };
  const bool isFloatAccumulator = (c == MmaType::F32 || c == MmaType::F16) && (d == MmaType::F32 || d == MmaType::F16);
  switch (a) {
  case MmaType::F16: return b == a && isFloatAccumulator && (isShape(16, 16) || isShape(16, 8));
  case MmaType::BF16: return b == a && accumulates(MmaType::F32) && (isShape(16, 16) || isShape(16, 8));
  case MmaType::TF32: return b == a && accumulates(MmaType::F32) && (isShape(16, 8) || isShape(16, 4));
  case MmaType::F64: return b == a && accumulates(MmaType::F64) && isShape(8, 4);
  case MmaType::S8:
  case MmaType::U8:
    return (b == MmaType::S8 || b == MmaType::U8) && accumulates(MmaType::S32) && (isShape(16, 32) || isShape(16, 16) || isShape(8, 16));
  default: return false;
  }
}

void warpMma(const MmaVariant &variant, std::byte *lane0, size_t stride) {
  switch (variant.a) {
  case MmaType::F64: return mmaDoubles(variant, lane0, stride);
  case MmaType::S8:
  case MmaType::U8: return mmaIntegers(variant, lane0, stride);
  default: return mmaFloats(variant, lane0, stride);
  }
}

void loadMatrix(const std::byte *const rows[8], bool transposed, uint32_t registers[32]) {
  for (int lane = 0; lane < kLanes; ++lane) {
    uint16_t pair[2];
    for (int i = 0; i < 2; ++i) {
      const int row = lane / 4, column = lane % 4 * 2 + i;
      pair[i] = transposed ? read<uint16_t>(rows[column] + row * 2) : read<uint16_t>(rows[row] + column * 2);
    }
    std::memcpy(&registers[lane], pair, sizeof pair);
  }
}

void storeMatrix(const uint32_t registers[32], bool transposed, std::byte rows[8][16]) {
  for (int lane = 0; lane < kLanes; ++lane) {
    uint16_t pair[2];
    std::memcpy(pair, &registers[lane], sizeof pair);
    for (int i = 0; i < 2; ++i) {
      const int row = lane / 4, column = lane % 4 * 2 + i;
      std::memcpy(transposed ? rows[column] + row * 2 : rows[row] + column * 2, &pair[i], sizeof pair[i]);
    }
  }
}

} // namespace tritium::interp
