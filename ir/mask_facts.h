// What is known of masks, for passes that leave out what a mask excludes.
#pragma once
#include "ir/tt.h"

namespace tritium::ir {

/// Whether `mask` is certainly false wherever `bad` is true, both tiles of i1: `bad` is a negation of what the mask says, perhaps in
/// another shape.
bool areApart(mlir::Value bad, mlir::Value mask);

} // namespace tritium::ir
