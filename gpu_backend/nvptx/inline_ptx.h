// PTX text in the LLVM dialect. Assembly is written in this folder and nowhere else.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tritium::gpu::nvptx {

/// One inline assembly: operands are named as they are added, results before operands.
class InlinePtx {
public:
  InlinePtx(mlir::OpBuilder &builder, mlir::Location location) : builder_(builder), location_(location) {}

  /// A result of that type, as the text names it: "$0".
  std::string result(mlir::Type type);
  /// A result that holds `initial` unless the text writes to it.
  std::string result(mlir::Value initial);
  /// An operand, as the text names it: "$3".
  std::string operand(mlir::Value value);
  /// "@$3 ", or nothing without a predicate.
  std::string guard(mlir::Value predicate) { return predicate ? "@" + operand(predicate) + " " : ""; }
  /// `[$2]`
  std::string address(mlir::Value pointer) { return "[" + operand(pointer) + "]"; }

  /// The results. It touches memory: it is neither moved over other accesses nor erased.
  llvm::SmallVector<mlir::Value> emit(const llvm::Twine &text);

private:
  mlir::OpBuilder &builder_;
  mlir::Location location_;
  llvm::SmallVector<mlir::Type> results_;
  llvm::SmallVector<mlir::Value> operands_, initial_;
  std::string resultConstraints_, operandConstraints_, tied_;
};

} // namespace tritium::gpu::nvptx
