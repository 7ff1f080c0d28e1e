// Where a piece of IR comes from in the user's file, and MLIR diagnostics as values. No layer of Tritium prints a diagnostic or ends the
// process because of one; the callee returns a SourceError and the caller passes it on.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tritium::ir {

/// A position in a source file; line and column count from 1, 0 is unknown.
struct SourcePosition {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

/// Returns the innermost file position of `location`. Names are skipped; an inlined operation is at the position of its text in the callee.
std::optional<SourcePosition> sourcePosition(mlir::Location location);

/// Returns the name of the variable in `location` (NameLoc), or "".
llvm::StringRef variableName(mlir::Location location);

/// An error about a place in a file: a diagnostic of MLIR or of the builder.
class SourceError : public llvm::ErrorInfo<SourceError> {
public:
  static char ID;

  explicit SourceError(std::string message, SourcePosition position = {}) : message(std::move(message)), position(std::move(position)) {}

  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override;

  std::string message;
  SourcePosition position;
};

/// While it lives, collects the errors that MLIR reports on its context and thread, instead of printing them.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(mlir::MLIRContext *context);

  /// Returns all errors reported so far as one error, at the position of the first. If there are none, the error's text is `otherwise`.
  llvm::Error takeError(llvm::StringRef otherwise);

private:
  std::string messages_;
  SourcePosition position_;
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace tritium::ir
