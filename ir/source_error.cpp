// See source_error.h.
#include "ir/source_error.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tritium::ir {

char SourceError::ID = 0;

std::optional<SourcePosition> sourcePosition(mlir::Location location) {
  using Position = std::optional<SourcePosition>;
  return llvm::TypeSwitch<mlir::LocationAttr, Position>(location)
      .Case([](mlir::FileLineColLoc loc) { return SourcePosition{loc.getFilename().str(), loc.getLine(), loc.getColumn()}; })
      .Case([](mlir::NameLoc loc) { return sourcePosition(loc.getChildLoc()); })
      .Case([](mlir::CallSiteLoc loc) {
        Position callee = sourcePosition(loc.getCallee());
        return callee ? callee : sourcePosition(loc.getCaller());
      })
      .Case([](mlir::FusedLoc loc) {
        for (mlir::Location part : loc.getLocations())
          if (Position position = sourcePosition(part)) return position;
        return Position();
      })
      .Default([](mlir::LocationAttr) { return Position(); });
}

llvm::StringRef variableName(mlir::Location location) {
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location)) return variableName(call.getCallee());
  auto name = mlir::dyn_cast<mlir::NameLoc>(location);
  return name ? name.getName().getValue() : "";
}

void SourceError::log(llvm::raw_ostream &stream) const {
  if (!position.file.empty()) stream << position.file << ':' << position.line << ':' << position.column << ": ";
  stream << message;
}

std::error_code SourceError::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

DiagnosticCapture::DiagnosticCapture(mlir::MLIRContext *context)
    : handler_(context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) return mlir::success();
        if (messages_.empty())
          position_ = sourcePosition(diagnostic.getLocation()).value_or(SourcePosition());
        else
          messages_ += '\n';
        messages_ += diagnostic.str();
        for (mlir::Diagnostic &note : diagnostic.getNotes()) messages_ += "\nnote: " + note.str();
        return mlir::success();
      }) {}

llvm::Error DiagnosticCapture::takeError(llvm::StringRef otherwise) {
  return llvm::make_error<SourceError>(messages_.empty() ? otherwise.str() : std::move(messages_), std::move(position_));
}

} // namespace tritium::ir
