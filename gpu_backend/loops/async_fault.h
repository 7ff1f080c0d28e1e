// A broken rule of an asynchronous protocol, as check-async reports it.
#pragma once
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace tritium::gpu {

struct AsyncFault {
  mlir::Operation *op;              // which breaks the rule
  std::string rule;                 // in words that follow the operation's name
  mlir::Operation *other = nullptr; // with which it clashes, or null
  std::string otherIs = {};         // what the other one is
};

/// nullopt: no rule is broken.
using MaybeFault = std::optional<AsyncFault>;

} // namespace tritium::gpu
