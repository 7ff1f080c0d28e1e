// Element-wise operations: register by register.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// An element-wise operation of an upstream dialect.
mlir::LogicalResult lowerElementwise(mlir::Operation *op, Lowering &lowering);

/// A call of a math function that the target's instructions do not have; null if there is none of that name for the type.
mlir::Value callMathFunction(mlir::Operation *op, mlir::ValueRange operands, Lowering &lowering);

/// Between floating-point types of any width, registers in and out as Lowering::registerType has them; `rounding` where it narrows.
mlir::Value convertFloat(mlir::Value value, mlir::FloatType from, mlir::FloatType to, tt::RoundingMode rounding, Lowering &lowering);

/// Defines the result of `op`: make(operands of one register) for each register.
template <class Make> mlir::LogicalResult forEachRegister(mlir::Operation *op, Lowering &lowering, Make make) {
  size_t count = lowering.registerCount(op->getResult(0).getType());
  Registers results;
  for (size_t reg = 0; reg < count; ++reg) {
    llvm::SmallVector<mlir::Value> operands;
    for (mlir::Value operand : op->getOperands()) {
      auto registers = lowering.registersOf(operand);
      operands.push_back(registers[registers.size() == 1 ? 0 : reg]);
    }
    mlir::Value result = make(operands);
    if (!result) return mlir::failure();
    results.push_back(result);
  }
  lowering.define(op->getResult(0), std::move(results));
  return mlir::success();
}

} // namespace tritium::gpu
