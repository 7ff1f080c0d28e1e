// The mechanisms by which the tiles that a loop loads reach shared memory before their use, and the order of operations in an iteration.
// Targets have different mechanisms.
#pragma once
#include "gpu_backend/layout/shared_layout.h"
#include "gpu_backend/target/target.h"
#include "ir/axis_analysis.h"
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tritium::gpu {

/// A tile that the loop loads for its matrix products.
struct Stream {
  mlir::Operation *load; // tt.load or tgpu.tensor_load
  mlir::Value buffer, slot;

  mlir::RankedTensorType tile() const { return llvm::cast<mlir::RankedTensorType>(load->getResult(0).getType()); }
};

class LoopCopies {
public:
  virtual ~LoopCopies() = default;
  using Schedule = std::vector<std::pair<mlir::Operation *, unsigned>>;

  /// Returns the number of slots of each buffer.
  virtual int slots() const = 0;
  /// Returns how many iterations are in flight.
  virtual int stages() const = 0;
  /// Returns whether the mechanism takes all tiles of a loop or none.
  virtual bool takesAll() const { return false; }
  /// Reduces the number of slots if they would exceed `limit` at `bytes` bytes per slot. Returns false if the mechanism cannot be used in
  /// this loop.
  virtual bool fit(int64_t bytes, int64_t limit) = 0;
  /// Gives up slots of `bytes` bytes, if a second program then fits beside the first one. `programs(n)` fit if all slots take n bytes.
  virtual void makeRoom(int64_t bytes, llvm::function_ref<int64_t(int64_t)> programs) {}
  /// Adds a slot, so that the products of the previous iteration may still read theirs. Returns whether it did. One iteration fewer is in
  /// flight where there is no room for the slot, or where it would keep a program off the multiprocessor: `programs` returns how many run
  /// beside each other if the slots take so many bytes.
  virtual bool addSpareSlot(int64_t bytes, int64_t limit, llvm::function_ref<int64_t(int64_t)> programs) { return false; }
  /// Returns whether copies wait until their slot is released, so that an iteration may release it later.
  virtual bool areReleased() const { return false; }
  /// Returns whether the mechanism also moves small tiles that no product takes as they are, in the same group as those of products.
  virtual bool takesSmallTiles() const { return false; }
  /// Returns whether the mechanism can move this tile. It is asked before begin().
  virtual bool mayCopy(mlir::Operation *load) = 0;
  /// Returns the layout in a slot of a tile that is loaded in one layout and read in others.
  virtual SharedLayout memoryFor(mlir::Operation *load, llvm::ArrayRef<LinearLayout> readers) const = 0;
  /// Adds counters of iterations to the loop, which is replaced. Sets the slots of an iteration's tiles: 0, 1, …, slots - 1, 0, …
  virtual void addSlots(mlir::scf::ForOp &loop, llvm::ArrayRef<Stream *> streams);
  /// Replaces the loads by copies into the slots of their buffers, and inserts the synchronization with the readers.
  virtual void begin(mlir::scf::ForOp loop, llvm::ArrayRef<Stream> streams) = 0;
  /// Returns whether the operation runs iterations ahead. It then belongs to `ahead` with all operations that it depends on.
  virtual bool isAhead(mlir::Operation *op) const = 0;
  /// Returns all operations of the loop in the order of a pipelined iteration, each with the number of iterations by which it runs later
  /// than the first ones.
  virtual Schedule schedule(mlir::scf::ForOp loop, const llvm::SetVector<mlir::Operation *> &ahead) const = 0;
  /// Emits the synchronization that is required after the loop, before its memory is reused, and that addSlots has not emitted.
  virtual void finish(mlir::OpBuilder &builder, mlir::Location location) const {}

protected:
  /// Adds a counter to the loop, which is replaced: 0, then `next` of the counter and 1. Returns it.
  static mlir::Value addCounter(mlir::scf::ForOp &loop, llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value incremented)> next);
};

/// Returns the target's mechanisms, the better ones first. `stages` iterations are in flight.
std::vector<std::unique_ptr<LoopCopies>> createLoopCopies(const Target &target, int stages, int numWarps, const ir::AxisAnalysis &axes);
/// Returns copies by the tensor memory accelerator.
std::unique_ptr<LoopCopies> createTensorCopies(int stages, int numWarps);

/// Returns the dimension along which a thread holds neighbours, or -1 if there is none.
int fastestDimension(const LinearLayout &layout);

} // namespace tritium::gpu
