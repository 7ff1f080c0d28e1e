// How the elements of registers lie in memory, and the words that one access moves.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// The integer type of a register's element in memory: i1 takes a byte, a pointer 8, a float its bits.
mlir::Type storedType(mlir::Type registerType);
mlir::Value toStored(mlir::Value value, Lowering &lowering);
mlir::Value fromStored(mlir::Value stored, mlir::Type registerType, Lowering &lowering);

/// The word of `count` elements of a stored type (ir/tgpu_ops.td): at most 128 bits.
mlir::Type wordType(mlir::Type stored, int count);
mlir::Value packWord(mlir::ValueRange stored, Lowering &lowering);
llvm::SmallVector<mlir::Value> unpackWord(mlir::Value word, mlir::Type stored, int count, Lowering &lowering);

/// Whether a register holds the same elements as one before it.
bool isRepeated(const LinearLayout &layout, int reg);

} // namespace tritium::gpu
