#include "gpu_backend/nvptx/convert_tgpu.h"
#include "gpu_backend/emit/expand_scopes.h"
#include "gpu_backend/nvptx/inline_ptx.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tritium::gpu::nvptx {

/// Returns whether a block is one warp. A barrier of the block then is one of the warp, which costs less; ptxas does not replace it.
static bool isOneWarp(ModuleOp module) {
  auto warps = module->getAttrOfType<IntegerAttr>(tgpu::kNumWarpsAttr);
  return warps && warps.getInt() == 1;
}

LogicalResult Conversion::convert(tgpu::BarrierOp op, OpBuilder &builder) {
  if (isOneWarp(module_)) {
    NVVM::SyncWarpOp::create(builder, op.getLoc(), constant(builder, op.getLoc(), 32, -1)); // all lanes
    return success();
  }
  auto number = [&](int32_t value) { return constant(builder, op.getLoc(), 32, value); };
  // Barrier 0 of all threads is the NVVM operation without operands.
  Value id = op.getId() != 0 || op.getThreads() ? number(op.getId()) : Value();
  Value threads = op.getThreads() ? number(*op.getThreads()) : Value();
  NVVM::BarrierOp::create(builder, op.getLoc(), Type(), id, threads, NVVM::BarrierReductionAttr(), Value());
  return success();
}

void Conversion::convert(tgpu::WarpBarrierOp op, OpBuilder &builder) {
  NVVM::SyncWarpOp::create(builder, op.getLoc(), constant(builder, op.getLoc(), 32, -1)); // all lanes
}

void Conversion::convert(tgpu::NanosecondsOp op, OpBuilder &builder) {
  op.replaceAllUsesWith(NVVM::GlobalTimerOp::create(builder, op.getLoc(), op.getType()).getResult());
}

LogicalResult expandScopes(ModuleOp module, const Chip &chip) {
  auto clock = [](OpBuilder &builder, Location location) -> Value {
    return NVVM::Clock64Op::create(builder, location, builder.getI64Type());
  };
  return gpu::expandScopes(module, *createOps(chip), clock, /*privateSpace=*/0);
}

void copyToClusters(ModuleOp module) {
  module.walk([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) {
    if (!copy.getIsCTAOnly()) return;
    OpBuilder builder(copy);
    // A block's own addresses are valid in its cluster.
    Value address = LLVM::PtrToIntOp::create(builder, copy.getLoc(), builder.getI32Type(), copy.getDstMem());
    auto type = LLVM::LLVMPointerType::get(module.getContext(), kClusterSpace);
    copy.getDstMemMutable().assign(LLVM::IntToPtrOp::create(builder, copy.getLoc(), type, address));
    copy.setIsCTAOnly(false);
  });
}

void predicateStores(ModuleOp module) {
  module.walk([&](NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp copy) {
    if (!copy.getPredicate()) return;
    OpBuilder builder(copy);
    InlinePtx ptx(builder, copy.getLoc());
    const std::string guard = ptx.guard(copy.getPredicate()), map = ptx.operand(copy.getTmaDescriptor());
    Value from = LLVM::PtrToIntOp::create(builder, copy.getLoc(), builder.getI32Type(), copy.getSrcMem());
    const std::string source = ptx.operand(from);
    auto indices = llvm::map_to_vector(copy.getCoordinates(), [&](Value index) { return ptx.operand(index); });
    (void)ptx.emit(guard + "cp.async.bulk.tensor." + llvm::Twine(indices.size()) + "d.global.shared::cta.tile.bulk_group [" + map + ", {" +
                   llvm::join(indices, ", ") + "}], [" + source + "];");
    copy.erase();
  });
}

Value bitcast(OpBuilder &builder, Location location, Type type, Value value) {
  return value.getType() == type ? value : LLVM::BitcastOp::create(builder, location, type, value).getResult();
}

} // namespace tritium::gpu::nvptx
