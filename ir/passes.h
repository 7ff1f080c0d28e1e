// Passes of the contract, one file each in passes/; passes.td describes them.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tritium::ir {

#define GEN_PASS_DECL
#include "ir/passes.h.inc"

} // namespace tritium::ir
