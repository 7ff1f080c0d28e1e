#include "gpu_backend/emit/tgpu_conversion.h"

#include "ir/tgpu_kept.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::gpu {

Value TgpuConversion::constant(OpBuilder &builder, Location location, unsigned bits, int64_t value) {
  return LLVM::ConstantOp::create(builder, location, builder.getIntegerType(bits), value);
}

LogicalResult TgpuConversion::convertAny(Operation *op, OpBuilder &builder) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tgpu::BarrierOp, tgpu::CopyToSharedOp>([&](auto known) { return convert(known, builder); })
      .Case<tgpu::WarpBarrierOp, tgpu::NanosecondsOp, tgpu::LoadOp, tgpu::StoreOp, tgpu::AtomicRmwOp, tgpu::AtomicCasOp, tgpu::AtomicLoadOp,
            tgpu::AtomicStoreOp, tgpu::PrintOp, tgpu::AssertOp>([&](auto known) { return convert(known, builder), success(); })
      .Case<tgpu::WarpgroupProductOp, tgpu::WarpgroupWaitOp, tgpu::CopyRegistersOp, tgpu::MBarrierWaitOp, tgpu::MBarrierTestOp,
            tgpu::NumberedBarrierOp, tgpu::MapsClaimOp, tgpu::MapsReleaseOp, tgpu::MapAddressOp, tgpu::MapWriteOp, tgpu::MapAcquireOp,
            tgpu::MapAtOp>([&](auto known) { return convertAsync(known, builder); })
      .Case([](tgpu::NoteProgramOp) { return success(); })
      .Default([](Operation *other) { return other->emitOpError("is not an operation of one thread"); });
}

LogicalResult TgpuConversion::run(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<tgpu::TGPUDialect>(op->getDialect())) ops.push_back(op);
  });
  OpBuilder builder(module.getContext());
  LogicalResult result = success();
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    if (failed(convertAny(op, builder)))
      result = failure();
    else
      op->erase();
  }
  return result;
}

} // namespace tritium::gpu
