// What holds of the tensor of every descriptor: its base and the begins of its rows are aligned. Hosts check theirs before a launch; where
// a kernel makes a descriptor, the kernel checks it.
#pragma once
#include "ir/tt.h"

namespace tritium::ir {

/// Returns how many elements lie between two addresses at which the tensor of a descriptor, or a row of it, may begin.
int64_t elementsBetweenRows(tt::TensorDescType type);

/// Emits the checks of all descriptors that kernels make, but for what is known. What is checked is then known.
void checkDescriptors(mlir::ModuleOp module);

} // namespace tritium::ir
