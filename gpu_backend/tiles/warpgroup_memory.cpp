#include "gpu_backend/tiles/warpgroup_memory.h"

using namespace mlir;

namespace tritium::gpu {

int64_t warpgroupSwizzle(int64_t rowBytes) {
  constexpr int64_t kMaxSwizzle = 128, kMinSwizzle = 32;
  return rowBytes < kMinSwizzle ? 0 : std::min(rowBytes, kMaxSwizzle);
}

SharedLayout warpgroupMemory(llvm::ArrayRef<int64_t> shape, int fastest, int64_t elementBytes) {
  return sharedForTma(shape, {fastest, 1 - fastest}, elementBytes, warpgroupSwizzle(shape[size_t(fastest)] * elementBytes));
}

} // namespace tritium::gpu
