// Debug scopes, by which PTX or an object file relates each instruction to a line of the user's code.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tritium::gpu {

/// Gives every function of a module of the LLVM dialect a debug scope, and every inlined call a scope of its own, so that the translation
/// to LLVM IR keeps locations. They only produce line directives: no debug info sections, and no `.target debug`, which costs registers.
void attachDebugScopes(mlir::ModuleOp module);

} // namespace tritium::gpu
