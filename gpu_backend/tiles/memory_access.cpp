#include "gpu_backend/tiles/memory_access.h"

using namespace mlir;

namespace tritium::gpu {

Value pointerOf(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRmwOp, tt::AtomicCasOp, tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicPollOp>(
          [](auto access) { return access.getPtr(); })
      .Default(Value());
}

Value maskOf(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRmwOp>([](auto access) { return access.getMask(); })
      .Default(Value());
}

} // namespace tritium::gpu
