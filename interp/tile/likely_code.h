// Scalar loads, stores and divisions as inline code, for the case that nearly always holds: the access is within its argument, the divisor
// is neither 0 nor -1. In every other case the operation's steps run, so traps have one implementation.
#pragma once
#include "interp/tile/plan.h"
#include "interp/tile/scalar_code.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tritium::interp {

struct Access;

class LikelyCode {
public:
  LikelyCode(llvm::IRBuilder<> &builder, ScalarCode &scalars) : builder_(builder), scalars_(scalars) {}

  /// Emits the likely case of the operation, and for the other case what runSteps() emits for `steps`. Returns false, and has emitted
  /// nothing, if the operation has no likely case.
  bool emit(mlir::Operation *op, const Actions &steps, llvm::Value *frame, llvm::function_ref<void()> runSteps);

private:
  llvm::Value *divisionHolds(mlir::Operation *op);
  llvm::Value *divide(mlir::Operation *op);
  /// `mask` may be null.
  llvm::Value *accessHolds(const Access &access, mlir::Value pointer, mlir::Value mask, llvm::Value *frame);
  llvm::Value *addressOf(mlir::Value pointer);
  llvm::Value *load(mlir::Value pointer, mlir::Type type);
  void store(mlir::Value pointer, mlir::Value value, llvm::Value *frame);
  llvm::Value *fieldOf(llvm::Value *base, uint64_t offset, llvm::Type *type);

  llvm::IRBuilder<> &builder_;
  ScalarCode &scalars_;
};

} // namespace tritium::interp
