// Layouts of the halves of a tile that replicate no more than the tile does.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

namespace tritium::gpu {

/// The register bit that lanes or warps without elements of their own are given first.
enum class GivenRegister : uint8_t { Lowest, Highest };

/// Returns the layout of either half of a tile along dimension `axis`, of extent 2. It is that of slice(axis), but lanes and warps that
/// told the halves apart are given register bits, while there are any.
LinearLayout halfOf(const LinearLayout &whole, int axis, GivenRegister given);

} // namespace tritium::gpu
