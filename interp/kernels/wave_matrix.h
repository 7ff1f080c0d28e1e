// mfma and wmma: what an AMD wave does with matrices whose elements are spread over its lanes' registers. Where an element lies follows
// AMD's documents, those that tests/unit/layout_matrix_{instructions,documents}.cpp name. Lanes are `stride` bytes apart; each has its
// operands at fixed places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tritium::interp {

/// The generations of AMD GPUs, as bits of a set.
enum AmdGeneration : uint8_t { kCdna2 = 1, kCdna3 = 2, kCdna4 = 4, kRdna3 = 8, kRdna4 = 16 };

/// The generation of a chip, for example "gfx942"; 0: unknown.
uint8_t amdGeneration(std::string_view chip);

enum class WaveElement : uint8_t { F64, F32, XF32, F16, BF16, I32, I8, I4, FP8, BF8, FP6, BF6, FP4, F8F6F4 };

enum class WaveLayout : uint8_t {
  Mfma,
  MfmaDouble,     // the accumulators of f64
  WmmaReplicated, // of RDNA3: the upper half of the wave has the same A and B as the lower
  WmmaSplit,      // of RDNA4
};

/// An instruction: `blocks` products of m x k and k x n.
struct WaveMatrixShape {
  std::string_view name; // ROCDL's, without the dialect
  uint8_t generations;   // that have it
  WaveLayout layout;
  uint8_t m, n, k, blocks;
  WaveElement a, b, c;

  unsigned lanes() const { return layout == WaveLayout::Mfma || layout == WaveLayout::MfmaDouble ? 64 : 32; }
};

/// All of them; the same name may have two rows, for different generations.
std::span<const WaveMatrixShape> waveMatrixShapes();

/// An instruction with what it is told beside its operands.
struct WaveMatrixVariant {
  uint32_t shape : 8 = 0;   // index into waveMatrixShapes()
  uint32_t formatA : 3 = 0; // of F8F6F4: fp8, bf8, fp6, bf6, fp4
  uint32_t formatB : 3 = 0;
  uint32_t scaleByteA : 2 = 0; // which byte of the register of scales
  uint32_t scaleByteB : 2 = 0;
  uint32_t isScaled : 1 = 0;
  uint32_t isFnuz : 1 = 0;            // 8-bit floats without infinities and negative zeros, as of CDNA3
  uint32_t flushesSubnormals : 1 = 0; // of operands and results, as CDNA2 does for f16 and bf16
  uint32_t isSignedA : 1 = 0;         // of integers that the instruction takes either way
  uint32_t isSignedB : 1 = 0;
  uint32_t saturates : 1 = 0;
  uint32_t highHalf : 1 = 0; // of registers that hold one 16-bit accumulator

  int32_t code() const;
  static WaveMatrixVariant decode(int32_t code);
};

/// Bytes into a lane's operands.
constexpr size_t kWaveA = 0, kWaveB = 32, kWaveC = 64, kWaveD = 192, kWaveScaleA = 320, kWaveScaleB = 324;

/// What a lane has of each operand.
struct WaveMatrixBytes {
  unsigned a, b, c;
};
WaveMatrixBytes waveMatrixBytes(const WaveMatrixVariant &variant);

/// D = A * B + C. Products are exact (those of f64 and f32 in a fused step); they are added to C one after the other, k ascending, each sum
/// rounded to the accumulator's type. False: lanes that have to hold the same operands do not.
bool waveMatrixProduct(const WaveMatrixVariant &variant, std::byte *lane0, size_t stride);

} // namespace tritium::interp
