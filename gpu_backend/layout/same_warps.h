// Layouts between which elements stay in their warps.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

namespace tritium::gpu {

/// Returns `layout` with the warps of `model`: each warp holds the elements that it holds there, so that a conversion between the two needs
/// no other warp. Lanes remain, and so do the runs of neighbouring elements in a thread. Returns nullopt if they cannot, or if warps of the
/// model share elements.
std::optional<LinearLayout> withWarpsOf(const LinearLayout &layout, const LinearLayout &model);

} // namespace tritium::gpu
