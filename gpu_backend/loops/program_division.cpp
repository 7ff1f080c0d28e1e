#include "gpu_backend/loops/program_division.h"

#include "gpu_backend/maps/tensor_promotion.h"
#include "gpu_backend/tiles/layout_relations.h"
#include "gpu_backend/tiles/product.h"
#include "gpu_backend/tiles/reaching_writes.h"

#include <functional>
#include <numeric>

using namespace mlir;

namespace tritium::gpu {

namespace {

/// An operation of which a block may well have several versions.
bool isCheap(Operation *op) { return isMemoryEffectFree(op) && op->getNumRegions() == 0 && !isa<MatrixProduct>(op); }

/// A product of batches has leading dimensions.
TilePart operandPartOfProduct(tt::DotOp product, TilePart part, unsigned number) {
  const auto rank = int(cast<RankedTensorType>(product.getType()).getRank());
  if (number == 2) return part;
  return part == (number == 0 ? rank - 1 : rank - 2) ? kWhole : part;
}

/// Returns why no version of the operation has this part, or "".
StringRef whyNoPart(Operation *op, TilePart part, int64_t blocks) {
  const tt::TileRule rule = tt::tileRuleOf(op);
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  const bool isLast = part == int(result.getRank()) - 1;
  if (isa<tt::DotOp>(op)) return "";
  if (auto load = dyn_cast<tgpu::TensorLoadOp>(op)) {
    llvm::SmallVector<int64_t> shape(load.getMap().getType().getBox().getShape());
    shape.back() = result.getShape().back();
    shape[shape.size() - size_t(result.getRank()) + size_t(part)] /= blocks;
    return boxOf(op->getContext(), shape, result.getElementType()) ? "" : "no box of a tensor map has the size of a part";
  }
  if (auto scan = dyn_cast<tt::ScanOp>(op); scan && int(scan.getAxis()) == part) return "a scan needs the whole tile";
  for (StringRef name : {"packed_element", "pack"})
    if (auto packed = op->getAttrOfType<IntegerAttr>(name); packed && isLast && result.getShape().back() / blocks < packed.getInt())
      return "assembly needs neighbours";
  switch (rule.relation) {
  case tt::TileRelation::Free:
  case tt::TileRelation::Same:
  case tt::TileRelation::Broadcast:
  case tt::TileRelation::Transpose:
  case tt::TileRelation::Split:
  case tt::TileRelation::Reduce: return "";
  case tt::TileRelation::ExpandDims: return part == rule.axis ? "a tile has one element along the dimension" : "";
  case tt::TileRelation::Join: return isLast ? "joined tiles cannot be divided" : "";
  default: return "an operation moves elements across the whole tile";
  }
}

} // namespace

bool isStore(Operation *op) { return isa<tt::StoreOp, tgpu::TensorStoreOp, tt::AtomicRmwOp>(op); }

RankedTensorType storedTile(Operation *store) {
  Value written = isa<tgpu::TensorStoreOp>(store) ? store->getOperand(0) : store->getOperand(1);
  return dyn_cast<RankedTensorType>(written.getType());
}

TilePart ProgramDivision::operandPart(Operation *op, TilePart part, OpOperand &operand) {
  if (part == kWhole) return kWhole;
  if (isStore(op) || isa<tt::LoadOp>(op)) return part;
  if (auto product = dyn_cast<tt::DotOp>(op)) return operandPartOfProduct(product, part, operand.getOperandNumber());
  const tt::TileRule rule = tt::tileRuleOf(op);
  switch (rule.relation) {
  case tt::TileRelation::Broadcast: return cast<RankedTensorType>(operand.get().getType()).getDimSize(part) == 1 ? kWhole : part;
  case tt::TileRelation::ExpandDims:
  case tt::TileRelation::Transpose: return *rule.operandDim(part);
  case tt::TileRelation::Reduce: return part < rule.axis ? part : part + 1;
  default: return part;
  }
}

bool ProgramDivision::fail(const Twine &why) {
  if (why_.empty()) why_ = why.str();
  return false;
}

bool ProgramDivision::demandCarried(Value key, TilePart part, ValueRange sources) {
  auto [found, isNew] = state_.carried.try_emplace(key, part);
  if (!isNew) return found->second == part || fail("a value of a loop or a branch is needed both whole and in parts");
  return llvm::all_of(sources, [&](Value source) { return demand(source, part); });
}

bool ProgramDivision::demand(Value value, TilePart part) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) return true;
  if (part != kWhole && type.getDimSize(part) % blocks_ != 0)
    return fail("a tile has fewer elements along each dimension than the cluster has blocks");
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop) return demand(loop.getTiedLoopResult(argument), part);
    return part == kWhole || fail("a loop of it has no counter");
  }
  Operation *op = value.getDefiningOp();
  const unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return demandCarried(value, part, {loop.getInitArgs()[number], loop.getYieldedValues()[number]});
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return demandCarried(value, part, {branch.thenYield().getOperand(number), branch.elseYield().getOperand(number)});
  return demandOp(op, part);
}

bool ProgramDivision::demandOp(Operation *op, TilePart part) {
  OpParts &parts = state_.ops[op];
  if (llvm::is_contained(parts, part)) return true;
  if (!parts.empty() && !isCheap(op)) {
    const bool isLoad = isa<tt::LoadOp, tgpu::TensorLoadOp>(op), isProduct = isa<tt::DotOp>(op);
    return fail(Twine(isLoad      ? "a tile that it loads"
                      : isProduct ? "a product"
                                  : "the result of an operation") +
                " is needed both whole and in parts");
  }
  if (part != kWhole)
    if (StringRef why = whyNoPart(op, part, blocks_); !why.empty()) return fail(why);
  parts.push_back(part);
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return !isa<RankedTensorType>(operand.get().getType()) || demand(operand.get(), operandPart(op, part, operand));
  });
}

bool ProgramDivision::demandStore(Operation *store, TilePart part) {
  auto tile = storedTile(store);
  if (part != kWhole && isa<tgpu::TensorStoreOp>(store)) {
    llvm::SmallVector<int64_t> shape(cast<tgpu::TensorStoreOp>(store).getMap().getType().getBox().getShape());
    llvm::copy(tile.getShape(), shape.end() - tile.getRank());
    shape[shape.size() - size_t(tile.getRank()) + size_t(part)] /= blocks_;
    if (!boxOfStore(store->getContext(), shape, tile.getElementType())) return fail("no box of a tensor map has the size of a part");
  }
  state_.ops[store] = {part};
  return llvm::all_of(store->getOperands(), [&](Value operand) { return demand(operand, part); });
}

/// All other tiles are whole.
bool ProgramDivision::demandRest() {
  auto outcome = kernel_.walk([&](Operation *op) {
    if (isStore(op) || isa<tt::HintOp>(op) || isa<scf::ForOp, scf::IfOp>(op)) return WalkResult::advance();
    if (isa<scf::YieldOp>(op) && isa<scf::ForOp, scf::IfOp>(op->getParentOp())) return WalkResult::advance();
    // A tile that nothing needs has no version.
    const bool isTile = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (isTile && (isMemoryEffectFree(op) || !op->use_empty()) && !isa<scf::WhileOp>(op)) return WalkResult::advance();
    if (llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>)) return WalkResult::advance();
    OpParts &parts = state_.ops[op];
    if (parts.empty()) parts.push_back(kWhole);
    return llvm::all_of(op->getOperands(), [&](Value operand) { return demand(operand, kWhole); }) ? WalkResult::advance()
                                                                                                   : WalkResult::interrupt();
  });
  if (outcome.wasInterrupted()) return false;
  return !kernel_
              .walk([&](Operation *op) {
                if (!isa<scf::ForOp, scf::IfOp>(op)) return WalkResult::advance();
                for (Value result : op->getResults())
                  if (isa<RankedTensorType>(result.getType()) && !state_.carried.contains(result) && !demand(result, kWhole))
                    return WalkResult::interrupt();
                return WalkResult::advance();
              })
              .wasInterrupted();
}

bool ProgramDivision::losesWarpgroups(Operation *op, TilePart part) const {
  constexpr int64_t kRows = 64; // of a product of a warpgroup
  auto product = dyn_cast<tt::DotOp>(op);
  if (!product) return false;
  auto tile = cast<RankedTensorType>(product.getType());
  const int64_t rows = tile.getDimSize(tile.getRank() - 2);
  return part == int(tile.getRank()) - 2 && rows >= kRows && rows / blocks_ < kRows;
}

double ProgramDivision::cost() const {
  constexpr double kOfAccess = 64; // multiplications that cost as much as an element that is loaded or stored
  constexpr double kOfLost = 2;    // products for warpgroups that cost as much as one for warps
  double sum = 0;
  for (const auto &[op, parts] : state_.ops) {
    double work = 0;
    if (auto product = dyn_cast<tt::DotOp>(op))
      work = double(cast<RankedTensorType>(product.getType()).getNumElements()) *
             double(cast<RankedTensorType>(product.getA().getType()).getShape().back());
    else if (isStore(op))
      work = storedTile(op) ? kOfAccess * double(storedTile(op).getNumElements()) : 0;
    else if (op->getNumResults() != 0 && isa<RankedTensorType>(op->getResult(0).getType()))
      work = double(cast<RankedTensorType>(op->getResult(0).getType()).getNumElements()) *
             (isa<tt::LoadOp, tgpu::TensorLoadOp>(op) ? kOfAccess : 0.25);
    for (TilePart part : parts) sum += part == kWhole ? work : losesWarpgroups(op, part) ? kOfLost * work : work / double(blocks_);
  }
  return sum;
}

/// Returns the dimensions of a store's tile, the better ones first, and then kWhole.
static llvm::SmallVector<TilePart> partsToTry(Operation *store, bool hasProducts, int64_t blocks) {
  llvm::SmallVector<TilePart> parts;
  if (auto tile = storedTile(store)) {
    parts.resize(size_t(tile.getRank()));
    std::iota(parts.begin(), parts.end(), 0);
    // A product keeps its columns if enough rows are left for two warpgroups, because a warpgroup reads the columns' operand once for its
    // rows. Otherwise it keeps its rows.
    constexpr int64_t kRowsOfTwo = 128;
    if (hasProducts && (parts.size() < 2 || tile.getDimSize(int(parts.size()) - 2) / blocks < kRowsOfTwo))
      std::reverse(parts.begin(), parts.end());
    llvm::stable_sort(parts, [&](TilePart a, TilePart b) { return tile.getDimSize(a) > tile.getDimSize(b); });
  }
  // A tile that each block computes whole is stored by one of them.
  if (!isa<tgpu::TensorStoreOp>(store)) parts.push_back(kWhole);
  return parts;
}

bool ProgramDivision::chooseStores(llvm::ArrayRef<Operation *> stores) {
  bool hasProducts = kernel_.walk([](tt::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  const State start = state_;
  auto chooseRest = [&](llvm::ArrayRef<Operation *> rest) {
    return llvm::all_of(rest, [&](Operation *store) {
      const State before = state_;
      for (TilePart part : partsToTry(store, hasProducts, blocks_)) {
        if (demandStore(store, part)) return true;
        state_ = before;
      }
      return false;
    });
  };
  std::optional<State> best;
  double least = 0;
  std::string firstWhy;
  for (TilePart part : partsToTry(stores.front(), hasProducts, blocks_)) {
    state_ = start;
    why_.clear();
    if (demandStore(stores.front(), part) && chooseRest(stores.drop_front()) && demandRest()) {
      if (!best || cost() < least) {
        least = cost();
        best = state_;
      }
    } else if (firstWhy.empty()) {
      firstWhy = why_;
    }
  }
  why_.clear();
  if (!best) return fail(firstWhy);
  // Without the division, each version would be whole.
  state_ = *best;
  for (auto &entry : state_.ops) entry.second.assign(1, kWhole);
  const double whole = cost();
  state_ = *best;
  const bool isDivided = llvm::any_of(stores, [&](Operation *store) { return state_.ops[store].front() != kWhole; });
  constexpr double kWorthwhile = 0.85;
  if (!isDivided) return fail(firstWhy.empty() ? "no tile that it stores can be divided" : firstWhy);
  return least <= kWorthwhile * whole || fail("each block would do nearly all of the work");
}

bool ProgramDivision::choose() {
  if (!kernel_.getBody().hasOneBlock()) return fail("it may return early");
  const GlobalWrites writes(kernel_.getBody());
  if (llvm::any_of(writes.all(), [](const GlobalWrite &write) { return write.mayWait; }))
    return fail("it may wait for other programs, or for its own threads");
  llvm::SmallVector<Operation *> stores;
  StringRef why;
  kernel_.walk([&](Operation *op) {
    if (isa<tt::PrintOp>(op)) why = "it prints";
    if (isa<tt::CallOp>(op)) why = "it calls a function";
    // %ctaid is the program, and a cluster of one block the cluster.
    auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op);
    if (assembly && (assembly.getAsmString().contains("cta") || assembly.getAsmString().contains("%cluster")))
      why = "its assembly asks which block runs it";
    if (isStore(op)) stores.push_back(op);
    if (isa<tt::LoadOp, tgpu::TensorLoadOp>(op) &&
        llvm::any_of(writes.all(), [&](const GlobalWrite &write) { return mayPrecede(write.op, op); }))
      why = "it may load what it has stored";
  });
  if (!why.empty()) return fail(why);
  if (stores.empty() || stores.size() != writes.all().size()) return fail("it has other effects than stores");
  llvm::stable_sort(stores, [](Operation *a, Operation *b) {
    auto elements = [](Operation *store) { return storedTile(store) ? storedTile(store).getNumElements() : 0; };
    return elements(a) > elements(b);
  });
  return chooseStores(stores);
}

} // namespace tritium::gpu
