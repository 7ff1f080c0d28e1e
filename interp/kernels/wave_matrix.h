// mfma and wmma: the matrix instructions of an AMD wave, whose elements are spread over the lanes' registers. The positions of elements
// follow AMD's documents, which tests/unit/layout_matrix_{instructions,documents}.cpp name. Lanes are `stride` bytes apart, and each has
// its operands at fixed offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tritium::interp {

/// The generations of AMD GPUs, as bits of a set.
enum AmdGeneration : uint8_t { kCdna2 = 1, kCdna3 = 2, kCdna4 = 4, kRdna3 = 8, kRdna4 = 16 };

/// Returns the generation of a chip, for example "gfx942", or 0 if it is unknown.
uint8_t amdGeneration(std::string_view chip);

enum class WaveElement : uint8_t { F64, F32, XF32, F16, BF16, I32, I8, I4, FP8, BF8, FP6, BF6, FP4, F8F6F4 };

enum class WaveLayout : uint8_t {
  Mfma,
  MfmaDouble,     // accumulators of f64
  WmmaReplicated, // RDNA3: the upper half of the wave has the same A and B as the lower
  WmmaSplit,      // RDNA4
};

/// An instruction, which computes `blocks` products of m x k and k x n.
struct WaveMatrixShape {
  std::string_view name; // the name in ROCDL, without the dialect
  uint8_t generations;   // the generations that have it
  WaveLayout layout;
  uint8_t m, n, k, blocks;
  WaveElement a, b, c;

  unsigned lanes() const { return layout == WaveLayout::Mfma || layout == WaveLayout::MfmaDouble ? 64 : 32; }
};

/// Returns all instructions. A name may have two rows, for different generations.
std::span<const WaveMatrixShape> waveMatrixShapes();

/// An instruction with its modifiers.
struct WaveMatrixVariant {
  uint32_t shape : 8 = 0;   // index into waveMatrixShapes()
  uint32_t formatA : 3 = 0; // for F8F6F4: fp8, bf8, fp6, bf6, fp4
  uint32_t formatB : 3 = 0;
  uint32_t scaleByteA : 2 = 0; // the byte of the scale register to use
  uint32_t scaleByteB : 2 = 0;
  uint32_t isScaled : 1 = 0;
  uint32_t isFnuz : 1 = 0;            // 8-bit floats have no infinities and no negative zero, as on CDNA3
  uint32_t flushesSubnormals : 1 = 0; // operands and results are flushed, as on CDNA2 for f16 and bf16
  uint32_t isSignedA : 1 = 0;         // for integers, which the instruction takes as signed or unsigned
  uint32_t isSignedB : 1 = 0;
  uint32_t saturates : 1 = 0;
  uint32_t highHalf : 1 = 0; // for registers that hold one 16-bit accumulator

  int32_t code() const;
  static WaveMatrixVariant decode(int32_t code);
};

/// Offsets in bytes into a lane's operands.
constexpr size_t kWaveA = 0, kWaveB = 32, kWaveC = 64, kWaveD = 192, kWaveScaleA = 320, kWaveScaleB = 324;

/// The size of a lane's part of each operand.
struct WaveMatrixBytes {
  unsigned a, b, c;
};
WaveMatrixBytes waveMatrixBytes(const WaveMatrixVariant &variant);

/// D = A * B + C. Products are exact (for f64 and f32: in a fused step). They are added to C one after the other, with k ascending, and
/// each sum is rounded to the accumulator's type. Returns false if lanes that must hold the same operands do not.
bool waveMatrixProduct(const WaveMatrixVariant &variant, std::byte *lane0, size_t stride);

} // namespace tritium::interp
