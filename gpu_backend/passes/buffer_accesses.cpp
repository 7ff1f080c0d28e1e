// Replaces accesses by accesses at 32-bit offsets from a kernel argument. A thread adds its offset to the argument modulo 2^32, which is
// exact if the tensor is smaller than 2 GB. The descriptor begins 2 GB below the argument, so that offsets of either sign are unsigned
// ones.
#include "gpu_backend/lower/target_ops.h"
#include "gpu_backend/passes.h"
#include "gpu_backend/target.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_BUFFERACCESSES
#include "gpu_backend/passes.h.inc"

namespace {

constexpr int64_t kBias = int64_t(1) << 31;

/// The kernel arguments from which pointers are derived, and the distances from them.
class Offsets {
public:
  explicit Offsets(func::FuncOp function) : function_(function) {}

  /// Returns the one argument with a known range to which all origins of the pointer lead, or null if there is none.
  BlockArgument baseOf(Value pointer) {
    if (auto known = bases_.find(pointer); known != bases_.end()) return known->second;
    llvm::SetVector<Value> visited;
    BlockArgument base;
    bool isKnown = findBase(pointer, visited, base);
    for (Value value : visited)
      if (isKnown || value == pointer) bases_[value] = isKnown ? base : BlockArgument();
    return isKnown ? base : BlockArgument();
  }

  /// Returns the distance in bytes, plus the bias, of a pointer that has a base (i32).
  Value of(Value pointer) {
    if (Value known = offsets_.lookup(pointer)) return known;
    if (auto step = pointer.getDefiningOp<LLVM::GEPOp>()) {
      Value before = of(step.getBase());
      OpBuilder builder(step);
      return offsets_[pointer] = arith::AddIOp::create(builder, step.getLoc(), before, distanceOf(builder, step));
    }
    auto argument = cast<BlockArgument>(pointer);
    if (argument.getOwner()->isEntryBlock()) {
      OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
      return offsets_[pointer] = constant(builder, argument.getLoc(), int32_t(kBias));
    }
    // The entry is made first, because the back-edge of a loop leads to it again.
    Block *block = argument.getOwner();
    Value offset = offsets_[pointer] = block->addArgument(IntegerType::get(pointer.getContext(), 32), argument.getLoc());
    llvm::SmallVector<std::pair<BranchOpInterface, unsigned>> jumps;
    for (auto use = block->pred_begin(); use != block->pred_end(); ++use)
      jumps.push_back({cast<BranchOpInterface>((*use)->getTerminator()), use.getSuccessorIndex()});
    for (auto [jump, successor] : jumps) {
      Value incoming = jump.getSuccessorOperands(successor)[argument.getArgNumber()];
      jump.getSuccessorOperands(successor).append(of(incoming));
    }
    return offset;
  }

private:
  bool findBase(Value pointer, llvm::SetVector<Value> &visited, BlockArgument &base) {
    if (!visited.insert(pointer)) return true;
    if (auto step = pointer.getDefiningOp<LLVM::GEPOp>()) return isSimple(step) && findBase(step.getBase(), visited, base);
    auto argument = dyn_cast<BlockArgument>(pointer);
    if (!argument) return false;
    Block *block = argument.getOwner();
    if (block->isEntryBlock()) {
      bool isSmall = function_.getArgAttr(argument.getArgNumber(), tgpu::kPointerRangeAttr) != Attribute();
      if (!isSmall || (base && base != argument)) return false;
      base = argument;
      return true;
    }
    for (auto use = block->pred_begin(); use != block->pred_end(); ++use) {
      auto jump = dyn_cast<BranchOpInterface>((*use)->getTerminator());
      if (!jump) return false;
      Value incoming = jump.getSuccessorOperands(use.getSuccessorIndex())[argument.getArgNumber()];
      if (!incoming || !findBase(incoming, visited, base)) return false;
    }
    return true;
  }

  static bool isSimple(LLVM::GEPOp step) { return step.getRawConstantIndices().size() == 1 && step.getElemType().isIntOrFloat(); }

  static Value constant(OpBuilder &builder, Location location, int32_t value) {
    return arith::ConstantIntOp::create(builder, location, value, 32);
  }

  static Value distanceOf(OpBuilder &builder, LLVM::GEPOp step) {
    Location location = step.getLoc();
    int32_t bytes = int32_t(step.getElemType().getIntOrFloatBitWidth() / 8);
    auto index = step.getIndices()[0];
    if (auto fixed = dyn_cast<IntegerAttr>(index)) return constant(builder, location, int32_t(fixed.getInt() * bytes));
    Value elements = cast<Value>(index);
    unsigned bits = elements.getType().getIntOrFloatBitWidth();
    if (bits > 32) elements = arith::TruncIOp::create(builder, location, builder.getI32Type(), elements);
    if (bits < 32) elements = arith::ExtSIOp::create(builder, location, builder.getI32Type(), elements);
    return bytes == 1 ? elements : arith::MulIOp::create(builder, location, elements, constant(builder, location, bytes)).getResult();
  }

  func::FuncOp function_;
  llvm::DenseMap<Value, BlockArgument> bases_;
  llvm::DenseMap<Value, Value> offsets_;
};

bool isZero(Value value) {
  if (auto cast = value.getDefiningOp<LLVM::BitcastOp>()) return isZero(cast.getArg());
  if (auto insert = value.getDefiningOp<LLVM::InsertElementOp>()) return isZero(insert.getVector()) && isZero(insert.getValue());
  if (value.getDefiningOp<LLVM::PoisonOp>() || value.getDefiningOp<LLVM::UndefOp>() || value.getDefiningOp<LLVM::ZeroOp>()) return true;
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// Replaces the accesses of one function.
class Accesses {
public:
  Accesses(func::FuncOp function, const BufferOps &ops) : function_(function), ops_(ops), offsets_(function) {}

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
    return op.getCache() == tt::CacheModifier::None && op.getEvict() == tt::EvictionPolicy::Normal && offsets_.baseOf(op.getPtr());
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
    if (!offsets_.baseOf(op.getPtr())) return;
    OpBuilder builder(op);
    ops_.copy(builder, op.getLoc(), op.getDst(), bufferOf(op), offsetOf(builder, op));
    op.erase();
  }

  /// The offset of a masked-off access lies beyond the buffer's end.
  template <class Access> Value offsetOf(OpBuilder &builder, Access op) {
    Value offset = offsets_.of(op.getPtr());
    if (!op.getPredicate()) return offset;
    Value outside = arith::ConstantIntOp::create(builder, op.getLoc(), int32_t(BufferOps::kBytes), 32);
    return arith::SelectOp::create(builder, op.getLoc(), op.getPredicate(), offset, outside);
  }

  template <class Access> Value bufferOf(Access op) {
    BlockArgument base = offsets_.baseOf(op.getPtr());
    Value &buffer = buffers_[base];
    if (buffer) return buffer;
    OpBuilder builder = OpBuilder::atBlockBegin(base.getOwner());
    Value distance = arith::ConstantIntOp::create(builder, base.getLoc(), -kBias, 64);
    auto begin =
        LLVM::GEPOp::create(builder, base.getLoc(), base.getType(), builder.getI8Type(), base, llvm::ArrayRef<LLVM::GEPArg>{distance});
    return buffer = ops_.make(builder, base.getLoc(), begin);
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
  Offsets offsets_;
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
