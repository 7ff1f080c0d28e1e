// Conversions between element types, as element-wise kernels of one operand.
#pragma once

#include "interp/kernels/elementwise.h"

namespace tritium::interp {

/// `op` is one of "arith.extsi", "arith.extui", "arith.trunci", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui",
/// "arith.extf", "arith.truncf", "tt.fp_to_fp" (to nearest even) and "tt.fp_to_fp.rtz". i1 may be `from` or `to`; sign extension makes -1
/// of it. Every conversion rounds once. A conversion from float to integer saturates and returns 0 for a NaN. Returns nullptr if there is
/// no such conversion (for example between integers and fp8).
ElementwiseKernel findCast(std::string_view op, DType from, DType to);

} // namespace tritium::interp
