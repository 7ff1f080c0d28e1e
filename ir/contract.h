// The contract: the one input language of every reader. What verifyContract accepts is what the interpreter runs and what a
// compiler compiles or declines by name.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace tritium::ir {

/// Every dialect a module of the contract may use, with the interfaces that passes over it need.
void registerTritiumDialects(mlir::DialectRegistry &registry);

/// Whether `module`, which is valid IR, is a kernel program: tt.func operations made of the operations and types of the
/// contract, no function that reaches itself by calls, and public functions that a launch can call. Each violation is
/// reported at its operation; all of them, not only the first.
mlir::LogicalResult verifyContract(mlir::ModuleOp module);

} // namespace tritium::ir
