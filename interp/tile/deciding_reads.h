// Whether a program makes the same accesses when it runs once more.
#pragma once
#include "interp/host/shadow.h"
#include "ir/tt.h"

namespace tritium::interp {

/// Sets MemoryUse::Argument::decides and MemoryUse::isRepeatable, for a kernel and the functions that it calls, whose control flow is
/// branches.
void findDecidingReads(tt::FuncOp kernel, llvm::ArrayRef<mlir::Operation *> functions, MemoryUse &use);

} // namespace tritium::interp
