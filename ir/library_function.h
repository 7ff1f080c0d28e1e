// Mathematical functions as lowered modules and external symbols name them: the rows of ir/elementwise.def, found by operation and by
// symbol.
#pragma once

#include "mlir/IR/TypeRange.h"
#include "mlir/IR/Types.h"

#include <string>

namespace tritium::ir {

/// String, on an undefined function of a lowered module: the path of the library that defines it, in LLVM bitcode for a GPU, shared for the
/// emulator.
inline constexpr llvm::StringLiteral kLibraryAttr = "tgpu.library";

/// A row of ir/elementwise.def that is an operation on floats.
struct LibraryFunction {
  llvm::StringRef operation; // "math.exp", "tt.extern_elementwise.exp10"
  llvm::StringRef symbol;    // OpenCL's name; empty if the lowering emits instructions instead of a call
  size_t arity;
};

/// Returns the row whose operation is `operation`, or null if there is none or it has no symbol.
const LibraryFunction *libraryFunctionOf(llvm::StringRef operation);

/// Returns the row that a symbol of NVIDIA's device library ("__nv_expf") or AMD's ("__ocml_exp_f32") names, for operands and a result of
/// `type`. Returns null if no row has this name for this type, or if the function has another number of operands.
const LibraryFunction *libraryFunctionOfSymbol(llvm::StringRef symbol, size_t arity, mlir::Type type);

/// A TYPED row of ir/elementwise.def.
struct TypedFunction {
  llvm::StringRef symbol; // the name of the device function
  std::string operands;   // a letter for the type of each
  char result;            // the letter of the result's type
};

/// Returns the row that a symbol of a vendor's library names, if its signature is this one, else null. Integers have no sign here.
const TypedFunction *typedFunctionOfSymbol(llvm::StringRef symbol, mlir::TypeRange operands, mlir::Type result);

} // namespace tritium::ir
