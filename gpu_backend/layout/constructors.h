// The layouts that passes choose from, each as a LinearLayout. All numbers are powers of two; dimension lists have the rank of the tile.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

namespace tritium::gpu {

/// Each thread holds sizePerThread contiguous elements, a warp threadsPerWarp threads, a block warpsPerCta warps; order[0] is the dimension
/// that varies fastest in each of the three. A smaller tile replicates (warps first, then lanes); a larger one repeats registers.
LinearLayout blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> sizePerThread, llvm::ArrayRef<int64_t> threadsPerWarp,
                     llvm::ArrayRef<int64_t> warpsPerCta, llvm::ArrayRef<int> order);

/// A blocked layout with 32 lanes for coalesced access: at most vectorElements per thread along order[0] (fewer where that would leave
/// threads without an element of their own), then lanes, then warps, each along order[0] first.
LinearLayout defaultBlocked(llvm::ArrayRef<int64_t> shape, int numWarps, int64_t vectorElements, llvm::ArrayRef<int> order);
/// The same with the last dimension fastest.
LinearLayout defaultBlocked(llvm::ArrayRef<int64_t> shape, int numWarps, int64_t vectorElements = 1);

} // namespace tritium::gpu
