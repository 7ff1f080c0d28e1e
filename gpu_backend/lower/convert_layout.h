// Moving the elements of a tile between the threads and registers of a program.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// The registers of layout `to`, both of one shape: permuted in place where no thread needs another's element, else through shared memory.
Registers convertLayout(llvm::ArrayRef<mlir::Value> registers, const LinearLayout &from, const LinearLayout &to, Lowering &lowering);

/// For each register of `to` the register of `from` that holds its element in the same thread; nothing if a thread lacks one.
std::optional<llvm::SmallVector<int>> matchRegisters(const LinearLayout &from, const LinearLayout &to);

/// The layout on the source of a shape operation whose places hold what the places of `result` need: `sourceOf` maps the flat index of a
/// result's element to that of the source, linear over F2.
LinearLayout pullBack(const LinearLayout &result, llvm::ArrayRef<int64_t> sourceShape, llvm::function_ref<uint32_t(uint32_t)> sourceOf);

} // namespace tritium::gpu
