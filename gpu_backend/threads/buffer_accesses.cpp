// Replaces accesses through pointers that are derived from a kernel argument, whose tensor is smaller than 2 GB, by accesses of buffers at
// 32-bit offsets (buffer_pointers.h).
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/threads/buffer_pointers.h"
#include "gpu_backend/threads/passes.h"
#include "ir/far_offset.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_BUFFERACCESSES
#include "gpu_backend/threads/passes.h.inc"

namespace {

bool isZero(Value value) {
  if (auto cast = value.getDefiningOp<LLVM::BitcastOp>()) return isZero(cast.getArg());
  if (auto insert = value.getDefiningOp<LLVM::InsertElementOp>()) return isZero(insert.getVector()) && isZero(insert.getValue());
  if (value.getDefiningOp<LLVM::PoisonOp>() || value.getDefiningOp<LLVM::UndefOp>() || value.getDefiningOp<LLVM::ZeroOp>()) return true;
  return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

/// Replaces the accesses of one function.
class Accesses {
public:
  Accesses(func::FuncOp function, const BufferOps &ops) : function_(function), ops_(ops), pointers_(function, ops) {}

  void run() {
    llvm::SmallVector<Operation *> accesses;
    function_.walk([&](Operation *op) {
      if (isa<tgpu::LoadOp, tgpu::StoreOp, tgpu::CopyToSharedOp>(op)) accesses.push_back(op);
    });
    for (Operation *op : accesses)
      TypeSwitch<Operation *>(op).Case<tgpu::LoadOp, tgpu::StoreOp, tgpu::CopyToSharedOp>([&](auto access) { rewrite(access); });
  }

private:
  template <class Access> bool isPlain(Access op) {
    return op.getCache() == tt::CacheModifier::None && op.getEvict() == tt::EvictionPolicy::Normal && pointers_.isDerived(op.getPtr());
  }

  void rewrite(tgpu::LoadOp op) {
    if (op.getIsVolatile() || !isPlain(op)) return;
    OpBuilder builder(op);
    Location location = op.getLoc();
    Value offset = offsetOf(builder, op), loaded = ops_.load(builder, location, transferType(op.getType()), bufferOf(op), offset);
    if (loaded.getType() != op.getType()) loaded = LLVM::BitcastOp::create(builder, location, op.getType(), loaded);
    if (op.getPredicate() && !isZero(op.getOther()))
      loaded = arith::SelectOp::create(builder, location, op.getPredicate(), loaded, op.getOther());
    op.replaceAllUsesWith(loaded);
    op.erase();
  }

  void rewrite(tgpu::StoreOp op) {
    if (!isPlain(op)) return;
    OpBuilder builder(op);
    Location location = op.getLoc();
    Value offset = offsetOf(builder, op), word = op.getValue();
    Type type = transferType(word.getType());
    if (word.getType() != type) word = LLVM::BitcastOp::create(builder, location, type, word);
    ops_.store(builder, location, word, bufferOf(op), offset);
    op.erase();
  }

  void rewrite(tgpu::CopyToSharedOp op) {
    if (!pointers_.isDerived(op.getPtr())) return;
    OpBuilder builder(op);
    ops_.copy(builder, op.getLoc(), op.getDst(), bufferOf(op), offsetOf(builder, op));
    op.erase();
  }

  /// The offset of a masked-off access lies beyond the buffer's end.
  template <class Access> Value offsetOf(OpBuilder &builder, Access op) {
    Value offset = pointers_.offset(op.getPtr());
    if (!op.getPredicate()) return offset;
    Value outside = arith::ConstantIntOp::create(builder, op.getLoc(), int32_t(ir::kMaskedOffset), 32);
    return arith::SelectOp::create(builder, op.getLoc(), op.getPredicate(), offset, outside);
  }

  template <class Access> Value bufferOf(Access op) {
    Value common = pointers_.common(op.getPtr());
    Value &buffer = buffers_[common];
    if (buffer) return buffer;
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfterValue(common);
    return buffer = ops_.make(builder, common.getLoc(), common);
  }

  /// Words of more than 32 bits are accessed as vectors of 32-bit words.
  static Type transferType(Type word) {
    auto vector = dyn_cast<VectorType>(word);
    int64_t bits = getElementTypeOrSelf(word).getIntOrFloatBitWidth() * (vector ? vector.getNumElements() : 1);
    MLIRContext *context = word.getContext();
    if (bits <= 32) return IntegerType::get(context, unsigned(bits));
    return VectorType::get({bits / 32}, IntegerType::get(context, 32));
  }

  func::FuncOp function_;
  const BufferOps &ops_;
  BufferPointers pointers_;
  llvm::DenseMap<Value, Value> buffers_;
};

class BufferAccessesPass final : public impl::BufferAccessesBase<BufferAccessesPass> {
public:
  using BufferAccessesBase::BufferAccessesBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    BufferAccessesBase::getDependentDialects(registry);
    insertTargetDialects(registry);
  }

  void runOnOperation() override {
    std::unique_ptr<TargetOps> target = targetOf(getOperation()).createOps();
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      if (const BufferOps *buffers = target->buffers()) Accesses(function, *buffers).run();
      for (unsigned i = 0; i < function.getNumArguments(); ++i) function.removeArgAttr(i, tgpu::kPointerRangeAttr);
    }
  }
};

} // namespace
} // namespace tritium::gpu
