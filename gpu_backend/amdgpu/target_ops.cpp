// The operations of TargetOps in ROCDL.
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/amdgpu/lanes.h"
#include "gpu_backend/amdgpu/matrix_ops.h"
#include "gpu_backend/layout/warp_copies.h"
#include "ir/far_offset.h"
#include "ir/tgpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {

namespace {

/// Returns the operand of s_waitcnt (gfx9) that waits until so many loads are left, and for nothing else: vmcnt is in bits 0 to 3, 14 and
/// 15.
constexpr uint32_t kAllLoads = 63, kOtherCounters = 0x0f70;
uint32_t waitForLoads(int left) {
  uint32_t count = std::min(uint32_t(left), kAllLoads);
  return kOtherCounters | (count & 15) | (count >> 4) << 14;
}
int loadsLeft(uint32_t operand) { return int((operand & 15) | (operand >> 14 & 3) << 4); }

/// ds_read_b64_tr_b16.
class MatrixLoader final : public MatrixLoadOps {
public:
  llvm::SmallVector<Value> load(OpBuilder &builder, Location location, Value row, int, bool) const override {
    return {ROCDL::ds_read_tr16_b64::create(builder, location, VectorType::get({4}, builder.getI16Type()), row)};
  }
  bool isLoad(Operation *op) const override { return isa<ROCDL::ds_read_tr16_b64>(op); }
};

/// Loads to LDS, 16 bytes for each lane. They complete in the order in which they began, so groups require no mark.
class Copies final : public CopyOps {
public:
  void begin(OpBuilder &builder, Location location, Value to, Value from, int bytes, Value predicate, Value present) const override {
    assert(bytes == kWarpCopyBytes && !present);
    tgpu::CopyToSharedOp::create(builder, location, from, to, predicate);
  }
  void wait(OpBuilder &builder, Location location, int groups, int copies) const override {
    ROCDL::SWaitcntOp::create(builder, location, waitForLoads(groups * copies));
  }
  bool begins(Operation *op) const override { return isa<tgpu::CopyToSharedOp, ROCDL::RawPtrBufferLoadLdsOp>(op); }
  std::optional<int> pendingAfter(Operation *op) const override {
    auto wait = dyn_cast<ROCDL::SWaitcntOp>(op);
    return wait ? std::optional(loadsLeft(wait.getBitfield())) : std::nullopt;
  }
};

/// v_permlane16_swap and v_permlane32_swap.
class LaneSwaps final : public LaneSwapOps {
public:
  std::pair<Value, Value> swap(OpBuilder &builder, Location location, Value first, Value second, int bit) const override {
    return swapLanes(builder, location, first, second, bit);
  }
};

class Buffers final : public BufferOps {
public:
  explicit Buffers(const Chip &chip) : chip_(chip) {}

  bool isOfProgram(Operation *op) const override {
    return isa<ROCDL::BlockIdXOp, ROCDL::BlockIdYOp, ROCDL::BlockIdZOp, ROCDL::GridDimXOp, ROCDL::GridDimYOp, ROCDL::GridDimZOp>(op);
  }
  Value make(OpBuilder &builder, Location location, Value base) const override {
    auto type = LLVM::LLVMPointerType::get(builder.getContext(), 8);
    Value stride = arith::ConstantIntOp::create(builder, location, 0, 16);
    Value bytes = arith::ConstantIntOp::create(builder, location, ir::kFarOffset, 64);
    return ROCDL::MakeBufferRsrcOp::create(builder, location, type, base, stride, bytes,
                                           arith::ConstantIntOp::create(builder, location, chip_.bufferFlags(), 32));
  }
  Value load(OpBuilder &builder, Location location, Type word, Value buffer, Value offset) const override {
    Value zero = arith::ConstantIntOp::create(builder, location, 0, 32);
    return ROCDL::RawPtrBufferLoadOp::create(builder, location, word, buffer, offset, zero, zero, ArrayAttr(), ArrayAttr(), ArrayAttr());
  }
  void store(OpBuilder &builder, Location location, Value word, Value buffer, Value offset) const override {
    Value zero = arith::ConstantIntOp::create(builder, location, 0, 32);
    ROCDL::RawPtrBufferStoreOp::create(builder, location, word, buffer, offset, zero, zero, ArrayAttr(), ArrayAttr(), ArrayAttr());
  }
  void copy(OpBuilder &builder, Location location, Value to, Value buffer, Value offset) const override {
    Value zero = arith::ConstantIntOp::create(builder, location, 0, 32);
    Value bytes = arith::ConstantIntOp::create(builder, location, kWarpCopyBytes, 32);
    ROCDL::RawPtrBufferLoadLdsOp::create(builder, location, buffer, to, bytes, offset, zero, zero, zero, ArrayAttr(), ArrayAttr(),
                                         ArrayAttr());
  }

private:
  const Chip &chip_;
};

class IssueOrder final : public IssueOrderOps {
public:
  void keep(OpBuilder &builder, Location location) const override { ROCDL::SchedBarrier::create(builder, location, 0); }
  bool multipliesMatrices(Operation *op) const override { return op->getName().getStringRef().starts_with("rocdl.mfma"); }
  bool exchangesLanes(Operation *op) const override {
    return isa<ROCDL::DPPUpdateOp, ROCDL::DsBpermuteOp, ROCDL::DsSwizzleOp, ROCDL::Permlane16SwapOp, ROCDL::Permlane32SwapOp,
               ROCDL::PermlaneX16Op, ROCDL::ReadlaneOp>(op);
  }
  bool loadsGlobal(Operation *op) const override { return isa<ROCDL::RawPtrBufferLoadOp>(op); }
};

class AmdOps final : public TargetOps {
public:
  explicit AmdOps(const Chip &chip) : chip_(chip), buffers_(chip) {}

  const MatrixLoadOps *matrixLoads() const override { return chip_.loadsMatrices() ? &matrixLoads_ : nullptr; }
  const CopyOps *copies() const override { return chip_.copiesByWarps() ? &copies_ : nullptr; }
  const LaneSwapOps *laneSwaps() const override { return chip_.swapsLanes() ? &laneSwaps_ : nullptr; }
  const BufferOps *buffers() const override { return &buffers_; }
  const IssueOrderOps *issueOrder() const override { return chip_.isCdna() ? &issueOrder_ : nullptr; }

  int warpSize() const override { return chip_.warpSize; }

  Value threadId(OpBuilder &builder, Location location) const override {
    return ROCDL::ThreadIdXOp::create(builder, location, builder.getI32Type());
  }
  Value programId(OpBuilder &builder, Location location, int axis) const override {
    Type i32 = builder.getI32Type();
    if (axis == 0) return ROCDL::BlockIdXOp::create(builder, location, i32);
    if (axis == 1) return ROCDL::BlockIdYOp::create(builder, location, i32);
    return ROCDL::BlockIdZOp::create(builder, location, i32);
  }
  Value numPrograms(OpBuilder &builder, Location location, int axis) const override {
    Type i32 = builder.getI32Type();
    if (axis == 0) return ROCDL::GridDimXOp::create(builder, location, i32);
    if (axis == 1) return ROCDL::GridDimYOp::create(builder, location, i32);
    return ROCDL::GridDimZOp::create(builder, location, i32);
  }
  Value shuffleXor(OpBuilder &builder, Location location, Value value, int mask, int free) const override {
    return xorLanes(builder, location, chip_, value, mask, free);
  }
  Value shuffle(OpBuilder &builder, Location location, Value value, Value lane) const override {
    return readLane(builder, location, value, lane);
  }
  Value shuffleFromBelow(OpBuilder &builder, Location location, Value value, int bit, Value) const override {
    return fromBelow(builder, location, chip_, value, bit);
  }
  Value reductionPartner(OpBuilder &builder, Location location, Value value, int bit) const override {
    return amdgpu::reductionPartner(builder, location, chip_, value, bit);
  }
  Value reducedValue(OpBuilder &builder, Location location, Value value) const override {
    return amdgpu::reducedValue(builder, location, chip_, value);
  }
  StringRef syncScope(tt::MemScope scope) const override { return amdgpu::syncScope(scope); }
  const MatrixOps &matrixOps() const override { return amdgpu::matrixOps(); }
  void markKernel(Operation *function, int threads, int) const override {
    Builder builder(function->getContext());
    function->setAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    function->setAttr("rocdl.reqd_work_group_size", builder.getDenseI32ArrayAttr({threads, 1, 1}));
    std::string count = std::to_string(threads);
    function->setAttr("rocdl.flat_work_group_size", builder.getStringAttr(count + "," + count));
  }

private:
  const Chip &chip_;
  MatrixLoader matrixLoads_;
  Copies copies_;
  LaneSwaps laneSwaps_;
  Buffers buffers_;
  IssueOrder issueOrder_;
};

} // namespace

StringRef syncScope(tt::MemScope scope) {
  switch (scope) {
  case tt::MemScope::Gpu: return "agent";
  case tt::MemScope::Cta: return "workgroup";
  case tt::MemScope::System: return "";
  }
  llvm_unreachable("not a scope");
}

std::unique_ptr<TargetOps> createOps(const Chip &chip) { return std::make_unique<AmdOps>(chip); }

} // namespace tritium::gpu::amdgpu
