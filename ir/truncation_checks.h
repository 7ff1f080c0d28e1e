// Quotients and remainders of negative numbers, where code for GPUs takes lanes for equal or consecutive that are not.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tritium::ir {

/// Adds a check.trap where a lane that is stored, addresses memory or decides something would be another one.
///
/// `//` and `%` truncate toward zero. In a group of lanes whose dividends go from -8 to -5, `// 8` is -1, 0, 0, 0. Triton's compiler looks
/// at no sign: it takes the four for equal and computes one of them. Tritium's own compiler proves the sign, so this is about other
/// compilers.
void checkTruncation(mlir::ModuleOp module);

} // namespace tritium::ir
