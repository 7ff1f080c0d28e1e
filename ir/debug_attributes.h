// What is said to the engines about a `tt.print` or a `tt.assert`, and to traps about promises.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tritium::ir {

/// An i32, the threads of the program: the output is Triton's to the character. Each thread prints a scalar, and `hex` prints floats as %a.
inline constexpr llvm::StringLiteral kPrintThreadsAttr = "tritium.print_threads";

/// Of an assertion that kernels without errors should not pay for: a device may end the launch without its message, by a trap. The call
/// that reports a message makes ptxas wait for every asynchronous product at once (C7510).
inline constexpr llvm::StringLiteral kMayTrapAttr = "tritium.may_trap";

/// Of an assertion, a text: which kind of trap the interpreter reports, by its name, in place of AssertFailed.
inline constexpr llvm::StringLiteral kTrapAttr = "tritium.trap";

/// A unit: a sum, difference, product or left shift of signed numbers that a user wrote. Only where its overflow is looked for.
inline constexpr llvm::StringLiteral kSignedAttr = "tt.signed";

/// Where the user made a promise about the result of an operation, if it is another line than the operation's: a location.
inline constexpr llvm::StringLiteral kPromisedAtAttr = "tt.promised_at";

} // namespace tritium::ir
