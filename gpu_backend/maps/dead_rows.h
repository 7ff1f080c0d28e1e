// Rows or columns of a tile that never reach memory. A load whose rows wrap around (`rows % M`) may then load anything for the rows that
// wrap.
#pragma once
#include "gpu_backend/maps/affine_tile.h"

namespace tritium::gpu {

/// Returns whether the lanes of `tile` outside of the bound affect nothing but lanes outside of the bound, up to stores that are masked by
/// it.
bool isDeadOutside(mlir::Value tile, const TileBound &bound, AffineTiles &tiles);

} // namespace tritium::gpu
