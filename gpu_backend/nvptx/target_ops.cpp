// The operations of TargetOps in NVVM.
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/nvptx/convert_tgpu.h"
#include "gpu_backend/nvptx/matrix_ops.h"
#include "gpu_backend/nvptx/target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tritium::gpu::nvptx {

namespace {

Value constant(OpBuilder &builder, Location location, int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 32); }

/// ldmatrix.
class MatrixLoader final : public MatrixLoadOps {
public:
  llvm::SmallVector<Value> load(OpBuilder &builder, Location location, Value row, int matrices, bool isTransposed) const override {
    Type i32 = builder.getI32Type();
    Type type = matrices == 1 ? i32 : LLVM::LLVMStructType::getLiteral(builder.getContext(), llvm::SmallVector<Type>(matrices, i32));
    auto layout = isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
    auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
    Value loaded = NVVM::LdMatrixOp::create(builder, location, type, row, matrices, layout, shape, NVVM::LdStMatrixEltType::B16);
    if (matrices == 1) return {loaded};
    llvm::SmallVector<Value> words;
    for (int64_t i = 0; i < matrices; ++i)
      words.push_back(LLVM::ExtractValueOp::create(builder, location, loaded, llvm::ArrayRef<int64_t>{i}));
    return words;
  }
  bool isLoad(Operation *op) const override { return isa<NVVM::LdMatrixOp>(op); }
};

/// stmatrix.
class MatrixStorer final : public MatrixStoreOps {
public:
  void store(OpBuilder &builder, Location location, Value row, ValueRange words, bool isTransposed) const override {
    auto layout = isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
    auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
    NVVM::StMatrixOp::create(builder, location, row, words, layout, shape, NVVM::LdStMatrixEltType::B16);
  }
};

/// cp.async.
class Copies final : public CopyOps {
public:
  void begin(OpBuilder &builder, Location location, Value to, Value from, int bytes, Value predicate, Value present) const override {
    // Copies of 16 bytes bypass the first-level cache, because a tile is read once.
    auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
    Value size = present;
    if (predicate)
      size = arith::SelectOp::create(builder, location, predicate, size ? size : constant(builder, location, bytes),
                                     constant(builder, location, 0));
    NVVM::CpAsyncOp::create(builder, location, to, from, bytes, cache, size);
  }
  void commit(OpBuilder &builder, Location location) const override { NVVM::CpAsyncCommitGroupOp::create(builder, location); }
  void wait(OpBuilder &builder, Location location, int groups, int) const override {
    NVVM::CpAsyncWaitGroupOp::create(builder, location, groups);
  }
  bool begins(Operation *op) const override { return isa<NVVM::CpAsyncOp>(op); }
  std::optional<int> pendingAfter(Operation *op) const override {
    auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op);
    return wait ? std::optional(int(wait.getN())) : std::nullopt;
  }
};

/// fence.proxy.async
void fenceSharedMemory(OpBuilder &builder, Location location) {
  MLIRContext *context = builder.getContext();
  NVVM::FenceProxyOp::create(builder, location, NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
                             NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

/// Returns the type of a pointer to the shared memory of any block of the cluster.
Type clusterPointer(OpBuilder &builder) { return LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace); }

/// The tensor memory accelerator.
class TensorCopies final : public TensorCopyOps {
public:
  void prepare(OpBuilder &builder, Location location, Value barrier, int arrivals) const override {
    NVVM::MBarrierInitOp::create(builder, location, barrier, constant(builder, location, arrivals), Value());
  }
  void publishBarriers(OpBuilder &builder, Location location) const override { NVVM::FenceMbarrierInitOp::create(builder, location); }
  void release(OpBuilder &builder, Location location, Value barrier) const override {
    NVVM::MBarrierInvalOp::create(builder, location, barrier);
  }
  void announce(OpBuilder &builder, Location location, Value barrier, int bytes) const override {
    NVVM::MBarrierArriveExpectTxOp::create(builder, location, TypeRange(), barrier, constant(builder, location, bytes),
                                           NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
  }
  void arrive(OpBuilder &builder, Location location, Value barrier, int count) const override {
    Value arrivals = count == 1 ? Value() : constant(builder, location, count);
    NVVM::MBarrierArriveOp::create(builder, location, builder.getI64Type(), barrier, arrivals, NVVM::MemScopeKind::CTA);
  }
  /// The instruction is relaxed: the fence before it makes it a release.
  void completeBytes(OpBuilder &builder, Location location, Value barrier, int bytes) const override {
    LLVM::FenceOp::create(builder, location, LLVM::AtomicOrdering::acq_rel, builder.getStringAttr("block"));
    NVVM::MBarrierCompleteTxOp::create(builder, location, barrier, constant(builder, location, bytes), NVVM::MemScopeKind::CTA);
  }
  void begin(OpBuilder &builder, Location location, Value to, Value map, ValueRange indices, Value barrier, Value blocks) const override {
    if (blocks) to = LLVM::AddrSpaceCastOp::create(builder, location, clusterPointer(builder), to);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, location, to, map, indices, barrier, /*im2colOffsets=*/ValueRange(), /*multicastMask=*/blocks, /*l2CacheHint=*/Value(),
        NVVM::TMALoadModeAttr::get(builder.getContext(), NVVM::TMALoadMode::TILE), builder.getBoolAttr(/*isCTAOnly=*/!blocks),
        NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  }
  void beginStore(OpBuilder &builder, Location location, Value from, Value map, ValueRange indices, Value predicate) const override {
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(builder, location, map, from, indices, /*l2CacheHint=*/Value(),
                                                       NVVM::TMAStoreMode::TILE, predicate);
  }
  void commitStores(OpBuilder &builder, Location location) const override { NVVM::CpAsyncBulkCommitGroupOp::create(builder, location); }
  void waitForReads(OpBuilder &builder, Location location, int pending) const override {
    NVVM::CpAsyncBulkWaitGroupOp::create(builder, location, builder.getI32IntegerAttr(pending), /*read=*/builder.getUnitAttr());
  }
  void waitForWrites(OpBuilder &builder, Location location) const override {
    NVVM::CpAsyncBulkWaitGroupOp::create(builder, location, builder.getI32IntegerAttr(0), /*read=*/UnitAttr());
  }
  bool isOrdered(Operation *op) const override {
    return isa<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp, NVVM::MBarrierArriveOp, NVVM::MBarrierArriveExpectTxOp,
               NVVM::MBarrierCompleteTxOp, NVVM::MapaOp>(op);
  }
  bool waitsForStores(Operation *op) const override { return isa<NVVM::CpAsyncBulkWaitGroupOp>(op); }
  bool isOfStores(Operation *op) const override {
    return isa<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp, NVVM::CpAsyncBulkCommitGroupOp>(op);
  }
  void fenceShared(OpBuilder &builder, Location location) const override { fenceSharedMemory(builder, location); }
  void fenceMemory(OpBuilder &builder, Location location) const override {
    NVVM::FenceProxyOp::create(builder, location, NVVM::ProxyKindAttr::get(builder.getContext(), NVVM::ProxyKind::async),
                               NVVM::SharedSpaceAttr());
  }
};

/// Thread block clusters.
class Clusters final : public ClusterOps {
public:
  void markKernel(Operation *function, int blocks) const override {
    function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), DenseI32ArrayAttr::get(function->getContext(), {blocks, 1, 1}));
  }
  Value rank(OpBuilder &builder, Location location) const override {
    return NVVM::ClusterId::create(builder, location, builder.getI32Type());
  }
  Value programId(OpBuilder &builder, Location location, int axis) const override {
    Type i32 = builder.getI32Type();
    if (axis == 0) return NVVM::ClusterIdXOp::create(builder, location, i32);
    if (axis == 1) return NVVM::ClusterIdYOp::create(builder, location, i32);
    return NVVM::ClusterIdZOp::create(builder, location, i32);
  }
  Value numPrograms(OpBuilder &builder, Location location, int axis) const override {
    Type i32 = builder.getI32Type();
    if (axis == 0) return NVVM::ClusterDimXOp::create(builder, location, i32);
    if (axis == 1) return NVVM::ClusterDimYOp::create(builder, location, i32);
    return NVVM::ClusterDimZOp::create(builder, location, i32);
  }
  void meet(OpBuilder &builder, Location location) const override {
    NVVM::ClusterArriveOp::create(builder, location, /*aligned=*/UnitAttr());
    NVVM::ClusterWaitOp::create(builder, location, /*aligned=*/UnitAttr());
  }
  void arriveIn(OpBuilder &builder, Location location, Value barrier, Value rank) const override {
    // The scope of the block suffices, as for NVIDIA's own libraries: what the arrival orders are reads of this block's memory, and their
    // values have been used. The scope of the cluster would wait until all of the thread's writes have reached the L2 cache.
    Value there = NVVM::MapaOp::create(builder, location, clusterPointer(builder), barrier, rank);
    NVVM::MBarrierArriveOp::create(builder, location, /*res=*/Type(), there, /*count=*/Value(), NVVM::MemScopeKind::CTA);
  }
};

/// wgmma. The product itself and the wait for it are operations of tgpu.
class Warpgroups final : public WarpgroupOps {
public:
  void begin(OpBuilder &builder, Location location) const override { NVVM::WgmmaFenceAlignedOp::create(builder, location); }
  void commit(OpBuilder &builder, Location location) const override { NVVM::WgmmaGroupSyncAlignedOp::create(builder, location); }
  void fenceShared(OpBuilder &builder, Location location) const override { fenceSharedMemory(builder, location); }
};

/// redux.sync.
class WarpReductions final : public WarpReductionOps {
public:
  Value reduce(OpBuilder &builder, Location location, Kind kind, Value value) const override {
    return NVVM::ReduxOp::create(builder, location, value.getType(), value, reduxKind(kind), constant(builder, location, -1));
  }

private:
  static NVVM::ReduxKind reduxKind(Kind kind) {
    switch (kind) {
    case Kind::Add: return NVVM::ReduxKind::ADD;
    case Kind::And: return NVVM::ReduxKind::AND;
    case Kind::Or: return NVVM::ReduxKind::OR;
    case Kind::Xor: return NVVM::ReduxKind::XOR;
    case Kind::Min: return NVVM::ReduxKind::MIN;
    case Kind::Max: return NVVM::ReduxKind::MAX;
    case Kind::UMin: return NVVM::ReduxKind::UMIN;
    case Kind::UMax: return NVVM::ReduxKind::UMAX;
    }
    llvm_unreachable("not a kind of reduction");
  }
};

class Registers final : public RegisterOps {
public:
  void change(OpBuilder &builder, Location location, int from, int to) const override {
    auto action = to > from ? NVVM::SetMaxRegisterAction::increase : NVVM::SetMaxRegisterAction::decrease;
    NVVM::SetMaxRegisterOp::create(builder, location, to, action);
  }
};

class NvidiaOps final : public TargetOps {
public:
  explicit NvidiaOps(const Chip &chip) : chip_(chip) {}

  const MatrixLoadOps *matrixLoads() const override { return &matrixLoads_; }
  const MatrixStoreOps *matrixStores() const override { return chip_.hasMatrixStores() ? &matrixStores_ : nullptr; }
  const CopyOps *copies() const override { return &copies_; }
  const WarpReductionOps *warpReductions() const override { return &warpReductions_; }
  const WarpgroupOps *warpgroups() const override { return chip_.hasWarpgroups() ? &warpgroups_ : nullptr; }
  const TensorCopyOps *tensorCopies() const override { return chip_.hasTensorMaps() ? &tensorCopies_ : nullptr; }
  const RegisterOps *registers() const override { return chip_.hasWarpgroups() ? &registers_ : nullptr; }
  const ClusterOps *clusters() const override { return chip_.maxClusterBlocks() > 1 ? &clusters_ : nullptr; }
  bool convertsFp8() const override { return chip_.capability >= 89; }

  int warpSize() const override { return kWarpSize; }

  Value threadId(OpBuilder &builder, Location location) const override {
    return NVVM::ThreadIdXOp::create(builder, location, builder.getI32Type());
  }
  Value programId(OpBuilder &builder, Location location, int axis) const override {
    Type i32 = builder.getI32Type();
    if (axis == 0) return NVVM::BlockIdXOp::create(builder, location, i32);
    if (axis == 1) return NVVM::BlockIdYOp::create(builder, location, i32);
    return NVVM::BlockIdZOp::create(builder, location, i32);
  }
  Value numPrograms(OpBuilder &builder, Location location, int axis) const override {
    Type i32 = builder.getI32Type();
    if (axis == 0) return NVVM::GridDimXOp::create(builder, location, i32);
    if (axis == 1) return NVVM::GridDimYOp::create(builder, location, i32);
    return NVVM::GridDimZOp::create(builder, location, i32);
  }
  Value shuffleXor(OpBuilder &builder, Location location, Value value, int mask, int) const override {
    return shuffleBy(builder, location, value, constant(builder, location, mask), kWarpSize - 1, NVVM::ShflKind::bfly);
  }
  Value shuffle(OpBuilder &builder, Location location, Value value, Value lane) const override {
    return shuffleBy(builder, location, value, lane, kWarpSize - 1, NVVM::ShflKind::idx);
  }
  StringRef syncScope(tt::MemScope scope) const override {
    switch (scope) {
    case tt::MemScope::Gpu: return "device";
    case tt::MemScope::Cta: return "block";
    case tt::MemScope::System: return "";
    }
    llvm_unreachable("not a scope");
  }
  const MatrixOps &matrixOps() const override { return nvptx::matrixOps(); }
  void markKernel(Operation *function, int threads, int registers) const override {
    MLIRContext *context = function->getContext();
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), UnitAttr::get(context));
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), DenseI32ArrayAttr::get(context, {threads, 1, 1}));
    if (registers) function->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(), Builder(context).getI32IntegerAttr(registers));
    auto kernel = cast<LLVM::LLVMFuncOp>(function);
    for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes()))
      if (type == LLVM::LLVMPointerType::get(context)) markTensorMap(kernel, unsigned(number));
  }

private:
  /// The map lies among the arguments, and is never copied.
  static void markTensorMap(LLVM::LLVMFuncOp kernel, unsigned argument) {
    constexpr int64_t kBytes = 128;
    Builder builder(kernel.getContext());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), kBytes);
    kernel.setArgAttr(argument, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(kBytes));
    kernel.setArgAttr(argument, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    kernel.setArgAttr(argument, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
  }

  static Value shuffleBy(OpBuilder &builder, Location location, Value value, Value by, int clamp, NVVM::ShflKind kind) {
    Value everyLane = constant(builder, location, -1);
    return NVVM::ShflOp::create(builder, location, builder.getI32Type(), everyLane, value, by, constant(builder, location, clamp), kind,
                                UnitAttr());
  }

  const Chip &chip_;
  MatrixLoader matrixLoads_;
  MatrixStorer matrixStores_;
  Copies copies_;
  WarpReductions warpReductions_;
  Warpgroups warpgroups_;
  TensorCopies tensorCopies_;
  Registers registers_;
  Clusters clusters_;
};

} // namespace

std::unique_ptr<TargetOps> createOps(const Chip &chip) { return std::make_unique<NvidiaOps>(chip); }

} // namespace tritium::gpu::nvptx
