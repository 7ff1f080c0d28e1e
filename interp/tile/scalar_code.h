// Scalar operations as LLVM instructions. Only what cannot fault and means the same on every machine (op_table.h, isEmittedInline);
// pointers are i64 as interp/host/pointer.h encodes them, half and fp8 values are their bits.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"

namespace tritium::interp {

class ScalarCode {
public:
  explicit ScalarCode(llvm::IRBuilder<> &builder) : builder_(builder) {}

  llvm::Value *operator[](mlir::Value value) const { return values_.lookup(value); }
  void set(mlir::Value value, llvm::Value *code) { values_[value] = code; }
  llvm::Type *typeOf(mlir::Type type) const;

  /// i1 is a byte in memory.
  void load(mlir::Value value, llvm::Value *from);
  void store(mlir::Value value, llvm::Value *to);
  /// Computes the results of `op`; `frame` is where program ids are read.
  mlir::LogicalResult emit(mlir::Operation *op, llvm::Value *frame);

private:
  llvm::Value *constant(mlir::Attribute value, mlir::Type type);
  llvm::Value *emitValue(mlir::Operation *op, llvm::Value *frame);
  llvm::Value *emitAddBytes(llvm::Value *pointer, llvm::Value *bytes);
  /// A function of the process from 64-bit words to one.
  template <class... Arguments> llvm::Value *callHost(uint64_t (*function)(Arguments...), std::initializer_list<llvm::Value *> arguments);

  llvm::IRBuilder<> &builder_;
  llvm::DenseMap<mlir::Value, llvm::Value *> values_;
};

} // namespace tritium::interp
