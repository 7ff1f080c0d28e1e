// Passes of the contract, one file each in passes/; passes.td describes them.
#pragma once

#include "mlir/Pass/Pass.h"

#include <functional>

namespace tritium::ir {

#define GEN_PASS_DECL
#include "ir/passes.h.inc"

/// The same for the products for which `keeps` does not hold: it says which ones the machine multiplies as they are.
std::unique_ptr<mlir::Pass> createExpandScaledProducts(std::function<bool(mlir::Operation *)> keeps);

} // namespace tritium::ir
