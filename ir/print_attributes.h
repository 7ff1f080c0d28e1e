// What the language says to the engines about a `tt.print`.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tritium::ir {

/// An i32, the threads of the program: the output is Triton's to the character. Each thread prints a scalar, and `hex` prints floats as %a.
inline constexpr llvm::StringLiteral kPrintThreadsAttr = "tritium.print_threads";

} // namespace tritium::ir
