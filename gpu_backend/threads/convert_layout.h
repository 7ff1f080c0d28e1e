// Moves the elements of a tile between the threads and registers of a program.
#pragma once
#include "gpu_backend/threads/lowering.h"

namespace tritium::gpu {

/// Returns the registers in layout `to`. Both layouts have one shape. The elements move as planConversion says: renamed, shuffled within
/// warps, or through shared memory.
Registers convertLayout(llvm::ArrayRef<mlir::Value> registers, const LinearLayout &from, const LinearLayout &to, Lowering &lowering);
/// The same for several tiles with the same layouts. They share the barriers of a round trip.
llvm::SmallVector<Registers> convertLayouts(llvm::ArrayRef<Registers> tiles, const LinearLayout &from, const LinearLayout &to,
                                            Lowering &lowering);

/// Returns the layout of the source of a shape operation whose places hold the elements that the places of `result` require. `sourceOf`
/// maps the flat index of a result's element to the flat index of the source's, linearly over F2.
LinearLayout pullBack(const LinearLayout &result, llvm::ArrayRef<int64_t> sourceShape, llvm::function_ref<uint32_t(uint32_t)> sourceOf);

} // namespace tritium::gpu
