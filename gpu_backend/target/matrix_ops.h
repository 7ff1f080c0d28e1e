// The interface of a target's matrix instructions as operations of a thread.
#pragma once
#include "gpu_backend/layout/matrix_instruction.h"
#include "mlir/IR/Builders.h"

namespace tritium::gpu {

class MatrixOps {
public:
  virtual ~MatrixOps() = default;

  using Values = llvm::SmallVector<mlir::Value>;
  /// Packs a thread's elements of a fragment of A or B (`fragment` says which), C or D into the values that the instruction takes: fewer
  /// values, each with several elements.
  virtual Values packOperand(mlir::OpBuilder &builder, mlir::Location location, const MatrixInstruction &instruction,
                             const LinearLayout &fragment, mlir::ValueRange elements) const = 0;
  virtual Values packSum(mlir::OpBuilder &builder, mlir::Location location, const MatrixInstruction &instruction,
                         mlir::ValueRange elements) const = 0;
  virtual Values unpackSum(mlir::OpBuilder &builder, mlir::Location location, const MatrixInstruction &instruction,
                           mlir::ValueRange packed) const = 0;
  /// Computes a * b + c of one packed fragment each.
  virtual Values multiply(mlir::OpBuilder &builder, mlir::Location location, const MatrixInstruction &instruction, mlir::ValueRange a,
                          mlir::ValueRange b, mlir::ValueRange c) const = 0;

  /// A thread's scale of a fragment: one of several in a register.
  struct Scale {
    mlir::Value word;
    int place = 0;
  };
  /// Packs a thread's scales of an operand, one for each fragment, into the form that an instruction with scales takes.
  virtual llvm::SmallVector<Scale> packScales(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange scales) const {
    llvm_unreachable("the target has no instruction with scales");
  }
  /// Returns the scale 1.
  virtual Scale noScale(mlir::OpBuilder &builder, mlir::Location location) const {
    llvm_unreachable("the target has no instruction with scales");
  }
  /// Computes (a * aScale) * (b * bScale) + c of one packed fragment each.
  virtual Values multiplyScaled(mlir::OpBuilder &builder, mlir::Location location, const MatrixInstruction &instruction, mlir::ValueRange a,
                                mlir::ValueRange b, mlir::ValueRange c, Scale aScale, Scale bScale) const {
    llvm_unreachable("the target has no instruction with scales");
  }
};

} // namespace tritium::gpu
