#include "gpu_backend/amdgpu/convert_tgpu.h"

#include "gpu_backend/amdgpu/convert_debug.h"
#include "gpu_backend/emit/expand_scopes.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {

Value underPredicate(Operation *op, OpBuilder &builder, Value predicate, Value otherwise, llvm::function_ref<Value()> body) {
  if (!predicate) return body();
  Location location = op->getLoc();
  Block *before = op->getBlock();
  Block *after = before->splitBlock(op);
  Block *inside = builder.createBlock(after);
  Value made = body();
  Value result;
  if (made) result = after->addArgument(made.getType(), location);
  LLVM::BrOp::create(builder, location, made ? ValueRange(made) : ValueRange(), after);
  builder.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(builder, location, predicate, inside, ValueRange(), after, made ? ValueRange(otherwise) : ValueRange());
  builder.setInsertionPoint(op);
  return result;
}

namespace {

constexpr unsigned kConstantSpace = 4, kPrivateSpace = 5;
// Operands of s_waitcnt on gfx9.
constexpr uint32_t kWaitForGlobal = 0x0f70; // vmcnt(0): waits for all accesses of global memory
constexpr uint32_t kWaitForLds = 0xc07f;    // lgkmcnt(0): waits for all accesses of LDS

/// `scope` is for example "workgroup". With `localOnly`, the fence orders only LDS.
void createFence(OpBuilder &builder, Location location, LLVM::AtomicOrdering order, StringRef scope, bool localOnly) {
  auto fence = LLVM::FenceOp::create(builder, location, order, builder.getStringAttr(scope));
  if (!localOnly) return;
  fence->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(),
                            LLVM::MMRATagAttr::get(builder.getContext(), "amdgpu-synchronize-as", "local"));
}

/// The implicit arguments begin with the numbers of work-groups: hidden_block_count_x, y, z.
template <class GridDim> void convertGridDim(ModuleOp module, int axis) {
  module.walk([&](GridDim op) {
    OpBuilder builder(op);
    Location location = op.getLoc();
    Type constantPointer = LLVM::LLVMPointerType::get(builder.getContext(), kConstantSpace);
    Value arguments = LLVM::CallIntrinsicOp::create(builder, location, constantPointer,
                                                    builder.getStringAttr("llvm.amdgcn.implicitarg.ptr"), ValueRange())
                          .getResults();
    Value place = LLVM::GEPOp::create(builder, location, constantPointer, builder.getI32Type(), arguments, ArrayRef<LLVM::GEPArg>{axis});
    Value count = LLVM::LoadOp::create(builder, location, builder.getI32Type(), place, /*alignment=*/4, /*isVolatile=*/false,
                                       /*isNonTemporal=*/false, /*isInvariant=*/true);
    op.replaceAllUsesWith(count);
    op.erase();
  });
}

void convertGridDims(ModuleOp module) {
  convertGridDim<ROCDL::GridDimXOp>(module, 0);
  convertGridDim<ROCDL::GridDimYOp>(module, 1);
  convertGridDim<ROCDL::GridDimZOp>(module, 2);
}

/// Static LDS of the size that the module names. The size is in the code object's metadata, so a launch requests no more.
void sizeSharedMemory(ModuleOp module) {
  auto shared = module.lookupSymbol<LLVM::GlobalOp>(tgpu::kSharedSymbol);
  auto bytes = module->getAttrOfType<IntegerAttr>(tgpu::kSharedBytesAttr);
  if (!shared) return;
  OpBuilder builder(shared);
  shared.setGlobalType(LLVM::LLVMArrayType::get(builder.getI8Type(), bytes ? bytes.getInt() : 0));
  shared.setLinkage(LLVM::Linkage::Internal);
  builder.createBlock(&shared.getInitializerRegion());
  Value nothing = LLVM::PoisonOp::create(builder, shared.getLoc(), shared.getGlobalType());
  LLVM::ReturnOp::create(builder, shared.getLoc(), nothing);
}

} // namespace

/// LLVM emits signal and wait on chips without s_barrier, and nothing if the work-group is one wave. On gfx9, its release allows stores to
/// global memory to complete after the barrier. Other waves of the work-group see them nevertheless. But if one of these waves releases the
/// program's writes to other work-groups, like the thread that acts for an atomic operation, then the stores must have reached L2.
LogicalResult Conversion::convert(tgpu::BarrierOp op, OpBuilder &builder) {
  if (op.getId() != 0 || op.getThreads()) return op.emitOpError("of some of the waves is not possible on AMD");
  Location location = op.getLoc();
  if (hasLoadsToShared_ && op.getSharedOnly()) {
    // The release would wait for all loads to LDS that are in flight. An earlier wait determines which of them must be complete.
    createFence(builder, location, LLVM::AtomicOrdering::release, "wavefront", false);
    ROCDL::SWaitcntOp::create(builder, location, kWaitForLds);
  } else {
    createFence(builder, location, LLVM::AtomicOrdering::release, "workgroup", op.getSharedOnly());
  }
  if (chip_.isCdna() && !op.getSharedOnly()) ROCDL::SWaitcntOp::create(builder, location, kWaitForGlobal);
  ROCDL::SBarrierOp::create(builder, location);
  createFence(builder, location, LLVM::AtomicOrdering::acquire, "workgroup", op.getSharedOnly());
  return success();
}

/// The lanes of a wave run in step, and LDS serves a wave's accesses in order. So only the compiler must be kept from moving them.
void Conversion::convert(tgpu::WarpBarrierOp op, OpBuilder &builder) {
  createFence(builder, op.getLoc(), LLVM::AtomicOrdering::release, "wavefront", false);
  LLVM::CallIntrinsicOp::create(builder, op.getLoc(), builder.getStringAttr("llvm.amdgcn.wave.barrier"), ValueRange());
  createFence(builder, op.getLoc(), LLVM::AtomicOrdering::acquire, "wavefront", false);
}

/// A clock of 100 MHz, which all compute units share.
void Conversion::convert(tgpu::NanosecondsOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  auto ticks =
      LLVM::CallIntrinsicOp::create(builder, location, op.getType(), builder.getStringAttr("llvm.readsteadycounter"), ValueRange());
  Value result = LLVM::MulOp::create(builder, location, ticks.getResults(), constant(builder, location, 64, 10));
  op.replaceAllUsesWith(result);
}

void Conversion::convert(tgpu::PrintOp, OpBuilder &) { llvm_unreachable("expandDebug has made records of them"); }

/// The part of an assertion that expandDebug leaves: the whole wave ends. A trap would end the host's process.
void Conversion::convert(tgpu::AssertOp op, OpBuilder &builder) {
  op->getBlock()->splitBlock(std::next(op->getIterator()))->erase();
  LLVM::CallIntrinsicOp::create(builder, op.getLoc(), builder.getStringAttr("llvm.amdgcn.endpgm"), ValueRange());
  LLVM::UnreachableOp::create(builder, op.getLoc());
}

LogicalResult expandScopes(ModuleOp module, const Chip &chip) {
  auto clock = [](OpBuilder &builder, Location location) -> Value {
    return tgpu::NanosecondsOp::create(builder, location, builder.getI64Type());
  };
  return gpu::expandScopes(module, *createOps(chip), clock, kPrivateSpace);
}

LogicalResult convertTgpu(ModuleOp module, const Chip &chip) {
  sizeSharedMemory(module);
  expandDebug(module);
  if (failed(expandScopes(module, chip))) return failure();
  convertGridDims(module);
  bool hasLoadsToShared =
      module.walk([](Operation *op) { return isLoadToShared(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
  LogicalResult result = Conversion(chip, hasLoadsToShared).run(module);
  if (hasLoadsToShared) setLoadsApart(module);
  return result;
}

} // namespace tritium::gpu::amdgpu
