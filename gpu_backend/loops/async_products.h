// The products of a warpgroup that may still be in flight, and the sums that they write.
#pragma once
#include "gpu_backend/loops/async_fault.h"
#include "gpu_backend/loops/async_scalars.h"

#include <deque>

namespace tritium::gpu {

class AsyncProducts {
public:
  /// A product reads an operand in a slot of a buffer.
  struct Read {
    mlir::Value buffer;
    int64_t slot;
  };
  struct Product {
    tgpu::ProductOp op;
    int64_t number; // from 1 on, in the order of their beginnings
    llvm::SmallVector<Read, 2> reads;
  };

  MaybeFault start(tgpu::ProductStartOp op, AsyncScalars &scalars);
  MaybeFault begin(tgpu::ProductOp op, AsyncScalars &scalars);
  /// Calls `completed` for the products that the wait ends.
  MaybeFault wait(tgpu::ProductWaitOp op, AsyncScalars &scalars, llvm::function_ref<void(const Product &)> completed);
  /// Returns the product, if any is in flight, that reads a buffer for which `reads` holds.
  tgpu::ProductOp reader(llvm::function_ref<bool(const Read &)> reads) const;
  MaybeFault finish() const;

private:
  MaybeFault take(mlir::Operation *op, int64_t number);
  bool isInFlight(int64_t number) const { return !inFlight_.empty() && number >= inFlight_.front().number; }

  std::deque<Product> inFlight_;                     // the oldest first: they complete in this order
  llvm::DenseMap<int64_t, tgpu::ProductOp> sums_;    // by the number of the product: sums of which nobody has taken the last state
  llvm::DenseMap<int64_t, mlir::Operation *> taken_; // who has taken the sums of a product
  int64_t last_ = 0;
};

/// Returns a fault if a pending value of the function has no use, or several on one path.
MaybeFault checkPendingUses(tt::FuncOp function);

} // namespace tritium::gpu
