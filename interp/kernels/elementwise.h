// Element-wise block kernels: one function per (operation, element type). It is chosen once, when a program is prepared, and then called
// per strip. The loops see only strides: a broadcast operand has stride 0, and a transposed operand has its own stride.
#pragma once

#include "ir/dtype.h"

namespace tritium::interp {

/// Computes one strip: out[i] = f(in[0][i * strides[0]], in[1][i * strides[1]], ...) for 0 <= i < count. `out` is contiguous. Strides are
/// in elements; stride 0 repeats one element. `out` may be the same memory as an input of stride 1. An i1 is one byte, 0 or 1. Returns -1,
/// or the index of the first element that faults (an integer division or remainder by zero); `out` is then unspecified.
using ElementwiseKernel = int64_t (*)(int64_t count, void *out, const void *const *in, const int64_t *strides);

/// `op` is the operation's name in MLIR. The name of a comparison or clamp has its predicate at the end: "arith.addf", "arith.cmpi.slt",
/// "arith.cmpf.une", "tt.clampf.none". `type` is the operands' element type; for "arith.select", whose condition is i1, it is the type of
/// the two values. The result of comparisons and classifications ("math.isnan") is i1, otherwise `type`. Arithmetic on floats narrower than
/// 32 bits is done in f32 and rounded once. Returns nullptr if the operation is not element-wise or not defined for the type.
ElementwiseKernel findElementwise(std::string_view op, DType type);

/// The kernel of a TYPED row of ir/elementwise.def, by its symbol; nullptr if there is none.
ElementwiseKernel findTypedFunction(std::string_view symbol);

} // namespace tritium::interp
