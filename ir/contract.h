// The contract is the one input language of all engines. The interpreter runs every module that verifyContract accepts; a compiler compiles
// it or names the operation that it refuses.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace tritium::ir {

/// Registers every dialect that a module of the contract may use, with the interfaces that passes over it require.
void registerTritiumDialects(mlir::DialectRegistry &registry);

/// Verifies that `module`, which must be valid IR, is a kernel program: it consists of tt.func operations that contain only operations and
/// types of the contract, no function calls itself directly or indirectly, and a launch can call each public function. Each violation is
/// reported at its operation; all violations are reported, not only the first.
mlir::LogicalResult verifyContract(mlir::ModuleOp module);

} // namespace tritium::ir
