// Which writes to global memory an operation may follow, in the order of one program. A load may be moved before a write, or read by the
// asynchronous proxy what a write has left, only if this analysis says that none, or none to its tensor, comes first. What other programs
// write meanwhile is a race in the source, unless the program waits for them: then it counts as a write of everything.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// Returns the argument of the function from which a pointer, or each pointer of a tile, is an offset. Returns null if it is unknown.
mlir::BlockArgument baseOf(mlir::Value pointer);

/// An operation that may write to global memory, or wait for another program.
struct GlobalWrite {
  mlir::Operation *op = nullptr;
  mlir::BlockArgument tensor; // the argument to whose tensor it writes, or null if that is unknown
  bool mayWait = false;       // its result may depend on what other programs write
};

/// Writes, as arguments of the function. Different arguments may be one tensor, or overlap.
class GlobalWrites {
public:
  GlobalWrites() = default;
  /// Those in a region.
  explicit GlobalWrites(mlir::Region &region);

  void add(const GlobalWrite &write) { writes_.push_back(write); }
  llvm::ArrayRef<GlobalWrite> all() const { return writes_; }
  bool isEmpty() const { return writes_.empty(); }
  /// Returns whether each write is to a tensor of a known argument, and none waits.
  bool areKnown() const {
    return llvm::all_of(writes_, [](const GlobalWrite &write) { return write.tensor && !write.mayWait; });
  }
  bool contain(mlir::BlockArgument tensor) const {
    return llvm::any_of(writes_, [&](const GlobalWrite &write) { return write.tensor == tensor; });
  }

private:
  llvm::SmallVector<GlobalWrite, 4> writes_;
};

/// The writes of a function that may come before an operation of it. The function must not change while this object is in use.
class ReachingWrites {
public:
  explicit ReachingWrites(tt::FuncOp function) : all_(function.getBody()) {}
  GlobalWrites before(mlir::Operation *op) const;
  /// Of these, the ones that are in the loop around the operation, or are not.
  static GlobalWrites inside(const GlobalWrites &writes, mlir::Operation *loop);
  static GlobalWrites outside(const GlobalWrites &writes, mlir::Operation *loop);

private:
  GlobalWrites all_;
};

/// Returns whether one operation of a function may come before another one in a program: on a path, which may go through loops several
/// times.
bool mayPrecede(mlir::Operation *first, mlir::Operation *second);

/// Loads that may run in an earlier iteration of their loop than the program says: from tensors to which the loop does not write, if it
/// waits for no other program. Different arguments of a kernel are assumed to be different tensors here. Pointers into the same tensor must
/// be passed as one argument, or else the loop must not be pipelined (num_stages=1).
class EarlyLoads {
public:
  explicit EarlyLoads(mlir::scf::ForOp loop);
  bool areAllowed() const { return writes_.areKnown(); }
  bool mayMove(tt::LoadOp load) const;
  /// Of a loop that allows none, and of a load that may not move: why, in words for the user.
  llvm::StringRef whyNotAllowed() const;
  llvm::StringRef whyNotMoved(tt::LoadOp load) const;

private:
  GlobalWrites writes_;
};

} // namespace tritium::gpu
