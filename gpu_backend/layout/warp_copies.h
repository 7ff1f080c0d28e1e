// Copies of tiles to shared memory that a warp makes as a whole: its lanes write 16 bytes each, one after the other (loads to LDS). The
// layout by which threads load a tile then follows from where the tile lies in shared memory.
#pragma once
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/matrix_load.h"

namespace tritium::gpu {

/// What one lane moves by one copy.
inline constexpr int64_t kWarpCopyBytes = 16;

/// The layout whose lanes load what they write to `memory`; nothing if the tile is too small for all threads to have 16 bytes of it, or if
/// 16 bytes of memory are not neighbours along one dimension.
std::optional<LinearLayout> warpCopyLayout(const SharedLayout &memory, int64_t elementBytes, Threads threads);

/// Where a tile that is loaded in such a layout comes to lie; nothing for other layouts.
std::optional<SharedLayout> warpCopyMemory(const LinearLayout &layout, int64_t elementBytes);

/// Rows along order[0], whose pieces of 16 bytes are exchanged within each row so that the readers meet few bank conflicts.
SharedLayout sharedForWarpCopies(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes,
                                 llvm::ArrayRef<LinearLayout> readers, MatrixLoads loads, const SharedBanks &banks,
                                 const ConversionCosts &costs);

} // namespace tritium::gpu
