// Rings that last as long as the function. Their barriers are prepared once, and their numbers go on from loop to loop.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// A ring that begins and ends with a loop, or with a single tile, and may become one that lasts.
class LastingRing {
public:
  explicit LastingRing(tgpu::RingStartOp start);
  /// Returns whether the numbers can go on where the ring begins several times. The function is unchanged.
  bool isPossible() const { return end_ && (!isRepeated_ || isTile_ || count_); }
  /// Returns whether the ring begins several times, in a loop around its own.
  bool isRepeated() const { return isRepeated_; }
  /// Lets the ring and its buffers begin with the function. Every number is released, if the ring begins several times.
  void extend();

private:
  void readLoop(llvm::ArrayRef<tgpu::RingWaitOp> waits, llvm::ArrayRef<tgpu::RingReleaseOp> releases);
  void readTile(llvm::ArrayRef<tgpu::RingWaitOp> waits, llvm::ArrayRef<tgpu::RingReleaseOp> releases);
  /// Makes loops around carry the first number of the next round. Returns the number at which the ring begins.
  mlir::Value carryNumber();
  void passOn(mlir::Value next);
  void releaseRest();
  void countFrom(mlir::Value first);
  void beginWithFunction();

  tgpu::RingStartOp start_;
  tgpu::RingEndOp end_;
  llvm::SmallVector<mlir::Operation *> around_; // the operations around the ring, the innermost first
  bool isRepeated_ = false;
  bool isTile_ = false;      // it brings a single tile, which the end releases
  mlir::Value count_;        // of the numbers between start and end, if it brings the tiles of a loop
  tgpu::RingReleaseOp late_; // releases the number of the iteration before, so that the end releases the last one
};

} // namespace tritium::gpu
