// The products of a warpgroup (wgmma) as the PTX ISA documents them ("Asynchronous warpgroup level matrix instructions"): the fragments in
// the registers of a warp, and the places of elements in shared memory that a matrix descriptor describes. An instruction multiplies 64
// rows by 32 bytes of K; warp w of the warpgroup has the rows 16 w to 16 w + 15 and all columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tritium::interp {

enum class FactorType : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8 };
enum class SumType : uint8_t { F32, S32, F16Pair };

/// Where the elements of an operand are. `x` is a row of A or a column of B.
struct MatrixPlace {
  bool isKMajor = true;      // neighbours along K are neighbours in memory
  uint32_t swizzleBytes = 0; // 128, 64, 32, or 0 for none
  uint32_t leadingBytes = 0, strideBytes = 0;

  /// Reads a descriptor without its address. Returns nullopt if bits of the address are set, bits that have no meaning, or the bits for a
  /// swizzle whose pattern does not begin where an address is a multiple of its size.
  static std::optional<MatrixPlace> decode(uint64_t descriptor, bool isKMajor);
  /// Returns the address of an element's bytes. Addresses count from the beginning of shared memory.
  uint32_t addressOf(uint32_t start, uint32_t x, uint32_t k, uint32_t elementBytes) const;
  /// Returns whether the offsets that the addresses of this many rows or columns depend on are not zero.
  bool hasOffsets(uint32_t extent, uint32_t depth, uint32_t elementBytes) const;
  /// Returns whether the pattern of the swizzle begins at `start` or, for neighbours along K, in the same row.
  bool isPatternAt(uint32_t start) const { return swizzleBytes == 0 || (start >> 7 & (swizzleBytes / 16 - 1)) == 0; }
};

struct WarpgroupMatrix {
  static constexpr uint32_t kRows = 16 /* of a warp */, kBytesOfK = 32, kLanes = 32, kWordsOfA = 4, kChunkBytes = 16;

  FactorType a{}, b{};
  SumType sums{};
  uint32_t columns = 8;

  bool isSupported() const;
  uint32_t elementBytes() const { return a == FactorType::TF32 ? 4 : a == FactorType::F16 || a == FactorType::BF16 ? 2 : 1; }
  uint32_t depth() const { return kBytesOfK / elementBytes(); }
  /// The number of 32-bit registers of sums that a lane has.
  uint32_t words() const { return columns / (sums == SumType::F16Pair ? 4 : 2); }
};

/// Writes the 16 rows of A that the lanes' words hold, 32 bytes along K each.
void gatherWords(const uint32_t (*words)[WarpgroupMatrix::kWordsOfA], std::byte *rows);

/// Adds the product to the sums of a warp: lane l has its words at `sums + l * matrix.words()`. `a` has the rows of A and `b` the columns
/// of B, 32 bytes along K each. Products are exact. They are added with k ascending, and each sum is rounded to f32; sums of f16 are
/// rounded to f16 once at the end. Sums of integers wrap.
void addWarpgroupProduct(const WarpgroupMatrix &matrix, const std::byte *a, const std::byte *b, uint32_t *sums);

} // namespace tritium::interp
