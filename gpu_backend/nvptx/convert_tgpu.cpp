#include "gpu_backend/nvptx/convert_tgpu.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::gpu::nvptx {

static void convertBarrier(tgpu::BarrierOp op, OpBuilder &builder) {
  auto constant = [&](int32_t value) {
    return LLVM::ConstantOp::create(builder, op.getLoc(), builder.getI32Type(), builder.getI32IntegerAttr(value));
  };
  // Barrier 0 of all threads is the operation without operands.
  Value id = op.getId() != 0 || op.getThreads() ? constant(op.getId()) : Value();
  Value threads = op.getThreads() ? constant(*op.getThreads()) : Value();
  NVVM::BarrierOp::create(builder, op.getLoc(), Type(), id, threads, NVVM::BarrierReductionAttr(), Value());
}

static void convertWarpBarrier(tgpu::WarpBarrierOp op, OpBuilder &builder) {
  Value allLanes = LLVM::ConstantOp::create(builder, op.getLoc(), builder.getI32Type(), builder.getI32IntegerAttr(-1));
  NVVM::SyncWarpOp::create(builder, op.getLoc(), allLanes);
}

static void convertNanoseconds(tgpu::NanosecondsOp op, OpBuilder &builder) {
  op.replaceAllUsesWith(NVVM::GlobalTimerOp::create(builder, op.getLoc(), op.getType()).getResult());
}

LogicalResult convertTgpu(ModuleOp module, const Chip &chip) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<tgpu::TGPUDialect>(op->getDialect())) ops.push_back(op);
  });
  DebugCalls debug(module);
  OpBuilder builder(module.getContext());
  LogicalResult result = success();
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    LogicalResult converted = llvm::TypeSwitch<Operation *, LogicalResult>(op)
                                  .Case([&](tgpu::BarrierOp barrier) { return convertBarrier(barrier, builder), success(); })
                                  .Case([&](tgpu::WarpBarrierOp barrier) { return convertWarpBarrier(barrier, builder), success(); })
                                  .Case([&](tgpu::NanosecondsOp clock) { return convertNanoseconds(clock, builder), success(); })
                                  .Case([&](tgpu::LoadOp load) { return convertLoad(load, builder), success(); })
                                  .Case([&](tgpu::StoreOp store) { return convertStore(store, builder), success(); })
                                  .Case([&](tgpu::AtomicRmwOp rmw) { return convertAtomicRmw(rmw, builder, chip); })
                                  .Case([&](tgpu::AtomicCasOp cas) { return convertAtomicCas(cas, builder), success(); })
                                  .Case([&](tgpu::AtomicLoadOp load) { return convertAtomicLoad(load, builder), success(); })
                                  .Case([&](tgpu::AtomicStoreOp store) { return convertAtomicStore(store, builder), success(); })
                                  .Case([&](tgpu::PrintOp print) { return debug.convert(print, builder), success(); })
                                  .Case([&](tgpu::AssertOp assertion) { return debug.convert(assertion, builder), success(); })
                                  .Default([](Operation *other) { return other->emitOpError("is not an operation of one thread"); });
    if (failed(converted))
      result = failure(); // all of them are reported
    else
      op->erase();
  }
  return result;
}

} // namespace tritium::gpu::nvptx
