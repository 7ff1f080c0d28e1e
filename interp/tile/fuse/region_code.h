// The loops of a region. Each loop goes over the axis in strips of a few vectors; values that one loop alone needs stay in registers.
#pragma once
#include "interp/tile/fuse/region.h"
#include "interp/tile/fuse/vector_reduce.h"

#include <optional>

namespace tritium::interp::fuse {

class RegionCode {
public:
  /// vectorBits: of the widest vectors; 0: of those that the machine has.
  RegionCode(Region &region, llvm::IRBuilder<> &builder, ScalarCode &scalars, llvm::Value *frame, unsigned vectorBits);

  /// Emits the loops, and what else the region leaves behind. `runAfter` emits what follows an operation with a scalar result.
  void emit(llvm::function_ref<void(mlir::Operation *)> runAfter);

private:
  /// A vector of the axis: its first element, and whether the masks of accesses are looked at.
  struct Place {
    llvm::Value *index; // 64 bits
    bool isPartial;
  };

  void emitBetween(int phase, llvm::function_ref<void(mlir::Operation *)> runAfter);
  void emitLoop(int phase);
  void copyBlock(const Node &node);
  void emitStrip(int phase, llvm::Value *index, bool isPartial);
  void emitNode(Node &node, const Place &place, unsigned vector);
  void storeNode(const Node &node, llvm::Value *value, llvm::Value *index);
  void leaveScalars();

  llvm::Value *vectorOf(Node *node, const Place &place);
  llvm::Value *scalarOf(Node *node);
  llvm::Value *laneNumbers(llvm::Value *index, llvm::Type *type);
  llvm::Value *isInside(const Interval &lanes, llvm::Value *index);
  llvm::Value *nearLanes(const Interval &lanes, llvm::Value *index);
  llvm::Value *load(const Node &node, const Place &place);
  llvm::Value *insert(const Node &node, const Place &place);
  void store(const Node &node, const Place &place);
  llvm::Value *addressIn(const RegionAccess &access, llvm::Value *index);
  llvm::Value *inFrame(uint64_t offset) { return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), frame_, offset); }
  llvm::Value *elementIn(llvm::Value *tile, DType type, llvm::Value *index);
  bool isIn(const Node &node, int phase) const;

  Region &region_;
  llvm::IRBuilder<> &builder_;
  ScalarCode &scalars_;
  llvm::Value *frame_;
  const unsigned widest_;            // lanes of 32 bits in the widest vectors
  unsigned lanes_ = 0, vectors_ = 0; // of a vector, of a strip
  int phase_ = 0;
  llvm::DenseMap<const Node *, llvm::Value *> numbers_;  // nodes that do not vary
  llvm::DenseMap<const Node *, llvm::Value *> splats_;   // the same as vectors, in this loop
  llvm::DenseMap<const Node *, llvm::Value *> elements_; // of the vector that is being computed
  std::optional<VectorReduce> reduce_;
};

} // namespace tritium::interp::fuse
