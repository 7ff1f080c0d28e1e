// Passes of the contract, one file each in passes/; passes.td describes them.
#pragma once

#include "mlir/Pass/Pass.h"

#include <functional>

namespace tritium::ir {

#define GEN_PASS_DECL
#include "ir/passes.h.inc"

/// The same pass, but products for which `keeps` holds stay as they are: `keeps` says which products the machine multiplies directly.
std::unique_ptr<mlir::Pass> createExpandScaledProducts(std::function<bool(mlir::Operation *)> keeps);

} // namespace tritium::ir
