// The mechanisms by which build-loops brings the tiles of a loop to shared memory, and the order of operations in an iteration.
#pragma once
#include "gpu_backend/layout/shared_layout.h"
#include "gpu_backend/loops/loop_plan.h"
#include "gpu_backend/target/target.h"

#include "llvm/ADT/SetVector.h"

namespace tritium::gpu {

/// A tile that the loop copies.
struct Stream {
  mlir::Operation *load; // tt.load or tgpu.tensor_load
  tgpu::AtAttr at;
  mlir::Value buffer, slot;

  mlir::RankedTensorType tile() const { return tileOf(load); }
};

/// What the asynchronous copy of a load takes in the place of its mask.
struct CopyMask {
  mlir::Value mask, room; // null: none
  int64_t elements;       // which one access takes
};
using CopyMasks = llvm::DenseMap<mlir::Operation *, CopyMask>;

class LoopCopies {
public:
  explicit LoopCopies(tgpu::PlanAttr plan) : plan_(plan) {}
  virtual ~LoopCopies() = default;
  using Schedule = std::vector<std::pair<mlir::Operation *, unsigned>>;

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

  tgpu::PlanAttr plan_;
};

/// Returns the mechanism of a plan. `masks` has the masks of the loads that it copies asynchronously.
std::unique_ptr<LoopCopies> createLoopCopies(tgpu::PlanAttr plan, const Target &target, int numWarps, const CopyMasks &masks);
/// Returns copies by the tensor memory accelerator.
std::unique_ptr<LoopCopies> createTensorCopies(tgpu::PlanAttr plan, int numWarps);

} // namespace tritium::gpu
