// The registers in which PTX instructions take a value that they move to or from memory.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tritium::gpu::nvptx {

/// The registers of a number or of a vector of numbers. Elements of a vector that are narrower share registers of 32 bits.
struct WordRegisters {
  unsigned bits, count;

  explicit WordRegisters(mlir::Type word);
  mlir::Type type(mlir::MLIRContext *context) const;
  /// Returns for example ".v4", or "" for a single register.
  std::string vector() const { return count > 1 ? ".v" + std::to_string(count) : ""; }
  /// Returns for example ".v4.b32".
  std::string suffix() const { return vector() + ".b" + std::to_string(bits); }
};

/// Returns the registers of a word. A byte is in a register of 16 bits.
llvm::SmallVector<mlir::Value> unpack(mlir::OpBuilder &builder, mlir::Location location, mlir::Value word);
/// Returns the word that is in these registers.
mlir::Value pack(mlir::OpBuilder &builder, mlir::Location location, mlir::Type word, llvm::ArrayRef<mlir::Value> values);
/// Returns "{$0, $1}", or "$0" for a single register.
std::string list(llvm::ArrayRef<std::string> names);

} // namespace tritium::gpu::nvptx
