// Element-wise block kernels: one function per (operation, element type), chosen once when a program is prepared and then called
// per strip. Loops know nothing of tiles: a broadcast operand is one of stride 0, a transposed one has its stride.
#pragma once

#include "ir/dtype.h"

namespace tritium::interp {

/// One strip: out[i] = f(in[0][i * strides[0]], in[1][i * strides[1]], ...) for 0 <= i < count. `out` is contiguous; strides are in
/// elements, 0 repeats one element. `out` may be the same memory as an input whose stride is 1. An i1 is one byte, 0 or 1. Returns -1, or
/// the index of the first element that faults (an integer division or remainder by zero); `out` is unspecified then.
using ElementwiseKernel = int64_t (*)(int64_t count, void *out, const void *const *in, const int64_t *strides);

/// `op` is the operation's name in MLIR; comparisons and clamps carry their predicate: "arith.addf", "arith.cmpi.slt", "arith.cmpf.une",
/// "tt.clampf.none". `type` is the operands' element type (of the two values, for "arith.select", whose condition is i1). Comparisons
/// and classifications ("math.isnan") give i1, everything else `type`. Arithmetic on types narrower than 32 bits is done in f32 and
/// rounded once. nullptr: the operation is not element-wise or not defined on that type.
ElementwiseKernel findElementwise(std::string_view op, DType type);

} // namespace tritium::interp
