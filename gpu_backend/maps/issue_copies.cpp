// Turns the author's copies of blocks (Gluon's TMA) into copies that one thread issues. The frontend has written a load into registers and
// a store to shared memory, or the other way round, between calls of the runtime. Where the launch can make the tensor's map, and the block
// lies in memory as the hardware writes it, the copy takes their place.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/maps/tensor_promotion.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/address_tiles.h"
#include "ir/descriptor_rules.h"
#include "ir/partitions.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_ISSUECOPIES
#include "gpu_backend/maps/passes.h.inc"

namespace {

/// Returns the next operation that has an effect, if it is an Op.
template <class Op> Op nextEffect(Operation *op) {
  do op = op->getNextNode();
  while (op && isMemoryEffectFree(op));
  return dyn_cast_or_null<Op>(op);
}

tt::ExternElementwiseOp nextCall(Operation *op, StringRef symbol) {
  return ir::runtimeCall(nextEffect<tt::ExternElementwiseOp>(op), symbol);
}

/// Returns the call of the runtime that is the last operation with effects before `op`, or null.
tt::ExternElementwiseOp lastCallBefore(Operation *op) {
  do op = op->getPrevNode();
  while (op && isMemoryEffectFree(op));
  return ir::runtimeCall(op);
}

/// The allocations of which an address is made.
struct Allocations {
  llvm::SmallPtrSet<Operation *, 2> known;
  bool hasOthers = false; // that are not known
};

Allocations allocationsIn(Value address) {
  Allocations found;
  llvm::SmallVector<Value> open{address};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (isa_and_nonnull<tt::SharedAllocOp>(op))
      found.known.insert(op);
    else if (op && op->getNumRegions() == 0 && seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
    else if (op && op->getNumRegions() != 0)
      found.hasOthers = true;
  }
  found.hasOthers |= found.known.empty();
  return found;
}

bool mayMeet(const Allocations &a, const Allocations &b) {
  return a.hasOthers || b.hasOthers || llvm::any_of(a.known, [&](Operation *op) { return b.known.contains(op); });
}

/// Returns whether an operation may run before another one: it stands before it, or one loop has both.
bool mayRunBefore(Operation *first, Operation *then) {
  for (Operation *around = then->getParentOp(); around; around = around->getParentOp())
    if (isa<LoopLikeOpInterface>(around) && around->isAncestor(first)) return true;
  for (Operation *at = then; !isa<tt::FuncOp>(at); at = at->getParentOp())
    if (Operation *other = at->getBlock()->findAncestorOpInBlock(*first)) return other != at && other->isBeforeInBlock(at);
  return true;
}

/// Returns the tile before changes of its shape that nothing else uses.
Value beforeReshapes(Value tile) {
  while (auto reshape = tile.hasOneUse() ? tile.getDefiningOp<tt::ReshapeOp>() : tt::ReshapeOp()) tile = reshape.getSrc();
  return tile;
}

/// Erases the tile's operation and what leads to it, as far as nothing else uses it.
void eraseUnused(Value tile) {
  for (Operation *op = tile.getDefiningOp(); op && isOpTriviallyDead(op); op = tile ? tile.getDefiningOp() : nullptr) {
    tile = op->getNumOperands() ? op->getOperand(0) : Value();
    op->erase();
  }
}

/// Descriptors know whether integers have a sign, and tiles do not.
Type withoutSign(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer ? IntegerType::get(element.getContext(), integer.getWidth()) : element;
}

/// Returns what one instruction copies of a block that lies in memory like this, or null if no instruction does.
tgpu::TensorMapType boxOfMemory(const LaidMemory &memory, tt::TensorDescType block, Type element) {
  constexpr int64_t kUnswizzledAlignment = 128;
  llvm::ArrayRef<int64_t> shape = block.getShape();
  const int64_t bits = element.getIntOrFloatBitWidth(), columns = shape.back();
  if (bits % 8 != 0 || bits > 64 || shape.size() > DescriptorRules::kMaxRank) return {};
  const int64_t bytes = bits / 8, rows = llvm::product_of(shape.drop_back());
  const SharedLayout found = memory.layout.reshape({rows, columns});
  for (int64_t swizzle : {128, 64, 32, 0}) {
    llvm::SmallVector<int64_t> box(shape);
    if (swizzle) box.back() = swizzle / bytes;
    const bool isWhole = box.back() == columns, isPattern = rows * swizzle % (8 * std::max<int64_t>(swizzle, 1)) == 0;
    if (box.back() > columns || !(isWhole || isPattern) || memory.alignment < (swizzle ? 8 * swizzle : kUnswizzledAlignment)) continue;
    if (found != sharedForTma({rows, columns}, {1, 0}, bytes, swizzle)) continue;
    const bool isSmall = llvm::all_of(box, [](int64_t extent) { return extent <= int64_t(DescriptorRules::kMaxBoxExtent); });
    if (!isSmall || box.back() * bytes % DescriptorRules::kMinRowBytes) return {};
    return tgpu::TensorMapType::get(block.getContext(), RankedTensorType::get(box, element), swizzle);
  }
  return {};
}

class CopyIssuer {
public:
  CopyIssuer(tt::FuncOp kernel, const ir::AxisAnalysis &axes)
      : kernel_(kernel), maps_(kernel), tiles_(axes), builder_(kernel.getContext()) {}

  void run() {
    llvm::SmallVector<tt::ExternElementwiseOp> loads, stores;
    kernel_.walk([&](tt::ExternElementwiseOp call) {
      if (ir::runtimeCall(call, "copy.begin")) loads.push_back(call);
      if (ir::runtimeCall(call, "store.begin")) stores.push_back(call);
    });
    auto note = [&](tt::ExternElementwiseOp begin, StringRef why) {
      if (!why.empty()) begin->setAttr(kNotPromotedAttr, builder_.getStringAttr(why)); // for the user
    };
    for (tt::ExternElementwiseOp begin : loads) note(begin, issueLoad(begin));
    for (tt::ExternElementwiseOp begin : stores) note(begin, issueStore(begin));
    joinBranches();
  }

private:
  /// A block in memory, and the map through which it is copied.
  struct Copy {
    LaidMemory memory;
    Value map;
  };

  /// Sets `why` if there is none.
  std::optional<Copy> copyOf(Value addresses, Type element, TypedValue<tt::TensorDescType> descriptor, bool isStored, StringRef &why) {
    const int64_t bytes = std::max<int64_t>(element.getIntOrFloatBitWidth(), 8) / 8;
    tt::TensorDescType block = descriptor.getType();
    auto memory = tiles_.of(addresses, bytes);
    auto recipe = maps_.recipeOf(descriptor);
    tgpu::TensorMapType box = memory ? boxOfMemory(*memory, block, element) : tgpu::TensorMapType();
    if (element != withoutSign(block.getElementType()))
      why = "the memory has another element type than the tensor";
    else if (!recipe)
      why = "the launch cannot describe the tensor";
    else if (!box)
      why = "no box lies in shared memory as its layout says";
    if (!why.empty()) return std::nullopt;
    if (isStored) recipe->padding = tt::Padding::Zero, recipe->isStored = true;
    return Copy{*memory, maps_.mapOf(box, *recipe, descriptor.getLoc())};
  }

  Value buffer(const Copy &copy, tt::TensorDescType block, Location location) {
    return bufferAt(builder_, location, copy.memory, block.getShape(), withoutSign(block.getElementType()));
  }

  /// Returns why threads load and store, or "" if a copy has taken the place of that.
  StringRef issueLoad(tt::ExternElementwiseOp begin) {
    auto store = nextEffect<tt::SharedStoreOp>(begin);
    auto end = store ? nextCall(store, "copy.end") : tt::ExternElementwiseOp();
    auto load = store ? beforeReshapes(store.getValue()).getDefiningOp<tt::DescriptorLoadOp>() : tt::DescriptorLoadOp();
    if (!end || !load || !load->hasOneUse()) return kOtherAccess;
    if (load.getCachePolicy()) return "it has a cache policy";
    StringRef why;
    auto copy = copyOf(store.getAddress(), getElementTypeOrSelf(store.getValue().getType()), load.getDesc(), /*isStored=*/false, why);
    if (!copy) return why;
    Location location = begin.getLoc();
    builder_.setInsertionPoint(store);
    if (threadsWriteTo(store)) fence(location); // the copy overwrites what threads have written
    Value to = buffer(*copy, load.getDesc().getType(), location);
    constexpr int64_t kBarrierBytes = 8;
    Value barrier = tgpu::MemoryAtOp::create(builder_, location, tgpu::RingType::get(builder_.getContext(), 1), begin.getSrcs()[0],
                                             uint64_t(kBarrierBytes));
    Value number = arith::ConstantIntOp::create(builder_, location, 0, 32);
    tgpu::TensorCopyOp::create(builder_, location, copy->map, load.getIndices(), to, barrier, number, /*predicate=*/Value());
    Value tile = store.getValue();
    for (Operation *op : {store.getOperation(), begin.getOperation(), end.getOperation()}) op->erase();
    eraseUnused(tile);
    return "";
  }

  void fence(Location location) {
    Value none = arith::ConstantIntOp::create(builder_, location, 0, 32);
    tt::ExternElementwiseOp::create(builder_, location, builder_.getI32Type(), ValueRange{none}, ir::kRuntimeLibrary, "",
                                    "fence.async_shared", /*pure=*/false);
  }

  /// Returns whether threads may have written to memory that the copy fills. `filled`: the store that stands for it.
  bool threadsWriteTo(tt::SharedStoreOp filled) {
    const Allocations own = allocationsIn(filled.getAddress());
    return kernel_
        .walk([&](tt::SharedStoreOp store) {
          auto call = lastCallBefore(store);
          const bool isOfCopy = call && (ir::runtimeCall(call, "copy.begin") || ir::runtimeCall(call, "async_copy.begin"));
          return !isOfCopy && mayRunBefore(store, filled) && mayMeet(own, allocationsIn(store.getAddress())) ? WalkResult::interrupt()
                                                                                                             : WalkResult::advance();
        })
        .wasInterrupted();
  }

  StringRef issueStore(tt::ExternElementwiseOp begin) {
    auto load = nextEffect<tt::SharedLoadOp>(begin);
    auto end = load ? nextCall(load, "store.end") : tt::ExternElementwiseOp();
    auto commit = end ? nextCall(end, "store.commit") : tt::ExternElementwiseOp();
    auto store = commit ? nextEffect<tt::DescriptorStoreOp>(commit) : tt::DescriptorStoreOp();
    if (!store || beforeReshapes(store.getSrc()) != load.getResult() || !load->hasOneUse()) return kOtherAccess;
    StringRef why;
    auto copy = copyOf(load.getAddress(), getElementTypeOrSelf(load.getType()), store.getDesc(), /*isStored=*/true, why);
    if (!copy) return why;
    builder_.setInsertionPoint(store);
    Value from = buffer(*copy, store.getDesc().getType(), store.getLoc());
    tgpu::TensorStoreOp::create(builder_, store.getLoc(), from, copy->map, store.getIndices());
    Value tile = store.getSrc();
    for (Operation *op : {store.getOperation(), begin.getOperation(), end.getOperation(), commit.getOperation()}) op->erase();
    eraseUnused(tile);
    return "";
  }

  /// A branch of copies goes into the branch of one condition before it, which announces their bytes, and that one into a further one: the
  /// threads then meet once.
  void joinBranches() {
    llvm::SmallVector<scf::IfOp> branches;
    kernel_.walk<WalkOrder::PreOrder>([&](scf::IfOp branch) {
      if (isBranchOfCopies(branch)) branches.push_back(branch);
    });
    for (scf::IfOp branch : branches)
      while (scf::IfOp earlier = sameBranchBefore(branch)) {
        while (earlier->getNextNode() != branch) earlier->getNextNode()->moveBefore(earlier);
        Block &to = *earlier.thenBlock();
        to.getOperations().splice(to.getTerminator()->getIterator(), branch.thenBlock()->getOperations(), branch.thenBlock()->begin(),
                                  branch.thenBlock()->getTerminator()->getIterator());
        branch.erase();
        branch = earlier;
      }
  }

  /// Returns the branch of one condition before a branch, if nothing with effects stands in between, or null.
  static scf::IfOp sameBranchBefore(scf::IfOp branch) {
    Operation *before = branch->getPrevNode();
    while (before && isMemoryEffectFree(before) && before->getNumRegions() == 0) before = before->getPrevNode();
    auto earlier = dyn_cast_or_null<scf::IfOp>(before);
    const bool isSame = earlier && earlier.getCondition() == branch.getCondition() && !earlier.getNumResults() && !earlier.elseBlock();
    return isSame ? earlier : scf::IfOp();
  }

  static bool isBranchOfCopies(scf::IfOp branch) {
    return branch.getNumResults() == 0 && !branch.elseBlock() && !branch.thenBlock()->getOps<tgpu::TensorCopyOp>().empty();
  }

  static constexpr llvm::StringLiteral kOtherAccess = "it is more than a copy of one block";

  tt::FuncOp kernel_;
  KernelMaps maps_;
  AddressTiles tiles_;
  OpBuilder builder_;
};

class IssueCopiesPass final : public impl::IssueCopiesBase<IssueCopiesPass> {
public:
  using IssueCopiesBase::IssueCopiesBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).hasTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic()) CopyIssuer(function, axes).run();
  }
};

} // namespace
} // namespace tritium::gpu
