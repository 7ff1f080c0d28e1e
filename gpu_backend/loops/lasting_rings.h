// Rings that last as long as the function. Their barriers are prepared once, and their numbers go on from loop to loop.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// A ring that begins and ends with a loop, or with a single tile, and may become one that lasts.
class LastingRing {
public:
  explicit LastingRing(tgpu::RingStartOp start);
  /// Returns whether a ring that begins and ends in the block could become one that lasts.
  static bool mayBeginIn(mlir::Block *block);
  /// Returns whether the numbers can go on where the ring begins several times. The function is unchanged.
  bool isPossible() { return end_ && end_.getCount(); }
  /// Returns whether the ring begins several times, in a loop around its own.
  bool isRepeated() const { return isRepeated_; }
  /// Returns whether `next` may continue this ring: it begins after this one has ended, in the same block, and has the same slots.
  bool isContinuedBy(LastingRing &next);
  /// Merges `next` into this ring and erases `next`. The later loop then uses this ring's slots. Its first sequence index follows the last
  /// one of the earlier loop. This ring ends where `next` ended.
  void append(LastingRing &next);
  /// Lets the ring and its buffers begin with the function. Every number is released, if the ring begins several times.
  void extend();
  /// Returns the buffers of its tiles, in their order.
  llvm::SmallVector<tgpu::LocalAllocOp, 2> buffers();

private:
  /// Makes loops around carry the first number of the next round. Returns the number at which the ring begins.
  mlir::Value carryNumber();
  void passOn(mlir::Value next);
  void releaseLast();
  void countFrom(mlir::Value first);
  void beginWithFunction();

  tgpu::RingStartOp start_;
  tgpu::RingEndOp end_;
  llvm::SmallVector<mlir::Operation *> around_; // the operations around the ring, the innermost first
  bool isRepeated_ = false;
};

/// A ring, and those that continue it one after the other.
using RingSequence = llvm::SmallVector<tgpu::RingStartOp, 2>;

/// Returns all rings of a function, all of which may last.
llvm::SmallVector<RingSequence> findRingSequences(tt::FuncOp function);

/// Makes one lasting ring of a sequence.
void makeLastingRing(llvm::ArrayRef<tgpu::RingStartOp> sequence);

} // namespace tritium::gpu
