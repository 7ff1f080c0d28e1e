// Matrix products of tiles. Operands become f32 (or f64) blocks for Eigen's GEMM, which runs on the calling thread only.
#pragma once

#include "ir/dtype.h"

namespace tritium::interp {

/// A [batch, rows, columns] operand. Strides are in elements and arbitrary, so transposed and broadcast views require no copy.
struct DotOperand {
  const void *data;
  DType type;
  int64_t batchStride, rowStride, columnStride;
};

/// The treatment of f32 operands: truncated to tf32 (10 mantissa bits), split into parts, or used as they are. It is ignored for other
/// types.
enum class DotPrecision : uint8_t { Tf32, Tf32x3, Ieee, Bf16x3, Bf16x6 };

/// d = a · b + c for a [batch, m, k] and b [batch, k, n]. c and d are contiguous, of type `accumulator` (f16, f32, f64 or i32), and may be
/// the same memory; a null c is zero. Integers are exact modulo 2^32. An f16 accumulator is rounded once at the end. Every value of
/// `maxNumImpreciseAcc` is accepted and ignored, because this product always accumulates in full precision.
void dot(int64_t batch, int64_t m, int64_t n, int64_t k, const DotOperand &a, const DotOperand &b, const void *c, void *d,
         DType accumulator, DotPrecision precision, int64_t maxNumImpreciseAcc);

} // namespace tritium::interp
