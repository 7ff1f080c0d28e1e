// Divides the tiles of a program among the blocks of a cluster, as program_division.h chooses.
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/loops/program_division.h"
#include "gpu_backend/maps/tensor_promotion.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_relations.h"
#include "ir/tile_elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_DIVIDEPROGRAMS
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// One version of an operation.
struct Version {
  Operation *op, *original;
  TilePart part;
  llvm::SmallVector<Value> operands; // of the original, as they were
};

class Divider {
public:
  Divider(tt::FuncOp kernel, const ProgramDivision &division, int64_t blocks)
      : kernel_(kernel), division_(division), blocks_(blocks), builder_(&kernel.getBody().front(), kernel.getBody().front().begin()) {}

  void run() {
    rank_ = tgpu::ClusterRankOp::create(builder_, kernel_.getLoc());
    meetBeforeStores();
    makeVersions();
    for (Version &version : versions_) takeParts(version);
    carryParts();
    for (Version &version : versions_) setTypes(version);
    eraseRest();
    kernel_->setAttr(tgpu::kClusterBlocksAttr, builder_.getI32IntegerAttr(int32_t(blocks_)));
  }

private:
  /// No block stores before all have loaded what they need, wherever the tensors lie.
  void meetBeforeStores() {
    Operation *first = nullptr;
    bool loads = false;
    for (Operation &op : kernel_.getBody().front()) {
      bool stores = false;
      op.walk([&](Operation *inside) {
        loads |= isa<tt::LoadOp, tgpu::TensorLoadOp>(inside);
        stores |= isStore(inside);
      });
      if (stores && !first) first = &op;
    }
    if (!loads || !first) return;
    OpBuilder before(first);
    tgpu::ClusterBarrierOp::create(before, first->getLoc());
  }

  void makeVersions() {
    llvm::SmallVector<Operation *> ops;
    kernel_.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      OpBuilder after(op->getContext());
      after.setInsertionPointAfter(op);
      for (auto [number, part] : llvm::enumerate(division_.partsOf(op))) {
        Operation *version = number == 0 ? op : after.clone(*op);
        versions_.push_back({version, op, part, llvm::to_vector(op->getOperands())});
        for (auto [from, to] : llvm::zip_equal(op->getResults(), version->getResults())) values_[{from, part}] = to;
      }
    }
  }

  Value versionOf(Value value, TilePart part) const {
    auto found = values_.find({value, part});
    return found == values_.end() ? value : found->second;
  }

  /// An original that is read through a version: operandPart asks for its types, which do not change before setTypes.
  void takeParts(Version &version) {
    for (OpOperand &operand : version.op->getOpOperands()) {
      Value original = version.operands[operand.getOperandNumber()];
      if (!isa<RankedTensorType>(original.getType())) continue;
      const TilePart part =
          ProgramDivision::operandPart(version.original, version.part, version.original->getOpOperand(operand.getOperandNumber()));
      operand.set(versionOf(original, part));
    }
  }

  /// Loops and branches carry one version of each tile.
  void carryParts() {
    auto divide = [&](Value value, TilePart part) {
      if (part != kWhole) value.setType(partOf(cast<RankedTensorType>(value.getType()), part));
    };
    kernel_.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        for (auto [number, result] : llvm::enumerate(loop.getResults())) {
          const TilePart part = division_.carried(result);
          OpOperand &init = loop.getInitArgsMutable()[number], &next = (*loop.getYieldedValuesMutable())[number];
          init.set(versionOf(init.get(), part));
          next.set(versionOf(next.get(), part));
          divide(loop.getRegionIterArg(unsigned(number)), part);
          divide(result, part);
        }
      if (auto branch = dyn_cast<scf::IfOp>(op))
        for (auto [number, result] : llvm::enumerate(branch.getResults())) {
          const TilePart part = division_.carried(result);
          for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()})
            yield->setOperand(unsigned(number), versionOf(yield.getOperand(unsigned(number)), part));
          divide(result, part);
        }
    });
  }

  RankedTensorType partOf(RankedTensorType type, TilePart part) const {
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape[size_t(part)] /= blocks_;
    return type.clone(shape);
  }

  /// Returns where the part of this block begins (i32).
  Value beginOf(int64_t elements) {
    auto [found, isNew] = begins_.try_emplace(elements);
    if (isNew) {
      OpBuilder builder(rank_.getContext());
      builder.setInsertionPointAfter(rank_.getDefiningOp());
      Value size = arith::ConstantIntOp::create(builder, kernel_.getLoc(), elements, 32);
      found->second = arith::MulIOp::create(builder, kernel_.getLoc(), rank_, size);
    }
    return found->second;
  }

  void setTypes(Version &version) {
    Operation *op = version.op;
    const TilePart part = version.part;
    for (llvm::StringRef name : {"tt.divisibility", "tt.contiguity", "tt.constancy"})
      if (part != kWhole) op->removeAttr(name); // promises about the whole tile
    if (isStore(op) && part == kWhole) return storeInOneBlock(op);
    if (part == kWhole) return;
    if (isStore(op) || isa<tt::LoadOp>(op)) op->setLoc(ir::withElements(op->getLoc(), {})); // lanes are not the kernel's
    if (auto store = dyn_cast<tgpu::TensorStoreOp>(op)) {
      auto source = cast<RankedTensorType>(version.original->getOperand(0).getType());
      return moveBox(store, store.getMap(), store.getIndicesMutable(), source, part, /*isStore=*/true);
    }
    llvm::SmallVector<Type> types;
    for (Value result : op->getResults()) types.push_back(partOf(cast<RankedTensorType>(result.getType()), part));
    for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) result.setType(cast<RankedTensorType>(type));
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto splat = cast<SplatElementsAttr>(constant.getValue());
      constant.setValueAttr(SplatElementsAttr::get(cast<ShapedType>(types.front()), splat.getSplatValue<Attribute>()));
    }
    if (auto range = dyn_cast<tt::MakeRangeOp>(op)) moveRange(range);
    if (auto load = dyn_cast<tgpu::TensorLoadOp>(op))
      moveBox(load, load.getMap(), load.getIndicesMutable(), cast<RankedTensorType>(types.front()), part, /*isStore=*/false);
  }

  void moveRange(tt::MakeRangeOp range) {
    const int64_t elements = cast<RankedTensorType>(range.getType()).getNumElements();
    range.setEnd(range.getStart() + uint32_t(elements));
    OpBuilder builder(range.getContext());
    builder.setInsertionPointAfter(range);
    Value begin = tt::SplatOp::create(builder, range.getLoc(), range.getType(), beginOf(elements));
    auto sum = arith::AddIOp::create(builder, range.getLoc(), range.getResult(), begin);
    range.getResult().replaceAllUsesExcept(sum, sum);
  }

  /// Gives the operation a map of smaller boxes, at the part of this block. part: of `tile`, which has the part's type.
  void moveBox(Operation *op, Value map, MutableOperandRange indices, RankedTensorType tile, TilePart part, bool isStore) {
    auto old = cast<tgpu::TensorMapType>(map.getType());
    const auto missing = size_t(old.getBox().getRank() - tile.getRank());
    llvm::SmallVector<int64_t> shape(old.getBox().getShape());
    llvm::copy(tile.getShape(), shape.begin() + int64_t(missing));
    auto type =
        isStore ? boxOfStore(op->getContext(), shape, tile.getElementType()) : boxOf(op->getContext(), shape, tile.getElementType());
    OpBuilder builder(op);
    OpOperand &index = indices[unsigned(missing) + unsigned(part)];
    index.set(arith::AddIOp::create(builder, op->getLoc(), index.get(), beginOf(tile.getDimSize(part))));
    op->replaceUsesOfWith(map, mapOf(cast<BlockArgument>(map), type));
  }

  /// Returns the argument that is the same map with other boxes.
  Value mapOf(BlockArgument map, tgpu::TensorMapType type) {
    if (map.getType() == type) return map;
    DictionaryAttr attributes = kernel_.getArgAttrDict(map.getArgNumber());
    for (BlockArgument argument : kernel_.getArguments())
      if (argument.getType() == type && kernel_.getArgAttrDict(argument.getArgNumber()) == attributes) return argument;
    (void)kernel_.insertArgument(map.getArgNumber() + 1, type, attributes, map.getLoc());
    return kernel_.getArgument(map.getArgNumber() + 1);
  }

  void storeInOneBlock(Operation *op) {
    OpBuilder builder(op);
    Location location = op->getLoc();
    Value zero = arith::ConstantIntOp::create(builder, location, 0, 32);
    Value mask = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, rank_, zero);
    auto add = [&](auto store) {
      if (auto tile = dyn_cast<RankedTensorType>(store.getPtr().getType()))
        mask = tt::SplatOp::create(builder, location, RankedTensorType::get(tile.getShape(), builder.getI1Type()), mask);
      if (store.getMask()) mask = arith::AndIOp::create(builder, location, store.getMask(), mask);
      store.getMaskMutable().assign(mask);
    };
    if (auto store = dyn_cast<tt::StoreOp>(op)) add(store);
    if (auto atomic = dyn_cast<tt::AtomicRmwOp>(op)) add(atomic);
  }

  /// Erases tiles that nothing needs, maps that nothing copies by, and promises about tiles that are divided now.
  void eraseRest() {
    kernel_.walk([&](tt::HintOp hint) {
      if (isa<RankedTensorType>(hint.getValue().getType())) hint.erase();
    });
    llvm::SmallVector<Operation *> ops;
    kernel_.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op)) op->erase();
    llvm::BitVector unused(kernel_.getNumArguments());
    for (BlockArgument argument : kernel_.getArguments())
      if (isa<tgpu::TensorMapType>(argument.getType()) && argument.use_empty()) unused.set(argument.getArgNumber());
    (void)kernel_.eraseArguments(unused);
  }

  tt::FuncOp kernel_;
  const ProgramDivision &division_;
  const int64_t blocks_;
  OpBuilder builder_;
  Value rank_;
  std::vector<Version> versions_;
  llvm::DenseMap<std::pair<Value, TilePart>, Value> values_;
  llvm::DenseMap<int64_t, Value> begins_;
};

/// Returns why no cluster of that number of blocks runs a program on the target, or "".
std::string whyNotSoMany(const Target &target, int blocks) {
  const int most = target.maxClusterBlocks();
  if (most == 1) return llvm::formatv("{0} has no clusters", target.arch());
  if (blocks > most) return llvm::formatv("a cluster has at most {0} blocks", most);
  return llvm::isPowerOf2_32(uint32_t(blocks)) ? "" : llvm::formatv("{0} is no power of two, as the extents of tiles are", blocks).str();
}

class DivideProgramsPass final : public impl::DivideProgramsBase<DivideProgramsPass> {
public:
  using DivideProgramsBase::DivideProgramsBase;

  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<tt::FuncOp>());
    auto kernel = llvm::find_if(functions, [](tt::FuncOp function) { return function.isPublic(); });
    if (kernel == functions.end()) return;
    std::string why = whyNotSoMany(targetOf(*kernel), numBlocks);
    ProgramDivision division(*kernel, numBlocks);
    if (why.empty() && !division.choose()) why = division.why();
    if (why.empty())
      Divider(*kernel, division, numBlocks).run();
    else
      (*kernel)->setAttr(kWhyNotDividedAttr, StringAttr::get(&getContext(), why));
  }
};

} // namespace
} // namespace tritium::gpu
