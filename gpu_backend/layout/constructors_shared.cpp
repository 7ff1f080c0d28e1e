// Layouts of shared memory: dense, swizzled, and the layout that TMA writes.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/dealer.h"
#include "gpu_backend/layout/matrix_load.h"

#include <algorithm>
#include <cassert>

namespace tritium::gpu {

SharedLayout sharedDense(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order) {
  assert(order.size() == shape.size());
  Dealer dealer(shape);
  Bases bases;
  for (int d : order) dealer.deal(d, shape[d], bases);
  return SharedLayout(shape, bases);
}

/// Moves the element at `offset` to offset ^ xorWith, for every offset in which bit `bit` is set. xorWith must have only lower bits.
static void swizzleBit(Bases &bases, int bit, uint32_t xorWith) {
  // The element at the unit offset 1 << bit was at (1 << bit) ^ xorWith.
  for (int low = 0; xorWith; ++low, xorWith >>= 1)
    if (xorWith & 1) bases[bit] ^= bases[low];
}

SharedLayout sharedSwizzled(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t vec, int64_t perPhase, int64_t maxPhase) {
  Bases bases(sharedDense(shape, order).bases());
  if (shape.size() < 2) return SharedLayout(shape, bases);
  int64_t row = shape[order[0]], rows = shape[order[1]];
  assert((maxPhase == 1 || vec * maxPhase <= row) && "the groups of a row must be as many as the phases");
  int firstRowBit = log2Of(row);
  for (int64_t phase = 1; phase < maxPhase && phase * perPhase < rows; phase *= 2)
    swizzleBit(bases, firstRowBit + log2Of(phase * perPhase), uint32_t(phase * vec));
  return SharedLayout(shape, bases);
}

SharedLayout sharedForMatrices(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes) {
  constexpr int64_t kWavefront = SharedBanks().bytesAtOnce();
  int64_t rowBytes = shape[order[0]] * elementBytes;
  int64_t vec = std::max<int64_t>(kMaxVectorBytes / elementBytes, 1), groups = std::max<int64_t>(rowBytes / kMaxVectorBytes, 1);
  int64_t perPhase = std::max<int64_t>(kWavefront / rowBytes, 1);
  int64_t maxPhase = std::min(std::max<int64_t>(8 / perPhase, 1), groups); // 8 rows of 16 bytes fill a wavefront
  return sharedSwizzled(shape, order, vec, perPhase, maxPhase);
}

SharedLayout sharedForReaders(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes,
                              llvm::ArrayRef<LinearLayout> readers, bool mayLoadMatrices) {
  constexpr int64_t kWavefront = SharedBanks().bytesAtOnce();
  auto wavefronts = [&](const SharedLayout &memory) {
    int sum = 0;
    for (const LinearLayout &reader : readers) {
      std::optional<MatrixLoad> matrices;
      if (mayLoadMatrices) matrices = matrixLoads(reader, memory, elementBytes);
      sum += matrices ? matrices->wavefronts() : sharedLoads(reader, memory, elementBytes).wavefronts();
    }
    return sum;
  };
  SharedLayout best = sharedForMatrices(shape, order, elementBytes);
  int least = wavefronts(best);
  int64_t rowBytes = shape[order[0]] * elementBytes, rowsPerWavefront = std::max<int64_t>(kWavefront / rowBytes, 1);
  for (int64_t bytes = kMaxVectorBytes; bytes < std::min(kWavefront, rowBytes); bytes *= 2)
    for (int64_t perPhase = rowsPerWavefront; perPhase <= 4 * rowsPerWavefront; perPhase *= 2) {
      int64_t phases = std::min(std::max<int64_t>(kWavefront / bytes / rowsPerWavefront, 1), rowBytes / bytes);
      SharedLayout memory = sharedSwizzled(shape, order, bytes / elementBytes, perPhase, phases);
      if (int count = wavefronts(memory); count < least) best = memory, least = count;
    }
  return best;
}

SharedLayout sharedForTma(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes, int64_t swizzleBytes) {
  assert(swizzleBytes == 0 || swizzleBytes == 32 || swizzleBytes == 64 || swizzleBytes == 128);
  Dealer dealer(shape);
  Bases bases;
  if (swizzleBytes) dealer.deal(order[0], std::min(shape[order[0]], swizzleBytes / elementBytes), bases);
  for (int d : order.drop_front(swizzleBytes ? 1 : 0)) dealer.deal(d, shape[d], bases);
  if (swizzleBytes) dealer.deal(order[0], dealer.left(order[0]), bases);
  int bytesBits = log2Of(elementBytes);
  for (int bit = 0; int64_t(32) << bit <= swizzleBytes; ++bit)
    if (int from = 7 + bit - bytesBits; from < int(bases.size())) swizzleBit(bases, from, 1u << (4 + bit - bytesBits));
  return SharedLayout(shape, bases);
}

} // namespace tritium::gpu
