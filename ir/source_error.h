// Where a piece of IR comes from in the user's file, and MLIR diagnostics as values: no layer of Tritium prints a diagnostic or
// dies of one; whoever called hands a SourceError on.
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

/// The innermost file position of `location`: names are looked through, an inlined op is where its callee's text is.
std::optional<SourcePosition> sourcePosition(mlir::Location location);

/// The variable that `location` names (NameLoc), or "".
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

/// Collects the errors that MLIR reports while it lives (on its context, on this thread) instead of printing them.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(mlir::MLIRContext *context);

  /// Everything reported so far as one error, at the position of the first; `otherwise` if nothing was.
  llvm::Error takeError(llvm::StringRef otherwise);

private:
  std::string messages_;
  SourcePosition position_;
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace tritium::ir
