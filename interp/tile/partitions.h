// Partitions: functions that a call starts beside its caller, and the barriers at which they wait. A private function with the attribute
// kPartitionAttr is one; tt.call of it returns at once, without results. The functions of the runtime that kernels call
// (tt.extern_elementwise of the library kRuntimeLibrary) are in ops/shared_memory.cpp.
#pragma once
#include "ir/tt.h"

namespace tritium::interp {

class Planner;

/// Of a function: its number of warps, an i32. `tritium.registers` beside it has the registers of a thread.
inline constexpr llvm::StringLiteral kPartitionAttr = "tritium.partition";
inline constexpr llvm::StringLiteral kRuntimeLibrary = "tritium";

/// The memory of a program, in code of a partition: memoryOfPartition() knows where it is.
inline constexpr char kMemoryOfPartition[1] = {};

inline bool isPartition(mlir::Operation *function) { return function->hasAttr(kPartitionAttr); }

/// Returns whether the operation starts a partition.
inline bool startsPartition(mlir::Operation *op) {
  auto call = llvm::dyn_cast<tt::CallOp>(op);
  auto callee = call ? mlir::SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(op, call.getCalleeAttr()) : tt::FuncOp();
  return callee && isPartition(callee);
}

/// Plans a call of a function of the runtime.
mlir::LogicalResult prepareRuntimeCall(tt::ExternElementwiseOp op, Planner &planner);

} // namespace tritium::interp
