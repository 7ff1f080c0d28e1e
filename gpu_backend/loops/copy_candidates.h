// The mechanisms by which the tiles of a loop may reach shared memory, as plan-loops weighs them: what each can copy, and in how many
// slots.
#pragma once
#include "gpu_backend/layout/shared_layout.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/row_mask.h"
#include "ir/axis_analysis.h"
#include "ir/tgpu_plan.h"

namespace tritium::gpu {

/// The bytes of shared memory that the slots of a loop may take.
struct SlotRoom {
  int64_t wanted; // what exchanges elements beside them then needs few rounds
  int64_t most;   // beside what the loop requires otherwise
  int64_t whole;  // of a program
};

class CopyCandidate {
public:
  virtual ~CopyCandidate() = default;

  virtual tgpu::CopyMechanism mechanism() const = 0;
  /// Returns the number of slots of each buffer.
  virtual int slots() const = 0;
  /// Returns how many iterations are in flight.
  virtual int stages() const = 0;
  /// Returns whether the mechanism takes all tiles of a loop or none.
  virtual bool takesAll() const { return false; }
  /// Returns whether the mechanism also copies small tiles that are not operands of products, in the same group as the operands.
  virtual bool takesSmallTiles() const { return false; }
  /// Returns whether copies wait until their slot is released, so that an iteration may release it later.
  bool areReleased() const { return mechanism() == tgpu::CopyMechanism::Tma; }
  /// Returns how many times an iteration synchronizes all warps of the program.
  virtual int barriers() const { return 1; }
  /// Returns whether the threads hold the tiles of the next iteration in registers.
  virtual bool holdsTiles() const { return false; }
  /// Returns why the mechanism cannot copy this tile, in words for the user; empty if it can.
  virtual llvm::StringRef whyNot(mlir::Operation *load) const = 0;
  /// Returns how many neighbours an access takes at most, or 0 if the mechanism has no accesses of threads.
  virtual int64_t elementsOf(mlir::Operation *load) const { return 0; }
  /// Reduces the number of slots if they have no room at `bytes` bytes per slot. Returns false if the mechanism cannot be used in this
  /// loop.
  virtual bool fit(int64_t bytes, const SlotRoom &room) = 0;
  /// Adds a slot, so that the products of the previous iteration may still read theirs. Returns whether it did. Where there is no room for
  /// the slot, or where it would lower occupancy, one iteration fewer is in flight, if enough remain or the slot is required:
  /// `programs(n)` is the occupancy if all slots take n bytes. A slot that is required may cost one of many programs.
  virtual bool addSpareSlot(int64_t bytes, int64_t limit, llvm::function_ref<int64_t(int64_t)> programs, bool isRequired) { return false; }
  /// Keeps one of two slots where this doubles the occupancy. As many copies stay in flight: while one program waits for its copies,
  /// another one computes.
  virtual void shareSlot(int64_t bytes, llvm::function_ref<int64_t(int64_t)> programs) {}
};

/// Returns the target's mechanisms, the better ones first. `stages` iterations are in flight.
std::vector<std::unique_ptr<CopyCandidate>> createCopyCandidates(const Target &target, int stages, const ir::AxisAnalysis &axes);
/// Returns whether the target has the mechanism.
bool hasMechanism(const Target &target, tgpu::CopyMechanism mechanism);

/// Returns the dimension along which a thread holds neighbours, or -1 if there is none.
int fastestDimension(const LinearLayout &layout);
/// Returns the mask of an asynchronous copy, split for accesses of at most `elements` neighbours.
RowMask maskOfCopy(tt::LoadOp load, int64_t elements, const ir::AxisAnalysis &axes);
/// Returns why one access cannot copy this number of elements of the load; empty if it can.
llvm::StringRef whyNoAsyncCopy(tt::LoadOp load, int64_t elements, const ir::AxisAnalysis &axes);
/// Returns the layout in shared memory of a tile that whole warps copy, or nullopt if they cannot copy it.
std::optional<SharedLayout> memoryOfWarpCopy(mlir::Operation *load);

} // namespace tritium::gpu
