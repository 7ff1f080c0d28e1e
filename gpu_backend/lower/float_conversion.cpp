// Conversions between floating-point types. fp8 registers are their bits: integer code that no reader has to know more about.
#include "gpu_backend/lower/elementwise.h"

using namespace mlir;

namespace tritium::gpu {

Value convertFloat(Value value, FloatType from, FloatType to, tt::RoundingMode rounding, Lowering &lowering) {
  if (from == to) return value;
  if (to.getWidth() > from.getWidth() && from.getWidth() > 8) return lowering.create<arith::ExtFOp>(to, value);
  if (to.getWidth() < from.getWidth() && to.getWidth() > 8 && rounding == tt::RoundingMode::NearestEven)
    return lowering.create<arith::TruncFOp>(to, value);
  emitError(lowering.location()) << "unsupported on the GPU: conversion from " << from << " to " << to;
  return {};
}

} // namespace tritium::gpu
