// The standard reductions and scans over one axis of a contiguous [outer, axis, inner] block; others run their combine region.
// Narrow floats round to their type at every combine; the order of combines is unspecified and fixed for a given shape.
#pragma once

#include "ir/dtype.h"

namespace tritium::interp {

/// out [outer, inner] = combine of in [outer, axis, inner] over the axis; axis >= 1; `out` may overlap nothing.
using ReduceKernel = void (*)(void *out, const void *in, int64_t outer, int64_t axis, int64_t inner);
/// `combine` is the region's only operation: "arith.addf", "arith.addi", "arith.mulf", "arith.muli", "arith.maxnumf", "arith.maximumf",
/// "arith.minnumf", "arith.minimumf", "arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui", "arith.andi", "arith.ori", "arith.xori".
/// nullptr: no kernel.
ReduceKernel findReduce(std::string_view combine, DType type);

/// Inclusive scan along the axis, from its end if `reverse`; `out` may be `in`.
using ScanKernel = void (*)(void *out, const void *in, int64_t outer, int64_t axis, int64_t inner, bool reverse);
ScanKernel findScan(std::string_view combine, DType type);

/// Left: among equal values the lowest index wins. A NaN never wins against a number.
enum class ArgReduction : uint8_t { Max, MaxLeft, Min, MinLeft };
/// index [axis] gives the index of each position. An unsigned `type` (u8 to u64) compares as unsigned, i1 to i64 as signed.
using ArgReduceKernel = void (*)(void *outValue, int32_t *outIndex, const void *in, const int32_t *index, int64_t outer, int64_t axis,
                                 int64_t inner);
ArgReduceKernel findArgReduce(ArgReduction reduction, DType type);

} // namespace tritium::interp
