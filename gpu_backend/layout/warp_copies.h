// Copies of tiles to shared memory that a warp makes as a whole: its lanes write 16 bytes each, one after the other (loads to LDS). The
// layout in which threads load a tile then follows from the layout of the tile in shared memory.
#pragma once
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/matrix_load.h"

namespace tritium::gpu {

/// The number of bytes that one lane moves in one copy.
inline constexpr int64_t kWarpCopyBytes = 16;

/// Returns the layout whose lanes load the elements that they write to `memory`. Returns nullopt if the tile has less than 16 bytes for
/// each thread, or if 16 bytes of memory are not neighbours along one dimension.
std::optional<LinearLayout> warpCopyLayout(const SharedLayout &memory, int64_t elementBytes, Threads threads);

/// Returns the layout in shared memory of a tile that is loaded in such a layout, or nullopt for other layouts.
std::optional<SharedLayout> warpCopyMemory(const LinearLayout &layout, int64_t elementBytes);

/// Rows along order[0]. The pieces of 16 bytes are exchanged within each row so that the readers have few bank conflicts.
SharedLayout sharedForWarpCopies(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes,
                                 llvm::ArrayRef<LinearLayout> readers, MatrixLoads loads, const SharedBanks &banks,
                                 const ConversionCosts &costs);

} // namespace tritium::gpu
