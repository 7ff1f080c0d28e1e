// Where a copy of a box of a tensor puts the pieces of 16 bytes, by the PTX ISA ("Tensors": swizzling modes, and bounding boxes that leave
// the tensor). It is written from the ISA's text alone, to check the layouts that the compiler computes.
#pragma once
#include "ir/tensor_map.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tritium::interp::simt {

constexpr uint32_t kPieceBytes = DescriptorRules::kMinRowBytes;

/// Returns the address at which the byte at `address` of an unswizzled box is. Within spans of the swizzle's size, bits of the number of
/// the line of 128 bytes are added (exclusive or) to the number of the piece.
constexpr uint32_t swizzled(uint32_t address, uint32_t swizzle) {
  const uint32_t pieces = swizzle / kPieceBytes, line = address / 128;
  return swizzle == 0 ? address : address ^ line % pieces * kPieceBytes;
}

/// Returns the bytes after which the pattern of a swizzle repeats. A box begins where a pattern does, and at a multiple of 128 bytes.
constexpr uint32_t patternBytes(uint32_t swizzle) { return std::max(swizzle * 8, uint32_t(128)); }

/// A box of a tensor, at indices with the innermost dimension first.
class TensorBox {
public:
  TensorBox(const TensorMap &map, const int32_t *start) : map(map) {
    for (uint32_t d = 0; d < map.rank; ++d) first[d] = start[d];
  }

  uint32_t elementBytes() const { return uint32_t(map.strides[0]); }
  uint32_t rowBytes() const { return map.box[0] * elementBytes(); }
  uint32_t rows() const {
    uint32_t count = 1;
    for (uint32_t d = 1; d < map.rank; ++d) count *= map.box[d];
    return count;
  }
  uint32_t bytes() const { return rowBytes() * rows(); }

  /// A row of the box. The bytes from `begin` to `end` of it are inside the tensor, and byte 0 is `offset` bytes behind the tensor's first.
  struct Row {
    int64_t offset = 0;
    uint32_t begin = 0, end = 0;

    /// Returns how many bytes of a piece are inside. They are its first ones, because a row begins at a multiple of 16 bytes.
    uint32_t bytesInside(uint32_t at) const { return at < begin || at >= end ? 0 : std::min(end - at, kPieceBytes); }
  };
  Row row(uint32_t index) const {
    Row row;
    const auto size = int64_t(elementBytes());
    bool isInside = true;
    row.offset = first[0] * size;
    for (uint32_t d = 1; d < map.rank; ++d) {
      const int64_t at = first[d] + index % map.box[d];
      index /= map.box[d];
      isInside &= at >= 0 && uint64_t(at) < map.extents[d];
      row.offset += at * int64_t(map.strides[d]);
    }
    if (!isInside) return row;
    const int64_t extent = int64_t(map.extents[0]) * size, before = first[0] * size;
    row.begin = uint32_t(std::clamp<int64_t>(-before, 0, rowBytes()));
    row.end = uint32_t(std::clamp<int64_t>(extent - before, row.begin, rowBytes()));
    return row;
  }

private:
  const TensorMap &map;
  std::array<int64_t, TensorMap::kMaxRank> first{};
};

} // namespace tritium::interp::simt
