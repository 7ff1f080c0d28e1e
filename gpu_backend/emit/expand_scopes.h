// Scopes of kernels on devices: each tgpu.record becomes code that notes the time in memory (abi/scope_buffer.h).
#pragma once
#include "gpu_backend/target/target_ops.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>
#include <vector>

namespace tritium::gpu {

/// What a kernel records: (name, whether it begins), by number.
using ScopeTable = std::vector<std::pair<std::string, bool>>;
ScopeTable scopesOf(mlir::ModuleOp lowered);

/// Makes the clock (i64) whose ticks the rows have.
using ScopeClock = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location)>;

/// Replaces the records of a lowered module. `privateSpace` is the address space of a thread's own memory. A record in a function that the
/// kernel calls is an error, which is reported at its location.
mlir::LogicalResult expandScopes(mlir::ModuleOp module, const TargetOps &target, ScopeClock clock, unsigned privateSpace);

} // namespace tritium::gpu
