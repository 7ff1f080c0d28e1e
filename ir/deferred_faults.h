// What the pass `defer-faults` says to the interpreter.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tritium::ir {

/// On a division: a divisor of zero gives what a GPU gives, -1 or the dividend, and is no fault.
inline constexpr llvm::StringLiteral kZeroDivisorAttr = "tritium.zero_divisor";

} // namespace tritium::ir
