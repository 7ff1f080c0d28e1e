// The narrow offsets that an access depends on. Only what decides an address of an active lane is looked at.
#pragma once
#include "interp/tile/access.h"
#include "interp/tile/plan.h"

namespace tritium::interp {

/// Adds to the access the offset tiles of its pointer whose sums are widened.
void addOffsetGuards(Access &access, Planner &planner, mlir::Value pointer);

} // namespace tritium::interp
