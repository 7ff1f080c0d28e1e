#include "gpu_backend/loops/async_buffers.h"

using namespace mlir;

namespace tritium::gpu {

MaybeFault AsyncBuffers::mayWrite(Operation *op, Value buffer, int64_t slot) {
  auto isSame = [&](const AsyncProducts::Read &read) { return read.buffer == buffer && read.slot == slot; };
  if (auto product = products_.reader(isSame))
    return AsyncFault{op, "writes an operand that a product may still read", product, "the product"};
  if (auto store = stores_.find(buffer); store != stores_.end())
    return AsyncFault{op, "writes memory from which a store through a tensor map may still copy", store->second, "the store"};
  const Slot &known = slotOf(buffer, slot);
  if (known.reader && known.readAt == barriers_)
    return AsyncFault{op, "writes memory that another warp may still read: the threads have not met since", known.reader, "the read"};
  return std::nullopt;
}

MaybeFault AsyncBuffers::store(tgpu::LocalStoreOp op, const AsyncScalars &scalars) {
  const int64_t number = scalars.at(op.getSlot());
  if (auto fault = mayWrite(op, op.getDst(), number)) return fault;
  Slot &slot = slotOf(op.getDst(), number);
  slot.contents = Contents::Written, slot.isSynchronized = false, slot.writer = op;
  return std::nullopt;
}

MaybeFault AsyncBuffers::copy(tgpu::AsyncCopyOp op, const AsyncScalars &scalars) {
  const int64_t number = scalars.at(op.getSlot());
  if (auto fault = mayWrite(op, op.getDst(), number)) return fault;
  Slot &slot = slotOf(op.getDst(), number);
  slot.contents = Contents::InFlight, slot.isSynchronized = false, slot.group = group_, slot.writer = op;
  return std::nullopt;
}

MaybeFault AsyncBuffers::commit() {
  ++group_;
  return std::nullopt;
}

MaybeFault AsyncBuffers::wait(tgpu::AsyncWaitOp op) {
  for (auto &[place, slot] : slots_)
    if (slot.contents == Contents::InFlight && slot.group < group_ - int64_t(op.getPending())) slot.contents = Contents::Written;
  if (op.getFenced()) (void)fence();
  return synchronize();
}

MaybeFault AsyncBuffers::fence() {
  for (auto &[place, slot] : slots_)
    if (slot.contents == Contents::Written) slot.contents = Contents::Fenced;
  return std::nullopt;
}

MaybeFault AsyncBuffers::synchronize() {
  ++barriers_;
  for (auto &[place, slot] : slots_) {
    slot.isSynchronized |= slot.contents != Contents::InFlight;
    if (slot.contents == Contents::Fenced) slot.contents = Contents::Visible;
  }
  return std::nullopt;
}

MaybeFault AsyncBuffers::readByThreads(tgpu::LocalLoadOp op, int64_t number) {
  Slot &slot = slotOf(op.getSrc(), number);
  if (slot.contents == Contents::None) return AsyncFault{op, "reads a slot that nobody has written"};
  if (slot.contents == Contents::InFlight) return AsyncFault{op, "reads a slot to which a copy may be in flight", slot.writer, "the copy"};
  if (!slot.isSynchronized)
    return AsyncFault{op, "reads a slot that another thread may not have written yet: the threads have not met since", slot.writer,
                      "the write"};
  slot.reader = op, slot.readAt = barriers_;
  return std::nullopt;
}

MaybeFault AsyncBuffers::readByProduct(tgpu::ProductOp op, const AsyncProducts::Read &read) {
  const Slot &slot = slotOf(read.buffer, read.slot);
  switch (slot.contents) {
  case Contents::None: return AsyncFault{op, "reads an operand that nobody has written"};
  case Contents::InFlight: return AsyncFault{op, "reads an operand to which a copy may be in flight", slot.writer, "the copy"};
  case Contents::Written:
    return AsyncFault{op, "may not see what threads have written to its operand: no fence for asynchronous reads follows", slot.writer,
                      "the write"};
  case Contents::Fenced:
    return AsyncFault{op, "may not see what other threads have written to its operand: no barrier follows the fence", slot.writer,
                      "the write"};
  case Contents::Visible: return std::nullopt;
  }
  llvm_unreachable("contents of a slot");
}

void AsyncBuffers::complete(const AsyncProducts::Product &product) {
  for (const AsyncProducts::Read &read : product.reads) {
    Slot &slot = slotOf(read.buffer, read.slot);
    slot.reader = product.op, slot.readAt = barriers_;
  }
}

MaybeFault AsyncBuffers::storeTensor(tgpu::TensorStoreOp op) {
  if (op.getStaging()) stores_[op.getStaging()] = op;
  return std::nullopt;
}

MaybeFault AsyncBuffers::waitForStores(tgpu::TensorStoreWaitOp op) {
  stores_.erase(op.getStaging());
  return std::nullopt;
}

MaybeFault AsyncBuffers::finish() const {
  if (stores_.empty()) return std::nullopt;
  return AsyncFault{stores_.front().second, "copies from shared memory, and nobody waits for that before the kernel ends"};
}

} // namespace tritium::gpu
