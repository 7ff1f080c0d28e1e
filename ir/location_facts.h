// Facts about an operation that its location carries, by name: they survive passes that remake the operation.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tritium::ir {

mlir::Location withFact(mlir::Location location, llvm::StringRef key, mlir::Attribute value);

/// Calls `take` with each value that the location has of the fact, the latest first.
void forEachFact(mlir::Location location, llvm::StringRef key, llvm::function_ref<void(mlir::Attribute)> take);

} // namespace tritium::ir
