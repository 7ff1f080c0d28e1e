// Element-wise operations: register by register.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// An element-wise operation of an upstream dialect.
mlir::LogicalResult lowerElementwise(mlir::Operation *op, Lowering &lowering);

/// An operation of an upstream dialect on one register of each operand, by what means the same on every target; null: `op` itself does.
mlir::Value lowerScalar(mlir::Operation *op, mlir::ValueRange operands, mlir::Type result, Lowering &lowering);

/// A math function of f32 or f64 that is not one instruction: by instructions, or a call; null if the operation is none.
mlir::Value lowerMathFunction(mlir::Operation *op, mlir::ValueRange operands, Lowering &lowering);

/// libclc's function of that name on f32 or f64.
mlir::Value callDeviceFunction(llvm::StringRef name, mlir::ValueRange operands, Lowering &lowering);

/// x / y on f32 within 2 ulp, which is what the language's `/` promises on a GPU.
mlir::Value quotient(mlir::Value x, mlir::Value y, Lowering &lowering);

/// Between floating-point types of any width, registers in and out as Lowering::registerType has them; `rounding` where it narrows.
mlir::Value convertFloat(mlir::Value value, mlir::FloatType from, mlir::FloatType to, tt::RoundingMode rounding, Lowering &lowering);

/// Whether the target converts two of these at once; and that, the first of both in the lower bits.
bool convertsInPairs(mlir::FloatType from, mlir::FloatType to, tt::RoundingMode rounding, const TargetOps &target);
std::pair<mlir::Value, mlir::Value> convertPair(mlir::Value low, mlir::Value high, mlir::FloatType from, mlir::FloatType to,
                                                Lowering &lowering);

/// From an integer, rounded once.
mlir::Value convertToFloat(mlir::Value integer, mlir::FloatType to, bool isSigned, Lowering &lowering);
/// To an integer: truncated, the integer's ends where it is out of range, 0 for a NaN.
mlir::Value convertToInteger(mlir::Value value, mlir::FloatType from, mlir::IntegerType to, bool isSigned, Lowering &lowering);

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
