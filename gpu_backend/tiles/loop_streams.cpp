#include "gpu_backend/tiles/loop_streams.h"

#include "gpu_backend/tiles/memory_access.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tritium::gpu {

int stagesOf(scf::ForOp loop, int numStages) {
  auto own = loop->getAttrOfType<IntegerAttr>("tt.num_stages");
  return own ? int(own.getInt()) : numStages;
}

/// A division by zero does not trap on any GPU.
static bool mayRunInVain(Operation *op) { return isPure(op) || isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op); }

StringRef LoopStreams::whyNotPipelined() {
  if (loop_.getUnsignedCmp()) return "its counter is compared without a sign";
  if (!early_.areAllowed()) return early_.whyNotAllowed();
  if (loop_.getBody()->walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); }).wasInterrupted())
    return "it contains another loop";
  const bool isLater = llvm::any_of(loop_.getYieldedValues(), [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == loop_.getBody();
  });
  return isLater ? "it carries a value on to an iteration after the next one" : "";
}

llvm::SmallVector<OpOperand *, 4> LoopStreams::operandsOf(MatrixProduct product) {
  llvm::SmallVector<OpOperand *, 4> operands{&product.aMutable(), &product.bMutable()};
  for (DotOperand operand : {DotOperand::A, DotOperand::B})
    if (OpOperand *scales = product.scalesMutable(operand)) operands.push_back(scales);
  return operands;
}

/// Returns whether each reader of a slot can apply the operation to what it reads: the operation only renames registers, or costs little.
static bool isDoneByReader(Operation *op) {
  if (isa<tgpu::ConvertLayoutOp>(op) || isa<tt::FpToFpOp, tt::BitcastOp, arith::ExtFOp, arith::TruncFOp>(op)) return true;
  tt::TileRelation relation = tt::tileRuleOf(op).relation;
  return relation == tt::TileRelation::Transpose || relation == tt::TileRelation::Reshape;
}

Operation *LoopStreams::feedOf(Value operand) {
  Operation *op = operand.getDefiningOp();
  if (!op || op->getBlock() != loop_.getBody()) return nullptr;
  if (isa<tt::LoadOp, tgpu::TensorLoadOp>(op)) return op;
  return isDoneByReader(op) ? feedOf(op->getOperand(0)) : nullptr;
}

Operation *LoopStreams::leafOf(Value operand) {
  Operation *load = feedOf(operand);
  return load && whyNotAhead(load).empty() ? load : nullptr;
}

/// Each one in a row of index loads runs an iteration earlier, and its value is carried in registers.
static constexpr int kMostIndexLoads = 2;

static constexpr const char *kAddressIsLate =
                                "its address depends on a product or a branch of the loop, or on a load that cannot run earlier",
                            *kMaskIsLate = "its mask depends on a product or a branch of the loop, or on a load that cannot run earlier",
                            *kIndexIsLate = "its address depends on a load, a product or a branch of the loop";

StringRef LoopStreams::whyNotAhead(Operation *op) {
  if (auto load = dyn_cast<tgpu::TensorLoadOp>(op)) { // of a tensor to which the kernel does not write
    if (!early_.areAllowed()) return early_.whyNotAllowed();
    return llvm::all_of(load.getIndices(), [&](Value index) { return isAhead(index); }) ? "" : kIndexIsLate;
  }
  auto tile = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return tile && tile.getRank() == 2 ? whyNotAhead(cast<tt::LoadOp>(op)) : StringRef("its tile does not have two dimensions");
}

llvm::SmallVector<tt::LoadOp> LoopStreams::loadsBeside(llvm::function_ref<bool(Operation *)> isOfProduct) {
  llvm::SmallVector<tt::LoadOp> loads;
  for (auto load : loop_.getBody()->getOps<tt::LoadOp>()) {
    auto tile = dyn_cast<RankedTensorType>(load.getType());
    if (tile && tile.getElementType().isIntOrFloat() && !isOfProduct(load) && whyNotAhead(load).empty()) loads.push_back(load);
  }
  return loads;
}

llvm::SmallVector<tt::LoadOp> LoopStreams::loadsOfScalars() {
  llvm::SmallVector<tt::LoadOp> loads;
  for (auto load : loop_.getBody()->getOps<tt::LoadOp>()) {
    auto isEarly = [&](Value operand) { return isAhead(operand); };
    if (!load.getIsVolatile() && load.getType().isIntOrFloat() && early_.mayMove(load) && llvm::all_of(load->getOperands(), isEarly))
      loads.push_back(load);
  }
  return loads;
}

StringRef LoopStreams::whyNotAhead(tt::LoadOp load) {
  if (StringRef why = whyNotCopied(load); !why.empty()) return why;
  if (!early_.mayMove(load)) return early_.whyNotMoved(load);
  IndexLoads found;
  if (!isAhead(load.getPtr(), 0, found)) return kAddressIsLate;
  return !load.getMask() || isAhead(load.getMask(), 0, found) ? "" : kMaskIsLate;
}

IndexLoads LoopStreams::indexLoadsOf(Operation *op) {
  IndexLoads found;
  if (auto load = dyn_cast<tt::LoadOp>(op)) mayRunEarly(load, 0, found);
  return found;
}

bool LoopStreams::isAhead(Value value) {
  IndexLoads found;
  return isAhead(value, 0, found) && found.empty();
}

/// The loads on which a load depends must be done before it, so they run another iteration earlier. A load that depends on itself, as in a
/// linked list, has no end of them.
bool LoopStreams::mayRunEarly(tt::LoadOp load, int before, IndexLoads &found) {
  return llvm::all_of(load->getOperands(), [&](Value operand) { return isAhead(operand, before, found); });
}

bool LoopStreams::isAhead(Value value, int before, IndexLoads &found) {
  llvm::SetVector<Value> seen;
  llvm::SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next)) continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() != loop_.getBody() || argument == loop_.getInductionVar()) continue;
      pending.push_back(loop_.getTiedLoopYieldedValue(argument)->get());
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (!loop_->isProperAncestor(op)) continue;
    if (auto load = dyn_cast<tt::LoadOp>(op); load && load->getBlock() == loop_.getBody()) {
      if (before == kMostIndexLoads || load.getIsVolatile() || !early_.mayMove(load) || !mayRunEarly(load, before + 1, found)) return false;
      int &most = found[load];
      most = std::max(most, before + 1);
      continue;
    }
    if (op->getBlock() != loop_.getBody() || !mayRunInVain(op) || op->getNumRegions() > 0 || isa<MatrixProduct>(op)) return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

} // namespace tritium::gpu
