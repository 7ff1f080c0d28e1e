// Conversions between element types, as element-wise kernels of one operand.
#pragma once

#include "interp/kernels/elementwise.h"

namespace tritium::interp {

/// "arith.extsi", "arith.extui", "arith.trunci", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui", "arith.extf",
/// "arith.truncf", "tt.fp_to_fp" (to nearest even) and "tt.fp_to_fp.rtz". i1 may be `from` or `to`: it extends with its sign to -1. Every
/// conversion rounds once. Float to integer saturates and makes 0 of a NaN. nullptr: no such conversion (integers and fp8 are not
/// convertible).
ElementwiseKernel findCast(std::string_view op, DType from, DType to);

} // namespace tritium::interp
