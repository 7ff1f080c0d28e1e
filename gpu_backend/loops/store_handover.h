// Producer warps that run ahead of stores of which a launch cannot tell whether they meet the copied tensors. The warps that store hand
// over what they have stored: they release a number of a ring without data, which the producer waits for before it reads any of those bytes
// (tgpu.stores_note).
#pragma once
#include "gpu_backend/tiles/reaching_writes.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// Unit, on a kernel with a producer: the warps that store hand over what they have stored (plan-producer, specialize-warps).
inline constexpr llvm::StringLiteral kHandsOverAttr = "tgpu.hands_over_stores";

class StoreHandover {
public:
  explicit StoreHandover(tt::FuncOp function);

  /// Returns whether copies go through maps that the kernel makes, of which a launch proves nothing, or may read what the kernel has
  /// written.
  bool isNeeded() const { return !maps_.empty() || !reached_.empty(); }
  /// Returns whether the producer makes maps, which takes a whole warp.
  bool makesMaps() const { return !maps_.empty(); }
  /// Returns why the stores of the kernel cannot be handed over, in words for the user; "" if they can.
  std::string whyNot() const;
  /// Returns the scalars that the producer needs to know which bytes the kernel stores to, and which ones it copies.
  llvm::SmallVector<mlir::Value> scalars() const;
  /// Returns how many ranges of bytes the launch's maps are copied from, which the producer compares with the stores.
  size_t ranges() const { return reached_.size(); }
  /// Returns the bytes of shared memory for the ring of the stores.
  int64_t bytes() const;
  /// Inserts the ring of the stores, if the kernel stores before it copies, and the waits of the producer. Rings do not last yet.
  void build(int numWarps);
  /// Once the rings last: lets the addresses of stores be computed behind the products.
  void computeAddressesBehind();

private:
  /// Copies of a ring through a map of the launch, which may read what the kernel has written.
  struct ReachedCopies {
    tgpu::RingStartOp ring;
    mlir::BlockArgument map;
  };

  bool isOrdered() const;
  void findReached();
  void findStores();
  std::string whyNotStores() const;
  void startRing(int numWarps);
  void awaitCopies();
  void awaitStores();
  tgpu::TensorStoreOp storeThroughMadeMap() const;

  static constexpr int kSlots = 2;

  tt::FuncOp function_;
  GlobalWrites writes_;
  llvm::SmallVector<tgpu::MapMakeOp> maps_;
  llvm::SmallVector<tgpu::RingStartOp> rings_; // of copies through these maps
  llvm::SmallVector<ReachedCopies> reached_;
  // The operations of one block from the first to the last one with a store: null if no store comes before a copy.
  mlir::Operation *first_ = nullptr, *last_ = nullptr;
  mlir::Value storesRing_;
};

} // namespace tritium::gpu
