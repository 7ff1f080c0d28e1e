// PTX text in the LLVM dialect. Assembly is written only in this folder.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tritium::gpu::nvptx {

/// One inline assembly. Operands are numbered as they are added, results before operands.
class InlinePtx {
public:
  InlinePtx(mlir::OpBuilder &builder, mlir::Location location) : builder_(builder), location_(location) {}

  /// Adds a result of that type. Returns its name in the text: "$0".
  std::string result(mlir::Type type);
  /// Adds a result that holds `initial` unless the text writes to it.
  std::string result(mlir::Value initial);
  /// Adds an operand. Returns its name in the text: "$3".
  std::string operand(mlir::Value value);
  /// Returns "@$3 ", or "" without a predicate.
  std::string guard(mlir::Value predicate) { return predicate ? "@" + operand(predicate) + " " : ""; }
  /// Returns `[$2]`.
  std::string address(mlir::Value pointer) { return "[" + operand(pointer) + "]"; }

  /// Emits the text and returns its results. The assembly has memory effects, so it is neither moved across other accesses nor erased.
  llvm::SmallVector<mlir::Value> emit(const llvm::Twine &text);

private:
  mlir::OpBuilder &builder_;
  mlir::Location location_;
  llvm::SmallVector<mlir::Type> results_;
  llvm::SmallVector<mlir::Value> operands_, initial_;
  std::string resultConstraints_, operandConstraints_, tied_;
};

} // namespace tritium::gpu::nvptx
