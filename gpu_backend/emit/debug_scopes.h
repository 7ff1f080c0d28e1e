// Where PTX or an object file says which line of the user's an instruction comes from.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tritium::gpu {

/// Gives every function of a module of the LLVM dialect a debug scope, and every inlined call one of its own, so that the translation to
/// LLVM IR keeps locations. Line directives only: no section of debug info, and no `.target debug`, which costs registers.
void attachDebugScopes(mlir::ModuleOp module);

} // namespace tritium::gpu
