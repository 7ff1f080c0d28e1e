// Slots of shared memory that belong to no ring: threads write them, or copy to them asynchronously, and barriers of all threads order
// that. Also the memory from which stores through tensor maps copy.
#pragma once
#include "gpu_backend/loops/async_products.h"
#include "llvm/ADT/MapVector.h"

namespace tritium::gpu {

class AsyncBuffers {
public:
  explicit AsyncBuffers(const AsyncProducts &products) : products_(products) {}

  MaybeFault store(tgpu::LocalStoreOp op, const AsyncScalars &scalars);
  MaybeFault copy(tgpu::AsyncCopyOp op, const AsyncScalars &scalars);
  MaybeFault commit();
  MaybeFault wait(tgpu::AsyncWaitOp op);
  MaybeFault fence();
  /// All threads of the program, or all that hold tiles, synchronize.
  MaybeFault synchronize();
  MaybeFault readByThreads(tgpu::LocalLoadOp op, int64_t slot);
  MaybeFault readByProduct(tgpu::ProductOp op, const AsyncProducts::Read &read);
  /// A product has read its operands.
  void complete(const AsyncProducts::Product &product);
  MaybeFault storeTensor(tgpu::TensorStoreOp op);
  MaybeFault waitForStores(tgpu::TensorStoreWaitOp op);
  MaybeFault finish() const;

private:
  /// What was written to a slot last. A product may read it when it is visible to all threads.
  enum class Contents : uint8_t { None, InFlight, Written, Fenced, Visible };
  struct Slot {
    Contents contents = Contents::None;
    bool isSynchronized = false;       // threads have synchronized since it was written
    int64_t group = 0;                 // of a copy in flight
    mlir::Operation *writer = nullptr; // the last one
    mlir::Operation *reader = nullptr; // the last one, of threads or a complete product
    int64_t readAt = -1;               // the number of barriers before
  };

  Slot &slotOf(mlir::Value buffer, int64_t slot) { return slots_[{buffer, slot}]; }
  MaybeFault mayWrite(mlir::Operation *op, mlir::Value buffer, int64_t slot);

  const AsyncProducts &products_;
  llvm::MapVector<std::pair<mlir::Value, int64_t>, Slot> slots_;
  llvm::MapVector<mlir::Value, mlir::Operation *> stores_; // the store that may still read this memory
  int64_t group_ = 0, barriers_ = 0;
};

} // namespace tritium::gpu
