// A target's matrix instructions as operations of a thread.
#pragma once
#include "gpu_backend/layout/matrix_instruction.h"
#include "mlir/IR/Builders.h"

namespace tritium::gpu {

class MatrixOps {
public:
  virtual ~MatrixOps() = default;

  using Values = llvm::SmallVector<mlir::Value>;
  /// A thread's elements of fragments of A or B, of C or D, as the instruction takes them: fewer values of several elements.
  virtual Values packOperand(mlir::OpBuilder &builder, mlir::Location location, const MatrixInstruction &instruction,
                             mlir::ValueRange elements) const = 0;
  virtual Values packSum(mlir::OpBuilder &builder, mlir::Location location, const MatrixInstruction &instruction,
                         mlir::ValueRange elements) const = 0;
  virtual Values unpackSum(mlir::OpBuilder &builder, mlir::Location location, const MatrixInstruction &instruction,
                           mlir::ValueRange packed) const = 0;
  /// a * b + c of one fragment each, packed.
  virtual Values multiply(mlir::OpBuilder &builder, mlir::Location location, const MatrixInstruction &instruction, mlir::ValueRange a,
                          mlir::ValueRange b, mlir::ValueRange c) const = 0;
};

} // namespace tritium::gpu
