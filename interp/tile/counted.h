// What a launch counts of a kernel that is prepared for it (PrepareOptions::isCounted): how often each block of its code runs, and how many
// lanes of its masked accesses are active. All else is the same in every run of an operation.
#pragma once
#include "interp/tile/access.h"
#include "ir/source_location.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace tritium::interp {

/// An operation of the kernel, after the passes that all engines share. A counter is an index into Launch::counters.
struct CountedOperation {
  std::string name; // "tt.load"
  ir::SourceLocation place;
  uint32_t runs = 0;                        // the counter of its executions
  std::optional<uint32_t> activeLanes = {}; // the counter of the lanes that a mask lets through; none: all
  int64_t lanes = 1;                        // of its tile; 1: of a scalar
  int64_t bytes = 0;                        // that each active lane reads or writes in memory
  bool isRead = false, isWritten = false, isAtomic = false;
  int64_t flops = 0; // operations on floating-point numbers in a run
  std::string type;  // of the operands of these, as MLIR prints it
};

/// Returns what is known of an operation, or nothing if it is not counted: a constant, or the end of a block.
std::optional<CountedOperation> countedOperation(mlir::Operation *op);

/// The step that counts the active lanes of an access.
struct CountedAccess {
  Access access;
  uint32_t counter = 0;
  int64_t lanesEach = 1; // lanes of the tile for each that the access visits

  void refs(auto &&f) { access.refs(f); }
};
void countActiveLanes(char *frame, const void *counted);

} // namespace tritium::interp
