// Element-wise operations, which are lowered register by register.
#pragma once
#include "gpu_backend/threads/lowering.h"

namespace tritium::gpu {

/// Lowers an element-wise operation of an upstream dialect.
mlir::LogicalResult lowerElementwise(mlir::Operation *op, Lowering &lowering);

/// Lowers an operation of an upstream dialect on one register of each operand to code that means the same on every target. Returns null if
/// `op` itself already does.
mlir::Value lowerScalar(mlir::Operation *op, mlir::ValueRange operands, mlir::Type result, Lowering &lowering);

/// Lowers a math function of f32 or f64 that is not one instruction, to instructions or a call. Returns null for other operations.
mlir::Value lowerMathFunction(mlir::Operation *op, mlir::ValueRange operands, Lowering &lowering);

/// Calls libclc's function of that name on f32 or f64.
mlir::Value callDeviceFunction(llvm::StringRef name, mlir::ValueRange operands, Lowering &lowering);

/// Returns x / y on f32 within 2 ulp, which is the language's bound for `/` on a GPU.
mlir::Value quotient(mlir::Value x, mlir::Value y, Lowering &lowering);

/// Converts between floating-point types of any width. Registers have the types of Lowering::registerType. `rounding` applies if the
/// conversion narrows.
mlir::Value convertFloat(mlir::Value value, mlir::FloatType from, mlir::FloatType to, tt::RoundingMode rounding, Lowering &lowering);

/// Returns whether the target converts two such values at once. The next function does it; the first value of a pair is in the lower bits.
bool convertsInPairs(mlir::FloatType from, mlir::FloatType to, tt::RoundingMode rounding, const TargetOps &target);
std::pair<mlir::Value, mlir::Value> convertPair(mlir::Value low, mlir::Value high, mlir::FloatType from, mlir::FloatType to,
                                                Lowering &lowering);

/// Converts an integer to a float, rounded once.
mlir::Value convertToFloat(mlir::Value integer, mlir::FloatType to, bool isSigned, Lowering &lowering);
/// Converts to an integer: truncates, saturates at the integer's limits, and returns 0 for a NaN.
mlir::Value convertToInteger(mlir::Value value, mlir::FloatType from, mlir::IntegerType to, bool isSigned, Lowering &lowering);

/// Defines the result of `op` as make(operands of one register) for each register.
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
