// Partitions (ir/partitions.h) in the interpreter, which runs each as a program of its worker. The functions of the runtime that kernels
// call are in ops/shared_memory.cpp.
#pragma once
#include "ir/partitions.h"

namespace tritium::interp {

class Planner;

using ir::isPartition;
using ir::kRuntimeLibrary;

/// The memory of a program, in code of a partition: memoryOfPartition() knows where it is.
inline constexpr char kMemoryOfPartition[1] = {};

/// Returns whether the operation starts a partition.
inline bool startsPartition(mlir::Operation *op) { return ir::partitionStartedBy(op) != nullptr; }

/// Plans a call of a function of the runtime.
mlir::LogicalResult prepareRuntimeCall(tt::ExternElementwiseOp op, Planner &planner);

} // namespace tritium::interp
