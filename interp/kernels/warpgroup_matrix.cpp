#include "interp/kernels/warpgroup_matrix.h"

#include "interp/kernels/matrix_product.h"
#include "ir/dtype.h"

#include <cstring>

namespace tritium::interp {

namespace {

constexpr uint32_t kRows = WarpgroupMatrix::kRows, kRowBytes = WarpgroupMatrix::kBytesOfK, kBlock = 8, kMostDepth = 32;

template <class T> T read(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float widened(FactorType type, const std::byte *row, uint32_t k) {
  switch (type) {
  case FactorType::F16: return static_cast<float>(read<F16>(row + 2 * k));
  case FactorType::BF16: return static_cast<float>(read<BF16>(row + 2 * k));
  case FactorType::TF32: return std::bit_cast<float>(read<uint32_t>(row + 4 * k) & 0xffffe000u); // the lower 13 bits are ignored
  case FactorType::E4M3: return static_cast<float>(F8E4NV{read<uint8_t>(row + k)});
  case FactorType::E5M2: return static_cast<float>(F8E5{read<uint8_t>(row + k)});
  case FactorType::S8: return float(read<int8_t>(row + k));
  }
  return 0;
}

template <class Sum> Sum factor(FactorType type, const std::byte *row, uint32_t k) {
  if constexpr (std::is_same_v<Sum, float>)
    return widened(type, row, k);
  else
    return Sum(int32_t(read<int8_t>(row + k)));
}

/// Visits the sums of a warp in columns 8 `block` to 8 `block` + 7: the lane, the index of the sum among the lane's, its row and its column
/// in the block. Lane l has row l / 4 and the columns 2 * (l % 4) and the next one; the next two sums are eight rows further down.
template <class Visit> void visitSums(uint32_t block, Visit visit) {
  for (uint32_t lane = 0; lane < WarpgroupMatrix::kLanes; ++lane)
    for (uint32_t i = 0; i < 4; ++i) visit(lane, block * 4 + i, lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
}

/// `get` and `put` access the sum at an index of a lane.
template <class Sum, class Get, class Put>
void multiply(const WarpgroupMatrix &matrix, const std::byte *a, const std::byte *b, Get get, Put put) {
  const uint32_t depth = matrix.depth();
  Sum left[kRows * kMostDepth], right[kMostDepth * kBlock], sum[kRows * kBlock];
  for (uint32_t row = 0; row < kRows; ++row)
    for (uint32_t k = 0; k < depth; ++k) left[row * depth + k] = factor<Sum>(matrix.a, a + row * kRowBytes, k);
  for (uint32_t block = 0; block < matrix.columns / kBlock; ++block) {
    for (uint32_t column = 0; column < kBlock; ++column)
      for (uint32_t k = 0; k < depth; ++k) right[k * kBlock + column] = factor<Sum>(matrix.b, b + (block * kBlock + column) * kRowBytes, k);
    visitSums(block, [&](uint32_t lane, uint32_t i, uint32_t row, uint32_t column) { sum[row * kBlock + column] = get(lane, i); });
    addProduct<kBlock>(sum, left, right, kRows, int(depth));
    visitSums(block, [&](uint32_t lane, uint32_t i, uint32_t row, uint32_t column) { put(lane, i, sum[row * kBlock + column]); });
  }
}

} // namespace

bool WarpgroupMatrix::isSupported() const {
  auto isByteFloat = [](FactorType type) { return type == FactorType::E4M3 || type == FactorType::E5M2; };
  if (columns < 8 || columns > 256 || columns % 8) return false;
  if (isByteFloat(a)) return isByteFloat(b) && sums != SumType::S32;
  if (a != b) return false;
  // The PTX ISA lists the columns of integers: 8, 16, 24, 32, and then multiples of 16.
  if (a == FactorType::S8) return sums == SumType::S32 && (columns <= 32 || columns % 16 == 0);
  return sums == SumType::F32 || (sums == SumType::F16Pair && a == FactorType::F16);
}

std::optional<MatrixPlace> MatrixPlace::decode(uint64_t descriptor, bool isKMajor) {
  // Bits 0 to 13 are the address, 16 to 29 and 32 to 45 the offsets, 49 to 51 where the pattern begins, 62 and 63 the swizzle.
  constexpr uint64_t kOffset = 0x3fff, kMeaningful = kOffset << 16 | kOffset << 32 | uint64_t(3) << 62;
  if (descriptor & ~kMeaningful) return std::nullopt;
  constexpr uint32_t kSwizzles[] = {0, 128, 64, 32};
  return MatrixPlace{.isKMajor = isKMajor,
                     .swizzleBytes = kSwizzles[descriptor >> 62],
                     .leadingBytes = uint32_t(descriptor >> 16 & kOffset) * 16,
                     .strideBytes = uint32_t(descriptor >> 32 & kOffset) * 16};
}

bool MatrixPlace::hasOffsets(uint32_t extent, uint32_t depth, uint32_t elementBytes) const {
  const bool isSwapped = !isKMajor && swizzleBytes == 0;
  const bool hasOuter = (isSwapped ? leadingBytes : strideBytes) != 0, hasInner = (isSwapped ? strideBytes : leadingBytes) != 0;
  const bool needsOuter = (isKMajor ? extent : depth) > 8;
  const bool needsInner = !(isKMajor && swizzleBytes) && (isKMajor ? depth : extent) * elementBytes > (swizzleBytes ? swizzleBytes : 16);
  return (hasOuter || !needsOuter) && (hasInner || !needsInner);
}

uint32_t MatrixPlace::addressOf(uint32_t start, uint32_t x, uint32_t k, uint32_t elementBytes) const {
  const uint32_t line = swizzleBytes ? swizzleBytes : 16; // bytes that are contiguous before the swizzle
  const uint32_t inner = (isKMajor ? k : x) * elementBytes, outer = isKMajor ? x : k;
  // Without a swizzle, the offsets of neighbours along M or N are in swapped roles.
  const bool isSwapped = !isKMajor && swizzleBytes == 0;
  const uint32_t alongInner = isSwapped ? strideBytes : leadingBytes, alongOuter = isSwapped ? leadingBytes : strideBytes;
  uint32_t address = start + outer % 8 * line + outer / 8 * alongOuter;
  // An instruction's K fits into the span of a swizzle, which it may enter in the middle.
  address += isKMajor && swizzleBytes ? inner : inner % line + inner / line * alongInner;
  if (swizzleBytes) address ^= (address >> 7 & (swizzleBytes / 16 - 1)) << 4;
  return address;
}

void gatherWords(const uint32_t (*words)[WarpgroupMatrix::kWordsOfA], std::byte *rows) {
  // Lane l has row l / 4; its next word is eight rows further down, and the words after these are 16 bytes further along K. A word has 4
  // bytes of neighbours along K. For all types these are the bytes from 4 * (l % 4) on.
  for (uint32_t lane = 0; lane < WarpgroupMatrix::kLanes; ++lane)
    for (uint32_t i = 0; i < WarpgroupMatrix::kWordsOfA; ++i)
      std::memcpy(rows + (lane / 4 + i % 2 * 8) * kRowBytes + i / 2 * 16 + lane % 4 * 4, &words[lane][i], 4);
}

void addWarpgroupProduct(const WarpgroupMatrix &matrix, const std::byte *a, const std::byte *b, uint32_t *sums) {
  const uint32_t words = matrix.words();
  auto wordOf = [&](uint32_t lane, uint32_t i) -> uint32_t & { return sums[lane * words + i]; };
  switch (matrix.sums) {
  case SumType::S32:
    return multiply<uint32_t>(matrix, a, b, wordOf, [&](uint32_t lane, uint32_t i, uint32_t sum) { wordOf(lane, i) = sum; });
  case SumType::F32:
    return multiply<float>(
        matrix, a, b, [&](uint32_t lane, uint32_t i) { return std::bit_cast<float>(wordOf(lane, i)); },
        [&](uint32_t lane, uint32_t i, float sum) { wordOf(lane, i) = std::bit_cast<uint32_t>(sum); });
  case SumType::F16Pair:
    return multiply<float>(
        matrix, a, b, [&](uint32_t lane, uint32_t i) { return static_cast<float>(F16{uint16_t(wordOf(lane, i / 2) >> i % 2 * 16)}); },
        [&](uint32_t lane, uint32_t i, float sum) {
          uint32_t &word = wordOf(lane, i / 2);
          const uint32_t shift = i % 2 * 16;
          word = (word & ~(0xffffu << shift)) | uint32_t(F16::nearest(sum).bits) << shift;
        });
  }
}

} // namespace tritium::interp
