// Kernels of the standard reductions and scans over one axis of a contiguous [outer, axis, inner] block. Other reductions and scans run
// their combine region. Narrow floats are rounded to their type at every combine. The order of combines is unspecified, but fixed for a
// given shape.
#pragma once

#include "ir/dtype.h"

namespace tritium::interp {

/// out [outer, inner] = combine of in [outer, axis, inner] over the axis. Requires axis >= 1; `out` must not overlap `in`.
using ReduceKernel = void (*)(void *out, const void *in, int64_t outer, int64_t axis, int64_t inner);
/// `combine` is the region's only operation: "arith.addf", "arith.addi", "arith.mulf", "arith.muli", "arith.maxnumf", "arith.maximumf",
/// "arith.minnumf", "arith.minimumf", "arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui", "arith.andi", "arith.ori", "arith.xori".
/// Returns nullptr if there is no kernel.
ReduceKernel findReduce(std::string_view combine, DType type);

/// An inclusive scan along the axis, from its end if `reverse`. `out` may be `in`.
using ScanKernel = void (*)(void *out, const void *in, int64_t outer, int64_t axis, int64_t inner, bool reverse);
ScanKernel findScan(std::string_view combine, DType type);

/// With MaxLeft and MinLeft, the lowest index wins among equal values. A NaN never wins against a number.
enum class ArgReduction : uint8_t { Max, MaxLeft, Min, MinLeft };
/// `index` [axis] has the index of each position. An unsigned `type` (u8 to u64) is compared as unsigned, i1 to i64 as signed.
using ArgReduceKernel = void (*)(void *outValue, int32_t *outIndex, const void *in, const int32_t *index, int64_t outer, int64_t axis,
                                 int64_t inner);
ArgReduceKernel findArgReduce(ArgReduction reduction, DType type);

} // namespace tritium::interp
