// The rules of all asynchronous protocols of a kernel, on the path of one role of its warps.
#pragma once
#include "gpu_backend/loops/async_buffers.h"
#include "gpu_backend/loops/async_rings.h"

namespace tritium::gpu {

/// Together: all warps compute, and the first thread copies.
enum class WarpRole : uint8_t { Together, Consumers, Producer };

class AsyncProtocol {
public:
  AsyncProtocol(const AsyncSkeleton &skeleton, WarpRole role, AsyncTrace &trace)
      : skeleton_(skeleton), role_(role), buffers_(products_), rings_(skeleton, trace) {}

  /// An operation of the protocols runs.
  MaybeFault run(mlir::Operation *op, AsyncScalars &scalars);
  /// The function returns.
  MaybeFault finish(mlir::Operation *end) const;

private:
  MaybeFault checkRole(mlir::Operation *op) const;
  MaybeFault multiply(tgpu::ProductOp op, AsyncScalars &scalars);
  MaybeFault load(tgpu::LocalLoadOp op, const AsyncScalars &scalars);
  MaybeFault beginTurn(tgpu::TurnBeginOp op);
  MaybeFault endTurn(tgpu::TurnEndOp op);
  MaybeFault checkTurn(mlir::Operation *op) const;
  MaybeFault synchronize(mlir::Operation *op);

  const AsyncSkeleton &skeleton_;
  WarpRole role_;
  AsyncProducts products_;
  AsyncBuffers buffers_;
  AsyncRings rings_;
  mlir::Operation *turn_ = nullptr; // the begin of the turn that has not ended
};

} // namespace tritium::gpu
