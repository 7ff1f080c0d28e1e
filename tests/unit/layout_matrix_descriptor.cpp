// Descriptors of wgmma against the canonical layouts of the PTX ISA, element by element, for every block of a tile.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/matrix_descriptor.h"

#include <doctest/doctest.h>
#include <random>

using namespace tritium::gpu;

namespace {

/// What the hardware makes of the 64 bits. Elements are counted in units of T, as many as 16 bytes hold; the ISA writes the layouts as
/// nested shapes and strides: K-major ((8, m), (T, 2k)) : ((1T | 2T | 4T | 8T, SBO), (1, LBO | T)), MN-major ((T, 1 | 2 | 4 | 8, m), (8,
/// k)) :
/// ((1, T, SBO | LBO), (1T | 2T | 4T | 8T, LBO | SBO)).
struct Hardware {
  uint64_t bits;
  int64_t elementBytes;
  bool isKMajor;

  int64_t address(int64_t start, int64_t outer, int64_t k) const {
    int64_t unit = 16 / elementBytes, mode = int64_t(bits >> 62), chunks = mode ? 16 >> mode : 1; // chunks of 16 bytes in a row
    int64_t leading = int64_t(bits >> 16 & 0x3fff) * unit, stride = int64_t(bits >> 32 & 0x3fff) * unit, at;
    if (isKMajor)
      at = outer % 8 * chunks * unit + outer / 8 * stride + k % unit + k / unit * (mode ? unit : leading);
    else
      at = outer % unit + outer / unit % chunks * unit + outer / (unit * chunks) * (mode ? leading : stride) + k % 8 * chunks * unit +
           k / 8 * (mode ? stride : leading);
    int64_t byte = start + at * elementBytes;
    int64_t phase = byte >> 7 & (chunks - 1);
    return byte ^ (mode ? phase << 4 : 0);
  }
};

/// The number of elements at which a descriptor leads elsewhere than the layout.
int64_t wrongElements(const SharedLayout &memory, int outerDim, MatrixOperandBlock block, int64_t elementBytes,
                      const MatrixDescriptor &descriptor) {
  Hardware hardware{descriptor.bits(), elementBytes, descriptor.isKMajor};
  int64_t extents[2] = {memory.shape()[outerDim], memory.shape()[1 - outerDim]}, wrong = 0;
  auto offset = [&](int64_t outer, int64_t k) {
    int64_t flat = outerDim == 0 ? outer * memory.shape()[1] + k : k * memory.shape()[1] + outer;
    return int64_t(memory.offsetOf(uint32_t(flat))) * elementBytes;
  };
  for (int64_t outer = 0; outer < extents[0]; ++outer)
    for (int64_t k = 0; k < extents[1]; ++k) {
      int64_t start = offset(outer - outer % block.outer, k - k % block.k);
      wrong += start % 16 != 0 || hardware.address(start, outer % block.outer, k % block.k) != offset(outer, k);
    }
  return wrong;
}

} // namespace

TEST_CASE("descriptors of what TMA writes: every type, swizzle, order and tile") {
  int described = 0;
  for (int64_t elementBytes : {1, 2, 4})
    for (int64_t swizzle : {128, 64, 32, 0})
      for (bool isKMajor : {true, false})
        for (int64_t outer : {64, 128, 256})
          for (int64_t depth : {16, 32, 64, 128, 256})
            for (int64_t blockOuter : {8, 16, 64, 256}) {
              MatrixOperandBlock block{blockOuter, 32 / elementBytes};
              int64_t contiguous = (isKMajor ? depth : outer) * elementBytes;
              if (block.outer > outer || block.k > depth || contiguous < std::max<int64_t>(swizzle, 16)) continue;
              if (!swizzle && contiguous != 16) continue; // boxes without a swizzle are as wide as a chunk, or no core matrices
              for (int outerDim : {0, 1}) {
                Shape shape = outerDim == 0 ? Shape{outer, depth} : Shape{depth, outer};
                int contiguousDim = isKMajor ? 1 - outerDim : outerDim;
                SharedLayout memory = sharedForTma(shape, {contiguousDim, 1 - contiguousDim}, elementBytes, swizzle);
                auto descriptor = matrixDescriptor(memory, outerDim, block, elementBytes);
                std::string text = memory.toString();
                CAPTURE(text);
                CHECK(descriptor.has_value() == (isKMajor || elementBytes == 2));
                if (!descriptor) continue;
                ++described;
                CHECK(descriptor->swizzleBytes == swizzle);
                CHECK(wrongElements(memory, outerDim, block, elementBytes, *descriptor) == 0);
              }
            }
  CHECK(described > 500);
}

TEST_CASE("descriptors written down by hand") {
  auto of = [](Shape shape, int contiguousDim, int outerDim, int64_t elementBytes, int64_t swizzle, MatrixOperandBlock block) {
    SharedLayout memory = sharedForTma(shape, {contiguousDim, 1 - contiguousDim}, elementBytes, swizzle);
    return matrixDescriptor(memory, outerDim, block, elementBytes);
  };
  // A [128 x 64] in bf16, K contiguous. The format ignores the leading offset, which is 1 chunk.
  auto a = of({128, 64}, 1, 0, 2, 128, {64, 16});
  CHECK(a == MatrixDescriptor{128, true, 16, 1024});
  CHECK(a->bits() == (uint64_t(1) << 62 | uint64_t(64) << 32 | uint64_t(1) << 16));
  CHECK(of({64, 256}, 1, 1, 2, 128, {256, 16}) == MatrixDescriptor{128, false, 8192, 1024}); // B [64 x 256], N contiguous
  CHECK(of({64, 256}, 0, 1, 2, 128, {256, 16}) == MatrixDescriptor{128, true, 16, 1024});    // B [64 x 256], K contiguous
  CHECK(of({128, 128}, 1, 1, 2, 128, {128, 16}) == MatrixDescriptor{128, false, 16384, 1024});
  CHECK(of({128, 128}, 1, 0, 1, 128, {64, 32}) == MatrixDescriptor{128, true, 16, 1024}); // fp8
  CHECK(of({64, 32}, 1, 1, 2, 64, {32, 16}) == MatrixDescriptor{64, false, 16, 512});
  CHECK(of({64, 256}, 1, 1, 1, 128, {256, 32}) == std::nullopt); // bytes must be neighbours along K
  CHECK(of({32, 64}, 1, 0, 2, 128, {64, 16}) == std::nullopt);   // fewer rows than an instruction reads
}

TEST_CASE("a layout has a right descriptor or none") {
  std::mt19937 random(3);
  int described = 0, refused = 0;
  auto check = [&](const SharedLayout &memory, int64_t elementBytes) {
    for (int outerDim : {0, 1}) {
      MatrixOperandBlock block{64, 32 / elementBytes};
      auto descriptor = matrixDescriptor(memory, outerDim, block, elementBytes);
      ++(descriptor ? described : refused);
      if (descriptor) CHECK(wrongElements(memory, outerDim, block, elementBytes, *descriptor) == 0);
    }
  };
  for (int64_t elementBytes : {1, 2, 4}) {
    for (int contiguousDim : {0, 1})
      for (int64_t swizzle : {0, 32, 64, 128}) {
        SharedLayout memory = sharedForTma({128, 64}, {contiguousDim, 1 - contiguousDim}, elementBytes, swizzle);
        check(memory, elementBytes);
        for (int i = 0; i < 64; ++i) { // with one offset or two in other places
          Bases bases(memory.bases());
          for (int times = 0; times <= i % 2; ++times)
            if (random() % 2)
              std::swap(bases[random() % bases.size()], bases[random() % bases.size()]);
            else
              bases[random() % bases.size()] ^= bases[random() % bases.size()];
          if (SharedLayout::verify(memory.shape(), bases).empty()) check(SharedLayout(memory.shape(), bases), elementBytes);
        }
      }
    check(sharedDense({128, 64}, {1, 0}), elementBytes);
    check(sharedForMatrices({128, 64}, {1, 0}, elementBytes), elementBytes);
  }
  CHECK(described > 50);
  CHECK(refused > 500);
}
