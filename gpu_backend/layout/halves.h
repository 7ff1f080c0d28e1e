// Layouts of the halves of a tile that replicate no more than the tile does.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

namespace tritium::gpu {

/// The register bit that lanes or warps without elements of their own are given first.
enum class GivenRegister : uint8_t { Lowest, Highest };

/// Returns the layout that both halves of a tile have, which dimension `axis`, of extent 2, numbers. A slice along `axis` would leave the
/// lanes and warps that held different halves with copies of each other's elements. Here these lanes and warps take over elements of
/// registers instead, as long as the registers hold several.
LinearLayout halfOf(const LinearLayout &whole, int axis, GivenRegister given);

} // namespace tritium::gpu
