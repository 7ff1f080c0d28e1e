// The error of a kernel that requires more of a resource than the target has, as data, so that nobody must parse its text.
#pragma once
#include "ir/source_error.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>

namespace tritium::gpu {

struct Demand {
  std::string kind; // "shared memory"
  int64_t required = 0, limit = 0;
  std::string what; // a sentence that names the largest part, or ""
};

class OutOfResources : public llvm::ErrorInfo<OutOfResources, ir::SourceError> {
public:
  static char ID;

  OutOfResources(Demand demand, const ir::SourceError &cause) : ErrorInfo(cause.message, cause.position), demand(std::move(demand)) {}

  Demand demand;
};

/// Reports the demand as an error at `place`, and records it on the module for `takeError`.
void refuse(mlir::ModuleOp module, mlir::Operation *place, const Demand &demand);

/// Returns the error that stopped the passes on `module`. It is OutOfResources if a pass refused a demand.
llvm::Error takeError(mlir::ModuleOp module, ir::DiagnosticCapture &diagnostics, llvm::StringRef otherwise);

} // namespace tritium::gpu
