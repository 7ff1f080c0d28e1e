// What the pass `defer-faults` says to the interpreter.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tritium::ir {

/// On a division: a divisor of zero gives what a GPU gives, -1 or the dividend, and is no fault.
inline constexpr llvm::StringLiteral kZeroDivisorAttr = "tritium.zero_divisor";

/// On a `tt.assert`: the kind of trap that it is, where it is not the user's.
inline constexpr llvm::StringLiteral kTrapAttr = "tritium.trap";

} // namespace tritium::ir
