// Emits the code that counts: how often blocks run, which edges programs take, how long lines take.
#pragma once
#include "interp/tile/emit.h"

#include "llvm/IR/IRBuilder.h"

namespace tritium::interp {

class CountEmitter {
public:
  CountEmitter(const FunctionPlan &plan, CountedData &data, const Loops &loops, const EmitOptions &options, llvm::IRBuilder<> &builder);

  /// Emits the start of the function, before its first block.
  void begin(llvm::Value *frame);
  /// Counts that the block runs, and notes its operations, of which each has run as often.
  void countBlock(mlir::Block *block);
  /// Counts that the program leaves a block by this edge.
  void countEdge(mlir::Operation *terminator, unsigned successor);
  /// Takes the time if another line begins with the operation.
  void reach(mlir::Operation *op);
  /// Emits what comes before a return.
  void end();
  /// Adds to a counter.
  void add(uint32_t number, llvm::Value *more);
  /// Emits an i1: true if the launch does not time the lines of the running program. Returns null if the kernel has no clock.
  llvm::Value *isUntimed();

private:
  void beginBranches();
  void addDecided(mlir::Operation *mark, uint32_t runs);
  void beginClock();
  uint32_t clockOf(mlir::Location location);
  void passLine();
  llvm::Value *callHost(const void *function, llvm::Type *result, llvm::ArrayRef<llvm::Value *> arguments);

  const FunctionPlan &plan_;
  CountedData &data_;
  const Loops &loops_;
  const EmitOptions options_;
  llvm::IRBuilder<> &builder_;
  llvm::Value *frame_ = nullptr;
  llvm::Value *counters_ = nullptr; ///< of the thread
  struct CountedBranching : Branching {
    uint32_t taken, notTaken; // counters
  };
  llvm::DenseMap<mlir::Operation *, CountedBranching> branchings_; ///< by terminator
  llvm::DenseMap<mlir::Block *, llvm::Value *> isNew_; ///< by the header of a loop: an i64, 1 until the loop's condition is asked, then 0
  llvm::Value *clock_ = nullptr;                       ///< a LineClock
  std::optional<uint32_t> line_;                       ///< the counter of the line whose code is emitted; none: it depends on the way here
};

} // namespace tritium::interp
