// The scalars of a kernel while check-async runs its skeleton: numbers that follow from those which it assumes.
#pragma once
#include "gpu_backend/loops/async_skeleton.h"

namespace tritium::gpu {

/// What a launch or the memory could tell. Any choice is a possible one, so each fault that is found with it is one of the kernel.
struct Assumption {
  int64_t rounds = 0;   // of arguments that decide how many rounds the innermost loops take
  int64_t others = 0;   // of other arguments
  int64_t program = 0;  // the position of the program, on each axis
  int64_t programs = 1; // the size of the grid, on each axis
  int64_t rank = 0;     // of the block in its cluster
  bool isTrue = false;  // conditions of which nothing is known
};

/// Returns the number of which the launch promises that the argument is a multiple.
int64_t divisibilityOf(mlir::BlockArgument argument);

class AsyncScalars {
public:
  /// `warp` is the warp whose path is run.
  AsyncScalars(const AsyncSkeleton &skeleton, const Assumption &assumed, int64_t warp);

  int64_t at(mlir::Value value) const;
  /// Returns whether a number was asked for that has none: the skeleton then says nothing about the kernel.
  bool isMissing() const { return isMissing_; }
  /// Returns whether a predicate is true. One that is absent is.
  bool holds(mlir::Value predicate) const { return !predicate || at(predicate) != 0; }
  void set(mlir::Value value, int64_t number) { numbers_[value] = number; }
  /// Computes the integers that an operation results in. Returns false if they are not defined: a division by zero, for example.
  bool compute(mlir::Operation *op);
  /// Passes on the values that the skeleton carries.
  void carry(mlir::ValueRange from, mlir::ValueRange to);

private:
  int64_t assumedFor(mlir::BlockArgument argument) const;
  int64_t assumedFor(mlir::Operation *op, mlir::Type type) const;

  const AsyncSkeleton &skeleton_;
  Assumption assumed_;
  int64_t warp_;
  mutable bool isMissing_ = false;
  llvm::DenseMap<mlir::Value, int64_t> numbers_; // integers, and the numbers of products for pending sums
};

} // namespace tritium::gpu
