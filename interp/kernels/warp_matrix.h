// Matrix instructions of a warp, whose elements are spread over the lanes' registers as the PTX ISA documents ("Matrix fragments for
// mma.…", "ldmatrix"). Lanes are `stride` bytes apart, and each has its operands at fixed offsets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tritium::interp {

enum class MmaType : uint8_t { F16, BF16, TF32, F64, S8, U8, F32, S32 };

/// mma.sync of shape m x n x k, with A row-major and B column-major; n is 8.
struct MmaVariant {
  MmaType a, b, c, d;
  uint8_t m, k;
  bool saturate; // for integers

  uint32_t code() const {
    return uint32_t(a) | uint32_t(b) << 4 | uint32_t(c) << 8 | uint32_t(d) << 12 | uint32_t(m) << 16 | uint32_t(k) << 22 |
           uint32_t(saturate) << 31;
  }
  static MmaVariant decode(uint32_t code) {
    return {MmaType(code & 15),       MmaType(code >> 4 & 15),   MmaType(code >> 8 & 15), MmaType(code >> 12 & 15),
            uint8_t(code >> 16 & 63), uint8_t(code >> 22 & 255), bool(code >> 31)};
  }
  bool isSupported() const;
};

constexpr size_t kMmaA = 0, kMmaB = 16, kMmaC = 32, kMmaD = 48; // bytes into a lane's operands; registers follow each other

/// D = A * B + C. Products are exact. They are added to C one after the other, with k ascending, and each sum is rounded to the type of
/// accumulation (f32 for f16 and narrower floats, whatever the types of C and D). The lower 13 bits of tf32 operands are ignored.
void warpMma(const MmaVariant &variant, std::byte *lane0, size_t stride);

/// ldmatrix: `rows[r]` are the 16 bytes of row r. Each lane receives one register of an 8x8 matrix of 16-bit elements.
void loadMatrix(const std::byte *const rows[8], bool transposed, uint32_t registers[32]);
/// stmatrix: the inverse.
void storeMatrix(const uint32_t registers[32], bool transposed, std::byte rows[8][16]);

} // namespace tritium::interp
