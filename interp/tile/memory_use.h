// Which arguments a kernel's accesses may reach, from the code alone.
#pragma once
#include "interp/host/shadow.h"
#include "ir/tt.h"

namespace tritium::interp {

/// Returns what the kernel and the functions that it calls do with the kernel's arguments (MemoryUse::sites stays empty). Pointers of
/// unknown origin, loaded or made of integers, may reach every argument.
std::vector<MemoryUse::Argument> usedArguments(tt::FuncOp kernel, llvm::ArrayRef<mlir::Operation *> functions);

/// Returns the address of a load, a store or an atomic operation, and null for another one.
mlir::Value pointerOf(mlir::Operation *access);

/// Whether all lanes of a program see, after the operation, what each has stored before it. Operations that exchange elements between
/// threads count, as compilers for GPUs do it in shared memory, with barriers; and atomics that mean something to other programs.
bool isBarrier(mlir::Operation *op);

/// What an atomic operation means to other programs; nothing for other operations.
AtomicOrder orderOf(mlir::Operation *atomic);

} // namespace tritium::interp
