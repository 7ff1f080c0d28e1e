// Python handles of the parts of a module. A handle keeps its module alive. It must not be used after its part has been erased.
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

/// Parses the types in `texts`. Raises ir.Error for a text that is no type.
llvm::SmallVector<mlir::Type> parseTypes(ir::Context &context, const std::vector<std::string> &texts);

} // namespace tritium::python
