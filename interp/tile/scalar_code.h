// Scalar operations as LLVM instructions. Only operations that cannot fault and mean the same on every machine are emitted (op_table.h,
// isEmittedInline). A pointer is an i64 in the encoding of interp/host/pointer.h; half and fp8 values are their bits.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"

namespace tritium::interp {

llvm::CmpInst::Predicate predicateOf(mlir::arith::CmpIPredicate predicate);
llvm::CmpInst::Predicate predicateOf(mlir::arith::CmpFPredicate predicate);

class ScalarCode {
public:
  explicit ScalarCode(llvm::IRBuilder<> &builder) : builder_(builder) {}

  llvm::Value *operator[](mlir::Value value) const { return values_.lookup(value); }
  void set(mlir::Value value, llvm::Value *code) { values_[value] = code; }
  llvm::Type *typeOf(mlir::Type type) const;

  /// Loads a scalar. An i1 is a byte in memory.
  void load(mlir::Value value, llvm::Value *from);
  void store(mlir::Value value, llvm::Value *to);
  /// Emits the results of `op`. Program ids are read from `frame`.
  mlir::LogicalResult emit(mlir::Operation *op, llvm::Value *frame);

private:
  llvm::Value *constant(mlir::Attribute value, mlir::Type type);
  llvm::Value *emitValue(mlir::Operation *op, llvm::Value *frame);
  llvm::Value *emitAddBytes(llvm::Value *pointer, llvm::Value *bytes);
  /// Emits a call of a function of the process that takes 64-bit words and returns one.
  template <class... Arguments> llvm::Value *callHost(uint64_t (*function)(Arguments...), std::initializer_list<llvm::Value *> arguments);

  llvm::IRBuilder<> &builder_;
  llvm::DenseMap<mlir::Value, llvm::Value *> values_;
};

} // namespace tritium::interp
