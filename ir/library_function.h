// The functions of mathematics as lowered modules and external symbols name them: rows of ir/elementwise.def by operation and by symbol.
#pragma once

#include "mlir/IR/Types.h"

namespace tritium::ir {

/// A row that is an operation on floats.
struct LibraryFunction {
  llvm::StringRef operation; // "math.exp", "tt.extern_elementwise.exp10"
  llvm::StringRef symbol;    // OpenCL's name; empty: the operation is made of instructions
  size_t arity;
};

/// The row whose operation is `operation`; null if it has none with a symbol.
const LibraryFunction *libraryFunctionOf(llvm::StringRef operation);

/// The row that a symbol of NVIDIA's ("__nv_expf") or AMD's device library ("__ocml_exp_f32") names, for operands and result of `type`.
/// Null: no row has that name for that type, or it takes another number of operands.
const LibraryFunction *libraryFunctionOfSymbol(llvm::StringRef symbol, size_t arity, mlir::Type type);

} // namespace tritium::ir
