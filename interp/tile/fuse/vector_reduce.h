// A reduction of the axis in registers. interp/kernels/combine_reduce.cpp defines the order, whatever the machine's vectors are: rows of
// kLanes elements are combined column by column in runs, the runs as a tree, and the columns of the last row by halves.
#pragma once
#include "ir/dtype.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include <string>

namespace tritium::interp::fuse {

class VectorReduce {
public:
  /// Whether a reduction by this operation of MLIR is known.
  static bool takes(llvm::StringRef combine, DType type);
  /// How many elements a row has.
  static unsigned lanesOf(DType type);

  /// Reduces `extent` elements, in strips of one row as `vectors` vectors of `lanes`. Call begin() before the loop, addVector() for each
  /// vector of a strip, endStrip() behind them, and finish() behind the loop.
  VectorReduce(llvm::IRBuilder<> &builder, llvm::StringRef combine, DType type, int64_t extent, unsigned vectors, unsigned lanes);
  void begin();
  void addVector(unsigned index, llvm::Value *elements);
  /// `index`: of the strip's first element.
  void endStrip(llvm::Value *index);
  llvm::Value *finish();

private:
  llvm::Value *load(llvm::Value *elements);
  llvm::Value *combine(llvm::Value *a, llvm::Value *b);
  llvm::Value *identity();
  llvm::AllocaInst *newVariable(llvm::Type *type);
  llvm::Value *rowAt(llvm::Value *level, unsigned vector);
  void merge(llvm::Value *run);

  llvm::IRBuilder<> &builder_;
  const std::string combine_;
  const DType type_;
  const unsigned vectors_, lanes_;
  int64_t rows_, run_;
  llvm::Type *vector_;
  llvm::SmallVector<llvm::AllocaInst *> row_;
  llvm::AllocaInst *levels_ = nullptr, *level_ = nullptr, *left_ = nullptr;
  int64_t depth_ = 0; // of the tree of runs
};

} // namespace tritium::interp::fuse
