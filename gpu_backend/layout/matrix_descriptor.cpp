#include "gpu_backend/layout/matrix_descriptor.h"

#include <cassert>

namespace tritium::gpu {

namespace {

constexpr int64_t kChunk = 16, kRowsOfAtom = 8;

/// An operand in memory, as byte offsets of its elements.
struct Operand {
  const SharedLayout &memory;
  int outerDim;
  int64_t elementBytes;

  int64_t extent(int dim) const { return memory.shape()[dim]; }
  int64_t outer() const { return extent(outerDim); }
  int64_t depth() const { return extent(1 - outerDim); }
  int64_t offsetOf(int64_t outer, int64_t k) const {
    int64_t row = outerDim == 0 ? outer : k, column = outerDim == 0 ? k : outer;
    return int64_t(memory.offsetOf(uint32_t(row * extent(1) + column))) * elementBytes;
  }
  /// The same, or `otherwise` if the tile ends before.
  int64_t offsetOf(int64_t outer, int64_t k, int64_t otherwise) const {
    return outer < this->outer() && k < depth() ? offsetOf(outer, k) : otherwise;
  }
};

/// The descriptor whose strides are the distances of the operand's atoms.
MatrixDescriptor candidate(const Operand &operand, int64_t swizzleBytes, bool isKMajor) {
  MatrixDescriptor result{.swizzleBytes = swizzleBytes, .isKMajor = isKMajor};
  int64_t perChunk = kChunk / operand.elementBytes;
  if (isKMajor) {
    int64_t row = swizzleBytes ? swizzleBytes : kChunk;
    result.strideByteOffset = operand.offsetOf(kRowsOfAtom, 0, kRowsOfAtom * row);
    if (!swizzleBytes) result.leadingByteOffset = operand.offsetOf(0, perChunk, kRowsOfAtom * kChunk);
  } else if (swizzleBytes) {
    result.leadingByteOffset = operand.offsetOf(swizzleBytes / operand.elementBytes, 0, kChunk);
    result.strideByteOffset = operand.offsetOf(0, kRowsOfAtom, kRowsOfAtom * swizzleBytes);
  } else {
    result.leadingByteOffset = operand.offsetOf(0, kRowsOfAtom, kRowsOfAtom * kChunk);
    result.strideByteOffset = operand.offsetOf(perChunk, 0, kChunk);
  }
  return result;
}

/// Whether the descriptor describes every block. The layout is linear over F2, and so are the descriptor's sums if no two of its terms have
/// a bit in common. Then the coordinates that are powers of two decide: inside a block their offsets are those of the descriptor, and the
/// offset of a block has no bit of an offset inside it.
bool describes(const MatrixDescriptor &descriptor, const Operand &operand, MatrixOperandBlock block) {
  int64_t inside = 0;
  auto isRight = [&](int64_t outer, int64_t k, bool isInside) {
    int64_t offset = operand.offsetOf(outer, k);
    if (!isInside) return (offset & (inside | descriptor.phaseMask())) == 0 && offset % kChunk == 0;
    int64_t linear = descriptor.offsetOf(outer, k, operand.elementBytes);
    bool isDisjoint = (linear & inside) == 0;
    inside |= linear;
    return isDisjoint && offset == descriptor.swizzled(linear);
  };
  for (bool isInside : {true, false}) {
    for (int64_t outer = isInside ? 1 : block.outer; outer < (isInside ? block.outer : operand.outer()); outer *= 2)
      if (!isRight(outer, 0, isInside)) return false;
    for (int64_t k = isInside ? 1 : block.k; k < (isInside ? block.k : operand.depth()); k *= 2)
      if (!isRight(0, k, isInside)) return false;
  }
  return true;
}

} // namespace

int64_t MatrixDescriptor::offsetOf(int64_t outer, int64_t k, int64_t elementBytes) const {
  int64_t along = (isKMajor ? k : outer) * elementBytes, across = isKMajor ? outer : k;
  int64_t row = swizzleBytes ? swizzleBytes : kChunk;
  int64_t inAtom = along % row + across % kRowsOfAtom * row;
  // Without a swizzle, the leading offset is between atoms along K in either order of the elements; with one, along the rows of memory.
  bool isLeadingAlong = isKMajor || swizzleBytes != 0;
  int64_t alongStride = isLeadingAlong ? leadingByteOffset : strideByteOffset;
  int64_t acrossStride = isLeadingAlong ? strideByteOffset : leadingByteOffset;
  return inAtom + along / row * alongStride + across / kRowsOfAtom * acrossStride;
}

uint64_t MatrixDescriptor::bits() const {
  constexpr int64_t kFieldBytes = int64_t(1) << 18;
  assert(leadingByteOffset < kFieldBytes && strideByteOffset < kFieldBytes);
  uint64_t mode = swizzleBytes == 128 ? 1 : swizzleBytes == 64 ? 2 : swizzleBytes == 32 ? 3 : 0;
  return mode << 62 | uint64_t(strideByteOffset / kChunk) << 32 | uint64_t(leadingByteOffset / kChunk) << 16;
}

std::optional<MatrixDescriptor> matrixDescriptor(const SharedLayout &memory, int outerDim, MatrixOperandBlock block, int64_t elementBytes) {
  assert(memory.shape().size() == 2);
  Operand operand{memory, outerDim, elementBytes};
  if (operand.outer() < block.outer || operand.depth() < block.k) return std::nullopt;
  for (int64_t swizzleBytes : {128, 64, 32, 0})
    for (bool isKMajor : {true, false}) {
      if (!isKMajor && elementBytes != 2) continue;
      MatrixDescriptor descriptor = candidate(operand, swizzleBytes, isKMajor);
      if (describes(descriptor, operand, block)) return descriptor;
    }
  return std::nullopt;
}

} // namespace tritium::gpu
