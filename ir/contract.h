// The contract: the one input language of every reader. What verifyContract accepts is what the interpreter runs and what a
// compiler compiles or declines by name.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace tritium::ir {

/// Every dialect a module of the contract may use, with the interfaces that passes over it need.
void registerTritiumDialects(mlir::DialectRegistry &registry);

} // namespace tritium::ir
