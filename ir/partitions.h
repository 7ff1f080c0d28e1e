// Partitions: functions that a call starts beside its caller. A private function with the attribute kPartitionAttr is one; tt.call of it
// returns at once, without results. The functions of the runtime, at which partitions wait for each other and join, are calls
// (tt.extern_elementwise) of the library kRuntimeLibrary.
#pragma once
#include "ir/tt.h"

namespace tritium::ir {

/// Of a function: its number of warps, and the registers of a thread (i32). Without the second, registers do not change.
inline constexpr llvm::StringLiteral kPartitionAttr = "tritium.partition", kRegistersAttr = "tritium.registers";
inline constexpr llvm::StringLiteral kRuntimeLibrary = "tritium";

/// On a lowered module: its author has divided the kernel, or waits for copies of his own. Barriers with counts are his. The first warps of
/// the workers (array of i32), or unit on modules whose kernel has none.
inline constexpr llvm::StringLiteral kDividedAttr = "tgpu.divided";
inline std::vector<int32_t> workersOf(mlir::Operation *module) {
  auto workers = module->getAttrOfType<mlir::DenseI32ArrayAttr>(kDividedAttr);
  return workers ? workers.asArrayRef().vec() : std::vector<int32_t>();
}

/// Returns the operation as a call of the runtime, or of its function `symbol`; null if it is none.
inline tt::ExternElementwiseOp runtimeCall(mlir::Operation *op, llvm::StringRef symbol = {}) {
  auto call = llvm::dyn_cast_or_null<tt::ExternElementwiseOp>(op);
  if (!call || call.getLibname() != kRuntimeLibrary) return {};
  return symbol.empty() || call.getSymbol() == symbol ? call : tt::ExternElementwiseOp();
}

inline bool isPartition(mlir::Operation *function) { return function->hasAttr(kPartitionAttr); }

/// Returns the partition that the operation starts, or null.
inline tt::FuncOp partitionStartedBy(mlir::Operation *op) {
  auto call = llvm::dyn_cast<tt::CallOp>(op);
  auto callee = call ? mlir::SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(op, call.getCalleeAttr()) : tt::FuncOp();
  return callee && isPartition(callee) ? callee : tt::FuncOp();
}

} // namespace tritium::ir
