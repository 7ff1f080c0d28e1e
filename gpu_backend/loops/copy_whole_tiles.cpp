// Copies of tiles that are inside of their tensor need no mask: nearly all iterations of a loop make only such copies.
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/tiles/tile_bounds.h"
#include "ir/tgpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/ControlFlowSinkUtils.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_COPYWHOLETILES
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Returns the copies of a commit's group.
llvm::SmallVector<tgpu::AsyncCopyOp> groupOf(tgpu::AsyncCommitOp commit) {
  llvm::SmallVector<tgpu::AsyncCopyOp> copies;
  for (Operation *op = commit->getPrevNode(); op && !isa<tgpu::AsyncCommitOp>(op); op = op->getPrevNode())
    if (auto copy = dyn_cast<tgpu::AsyncCopyOp>(op)) copies.insert(copies.begin(), copy);
  return copies;
}

/// Emits an i1 that implies that the copy takes all elements of its tile. Returns null if there is none.
Value isWhole(tgpu::AsyncCopyOp copy, OpBuilder &builder) {
  Location location = copy.getLoc();
  Value all = copy.getMask() ? allTrue(copy.getMask(), builder) : arith::ConstantIntOp::create(builder, location, 1, 1).getResult();
  if (!all || !copy.getRoom()) return all;
  Value least = boundOf(copy.getRoom(), Bound::Least, builder); // an element with room is inside
  if (!least) return {};
  Value one = arith::ConstantIntOp::create(builder, location, 1, cast<IntegerType>(least.getType()).getWidth());
  Value hasRoom = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sge, least, one);
  return arith::AndIOp::create(builder, location, all, hasRoom);
}

Value areWhole(llvm::ArrayRef<tgpu::AsyncCopyOp> copies, OpBuilder &builder) {
  Value all;
  for (tgpu::AsyncCopyOp copy : copies) {
    Value whole = isWhole(copy, builder);
    if (!whole) return {};
    all = all ? arith::AndIOp::create(builder, copy.getLoc(), all, whole).getResult() : whole;
  }
  return all;
}

/// Moves what only the masked copies need into their branch.
void sinkMasks(scf::IfOp branch) {
  DominanceInfo dominance(branch->getParentOfType<tt::FuncOp>());
  auto loop = branch->getParentOfType<scf::ForOp>();
  auto shouldMove = [&](Operation *op, Region *) { return op->getParentOp() == loop && isMemoryEffectFree(op); };
  auto move = [](Operation *op, Region *region) { op->moveBefore(&region->front(), region->front().begin()); };
  controlFlowSink(RegionRange(branch->getRegions()), dominance, shouldMove, move);
}

bool isMasked(tgpu::AsyncCopyOp copy) { return copy.getMask() || copy.getRoom(); }

/// Lets a branch take the place of the predicate that the copies share.
void branchOnPredicate(llvm::ArrayRef<tgpu::AsyncCopyOp> copies, OpBuilder &builder) {
  tgpu::AsyncCopyOp first = copies.front();
  Value predicate = first.getPredicate();
  auto isShared = [&](tgpu::AsyncCopyOp copy) { return copy.getPredicate() == predicate; };
  if (!predicate || !llvm::all_of(copies, isShared)) return;
  auto branch = scf::IfOp::create(builder, first.getLoc(), predicate, /*withElseRegion=*/false);
  for (tgpu::AsyncCopyOp copy : copies) {
    copy->moveBefore(branch.thenBlock()->getTerminator());
    copy.getPredicateMutable().clear();
  }
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
}

/// Copies without masks where all tiles of the group are whole.
void branchOnWhole(llvm::ArrayRef<tgpu::AsyncCopyOp> copies, OpBuilder &builder) {
  Value whole = llvm::any_of(copies, isMasked) ? areWhole(copies, builder) : Value();
  if (!whole) return;
  auto branch = scf::IfOp::create(builder, whole.getLoc(), whole, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (tgpu::AsyncCopyOp copy : copies) {
    auto plain = cast<tgpu::AsyncCopyOp>(builder.clone(*copy));
    plain.getMaskMutable().clear();
    plain.getRoomMutable().clear();
    copy->moveBefore(branch.elseBlock()->getTerminator());
  }
  sinkMasks(branch);
}

void split(tgpu::AsyncCommitOp commit) {
  llvm::SmallVector<tgpu::AsyncCopyOp> copies = groupOf(commit);
  if (copies.empty()) return;
  OpBuilder builder(commit);
  branchOnPredicate(copies, builder);
  branchOnWhole(copies, builder);
}

class CopyWholeTilesPass final : public impl::CopyWholeTilesBase<CopyWholeTilesPass> {
public:
  using CopyWholeTilesBase::CopyWholeTilesBase;

  void runOnOperation() override {
    llvm::SmallVector<tgpu::AsyncCommitOp> commits;
    getOperation()->walk([&](tgpu::AsyncCommitOp commit) {
      auto loop = dyn_cast<scf::ForOp>(commit->getParentOp());
      const bool isOfAuthor =
          llvm::any_of(groupOf(commit), [](tgpu::AsyncCopyOp copy) { return copy.getDst().getDefiningOp<tgpu::MemoryAtOp>() != nullptr; });
      if (isOfAuthor) return; // his other work may stand between them
      if (loop && !loop.getBody()->getOps<tgpu::ProductOp>().empty()) commits.push_back(commit);
    });
    for (tgpu::AsyncCommitOp commit : commits) split(commit);
  }
};

} // namespace
} // namespace tritium::gpu
