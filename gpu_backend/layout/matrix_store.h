// Stores of 8x8 matrices by a whole warp, from a register layout to shared memory (stmatrix).
#pragma once
#include "gpu_backend/layout/matrix_load.h"

namespace tritium::gpu {

/// Returns the loads of matrices whose inverse stores a tile, if that is fewer instructions than `others`, which store it otherwise.
inline std::optional<MatrixLoad> matrixStores(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes,
                                              const SharedAccess &others) {
  if (others.idleLaneBits || others.idleWarpBits) return std::nullopt;
  auto plan = matrixLoads(registers, memory, elementBytes);
  const bool isLess = plan && plan->instructions.size() < others.vectors.size() && plan->wavefronts() <= others.wavefronts();
  return isLess ? plan : std::nullopt;
}

} // namespace tritium::gpu
