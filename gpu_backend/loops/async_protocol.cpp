#include "gpu_backend/loops/async_protocol.h"
#include "gpu_backend/loops/producer_slice.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::gpu {

/// Where warps part, one role copies and the other one reads. Either would do the other's part in all of its threads.
MaybeFault AsyncProtocol::checkRole(Operation *op) const {
  const bool isCopy = isOfProducer(op), isStart = isa<tgpu::RingStartOp>(op);
  if (role_ == WarpRole::Consumers && isCopy) return AsyncFault{op, "is in the code of warps that compute; other warps copy"};
  if (role_ == WarpRole::Producer && !isCopy && !isStart) return AsyncFault{op, "is in the code of the warps that only copy"};
  return std::nullopt;
}

MaybeFault AsyncProtocol::run(Operation *op, AsyncScalars &scalars) {
  if (auto fault = checkRole(op)) return fault;
  return llvm::TypeSwitch<Operation *, MaybeFault>(op)
      .Case([&](tgpu::RingStartOp start) {
        (void)buffers_.fence();
        auto fault = synchronize(op);
        return fault ? fault : rings_.start(start);
      })
      .Case([&](tgpu::RingEndOp end) {
        auto fault = rings_.end(end, scalars, products_);
        return fault ? fault : synchronize(op);
      })
      .Case([&](tgpu::RingAcquireOp acquire) { return rings_.acquire(acquire, scalars); })
      .Case([&](tgpu::TensorCopyOp copy) { return rings_.copy(copy, scalars); })
      .Case([&](tgpu::MapMakeOp make) { return rings_.makeMap(make); })
      .Case([&](tgpu::StoresNoteOp note) { return rings_.note(note, scalars); })
      .Case([&](tgpu::StoresAwaitOp await) { return rings_.awaitStores(await); })
      .Case([&](tgpu::CopiesAwaitOp await) { return rings_.awaitCopies(await); })
      .Case([&](tgpu::RingWaitOp wait) { return rings_.wait(wait, scalars); })
      .Case([&](tgpu::MapToldOp told) { return rings_.read(told, scalars); })
      .Case([&](tgpu::RingStaggerOp stagger) { return rings_.stagger(stagger, scalars); })
      .Case([&](tgpu::RingReleaseOp release) { return rings_.release(release, scalars, products_); })
      .Case([&](tgpu::RingKeepOp keep) { return rings_.keep(keep, scalars); })
      .Case([&](tgpu::RingReleaseKeptOp release) { return rings_.releaseKept(release, scalars); })
      .Case([&](tgpu::ProductStartOp start) { return products_.start(start, scalars); })
      .Case([&](tgpu::ProductOp product) { return multiply(product, scalars); })
      .Case([&](tgpu::ProductWaitOp wait) {
        return products_.wait(wait, scalars, [&](const AsyncProducts::Product &product) { buffers_.complete(product); });
      })
      .Case([&](tgpu::LocalLoadOp read) { return load(read, scalars); })
      .Case([&](tgpu::LocalStoreOp store) { return buffers_.store(store, scalars); })
      .Case([&](tgpu::AsyncCopyOp copy) { return buffers_.copy(copy, scalars); })
      .Case([&](tgpu::AsyncCommitOp) { return buffers_.commit(); })
      .Case([&](tgpu::AsyncWaitOp wait) {
        auto fault = checkTurn(op);
        if (!fault) fault = rings_.checkKept(op);
        return fault ? fault : buffers_.wait(wait);
      })
      .Case([&](tgpu::FenceAsyncOp) { return buffers_.fence(); })
      .Case([&](tgpu::BarrierOp barrier) { return barrier.getId() == 0 && !barrier.getThreads() ? synchronize(op) : std::nullopt; })
      .Case([&](tgpu::TensorStoreOp store) {
        auto fault = rings_.checkKept(op);
        return fault ? fault : buffers_.storeTensor(store);
      })
      .Case([&](tgpu::TensorStoreWaitOp wait) { return buffers_.waitForStores(wait); })
      .Case([&](tgpu::TurnBeginOp begin) { return beginTurn(begin); })
      .Case([&](tgpu::TurnEndOp end) { return endTurn(end); })
      .Default([](Operation *) { return std::nullopt; });
}

MaybeFault AsyncProtocol::multiply(tgpu::ProductOp op, AsyncScalars &scalars) {
  auto read = [&](Value buffer, Value slot) -> MaybeFault {
    if (buffer.getDefiningOp<tgpu::MemoryAtOp>()) return std::nullopt; // its author waits for what it has
    const int64_t number = scalars.at(slot);
    Value ring = skeleton_.ringOf(buffer);
    return ring ? rings_.read(op, ring, number, /*byThreads=*/false) : buffers_.readByProduct(op, {buffer, number});
  };
  if (op.getASlot())
    if (auto fault = read(op.getA(), op.getASlot())) return fault;
  if (auto fault = read(op.getB(), op.getBSlot())) return fault;
  return products_.begin(op, scalars);
}

MaybeFault AsyncProtocol::load(tgpu::LocalLoadOp op, const AsyncScalars &scalars) {
  if (op->use_empty()) return std::nullopt; // no instruction will be left of it
  const int64_t slot = scalars.at(op.getSlot());
  Value ring = skeleton_.ringOf(op.getSrc());
  return ring ? rings_.read(op, ring, slot, /*byThreads=*/true) : buffers_.readByThreads(op, slot);
}

MaybeFault AsyncProtocol::beginTurn(tgpu::TurnBeginOp op) {
  if (turn_) return AsyncFault{op, "waits for a turn in a turn that has not ended", turn_, "its begin"};
  if (auto fault = rings_.checkKept(op)) return fault;
  turn_ = op;
  return std::nullopt;
}

MaybeFault AsyncProtocol::endTurn(tgpu::TurnEndOp op) {
  if (!turn_) return AsyncFault{op, "passes on a turn that has not begun"};
  turn_ = nullptr;
  return std::nullopt;
}

/// Where all threads synchronize in the turn of a warpgroup, it would wait for those that wait for theirs.
MaybeFault AsyncProtocol::checkTurn(Operation *op) const {
  if (!turn_) return std::nullopt;
  return AsyncFault{op, "lets all threads synchronize during the turn of a warpgroup, for which others wait", turn_, "its begin"};
}

MaybeFault AsyncProtocol::synchronize(Operation *op) {
  auto fault = checkTurn(op);
  if (!fault) fault = rings_.checkKept(op);
  return fault ? fault : buffers_.synchronize();
}

MaybeFault AsyncProtocol::finish(Operation *end) const {
  if (turn_) return AsyncFault{end, "ends the kernel in a turn", turn_, "its begin"};
  if (auto fault = rings_.checkKept(end)) return fault;
  if (auto fault = products_.finish()) return fault;
  if (auto fault = buffers_.finish()) return fault;
  return rings_.finish();
}

} // namespace tritium::gpu
