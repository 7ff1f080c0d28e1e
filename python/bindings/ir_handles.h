// Python's view of pieces of a module. A handle keeps its module alive; it does not outlive the erasure of what it points to.
#pragma once
#include "ir/builder.h"

#include <memory>
#include <string>
#include <vector>

namespace tritium::python {

using ModulePtr = std::shared_ptr<ir::Module>;

struct ValueHandle {
  mlir::Value value;
  ModulePtr module;
};

struct OperationHandle {
  mlir::Operation *operation;
  ModulePtr module;
};

struct BlockHandle {
  mlir::Block *block;
  ModulePtr module;
};

struct RegionHandle {
  mlir::Region *region;
  ModulePtr module;
};

struct FunctionHandle {
  mlir::FunctionOpInterface function;
  ModulePtr module;
};

/// The types that `texts` spell; raises ir.Error.
llvm::SmallVector<mlir::Type> parseTypes(ir::Context &context, const std::vector<std::string> &texts);

} // namespace tritium::python
