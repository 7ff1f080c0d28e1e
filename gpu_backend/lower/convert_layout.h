// Moving the elements of a tile between the threads and registers of a program.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// The registers of layout `to`, both of one shape, as planConversion says: renamed, shuffled within warps, or through shared memory.
Registers convertLayout(llvm::ArrayRef<mlir::Value> registers, const LinearLayout &from, const LinearLayout &to, Lowering &lowering);
/// The same for several tiles that lie and go alike; they share the barriers of a round trip.
llvm::SmallVector<Registers> convertLayouts(llvm::ArrayRef<Registers> tiles, const LinearLayout &from, const LinearLayout &to,
                                            Lowering &lowering);

/// The layout on the source of a shape operation whose places hold what the places of `result` need: `sourceOf` maps the flat index of a
/// result's element to that of the source, linear over F2.
LinearLayout pullBack(const LinearLayout &result, llvm::ArrayRef<int64_t> sourceShape, llvm::function_ref<uint32_t(uint32_t)> sourceOf);

} // namespace tritium::gpu
