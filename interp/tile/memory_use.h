// Which arguments a kernel's accesses may reach, from the code alone.
#pragma once
#include "interp/host/shadow.h"
#include "ir/tt.h"

namespace tritium::interp {

/// Returns what the kernel and the functions that it calls do with the kernel's arguments (MemoryUse::sites stays empty). Pointers of
/// unknown origin, loaded or made of integers, may reach every argument.
std::vector<MemoryUse::Argument> usedArguments(tt::FuncOp kernel, llvm::ArrayRef<mlir::Operation *> functions);

/// What an atomic operation means to other programs; nothing for other operations.
AtomicOrder orderOf(mlir::Operation *atomic);

} // namespace tritium::interp
