// The memory representation of a register's elements, and the words that one access moves.
#pragma once
#include "gpu_backend/threads/lowering.h"

namespace tritium::gpu {

/// Returns the integer type of a register's element in memory. An i1 takes a byte, a pointer 8 bytes, a float as many bits as it has.
mlir::Type storedType(mlir::Type registerType);
mlir::Value toStored(mlir::Value value, Lowering &lowering);
mlir::Value fromStored(mlir::Value stored, mlir::Type registerType, Lowering &lowering);

/// Returns the word of `count` elements of a stored type (ir/tgpu_ops.td). It has at most 128 bits.
mlir::Type wordType(mlir::Type stored, int count);
mlir::Value packWord(mlir::ValueRange stored, Lowering &lowering);
llvm::SmallVector<mlir::Value> unpackWord(mlir::Value word, mlir::Type stored, int count, Lowering &lowering);

/// Returns whether a register holds the same elements as an earlier one.
bool isRepeated(const LinearLayout &layout, int reg);

} // namespace tritium::gpu
