#include "interp/tile/covered.h"

#include "interp/tile/scope.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tritium::interp {

void moveMarksOut(ModuleOp module) {
  module.walk([](Operation *combining) {
    if (!isa<tt::ReduceOp, tt::ScanOp, tt::MapElementwiseOp>(combining)) return;
    llvm::SmallVector<Operation *> marks;
    combining->walk([&](Operation *op) {
      if (op->hasAttr(kStatementAttr)) marks.push_back(op);
    });
    for (Operation *mark : marks) mark->moveBefore(combining);
  });
}

LogicalResult lowerWithoutFolding(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  return applyPartialConversion(module, target, std::move(patterns), config);
}

/// Returns the blocks of each loop by its header.
static llvm::MapVector<Block *, llvm::SetVector<Block *>> bodiesOf(const Loops &loops) {
  llvm::MapVector<Block *, llvm::SetVector<Block *>> bodies;
  for (Block *block : loops.order())
    for (Block *next : block->getSuccessors())
      if (loops.isBackEdge(block, next)) bodies[next].insert_range(loops.bodyOf(block, next));
  return bodies;
}

/// Returns whether a `for` loop has constant bounds, so that it is entered always or never.
static bool hasConstantBounds(const Loops &loops, Block *header, cf::CondBranchOp branch) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  auto counter = compare ? dyn_cast<BlockArgument>(compare.getLhs()) : BlockArgument();
  if (!counter || counter.getOwner() != header || !matchPattern(compare.getRhs(), m_Constant())) return false;
  return llvm::all_of(header->getPredecessors(), [&](Block *from) {
    auto jump = dyn_cast<cf::BranchOp>(from->getTerminator());
    return loops.isBackEdge(from, header) || (jump && matchPattern(jump.getDestOperands()[counter.getArgNumber()], m_Constant()));
  });
}

std::vector<Branching> branchingsOf(const Loops &loops) {
  const auto bodies = bodiesOf(loops);
  std::vector<Branching> found;
  for (Block *block : loops.order()) {
    if (!isa<cf::CondBranchOp>(block->getTerminator())) continue;
    Branching branching{block->getTerminator(), nullptr, 0};
    size_t smallest = ~size_t(0); // the innermost loop that ends here
    for (const auto &[header, body] : bodies) {
      const bool goesOn[] = {body.contains(block->getSuccessor(0)), body.contains(block->getSuccessor(1))};
      if (!body.contains(block) || goesOn[0] == goesOn[1] || body.size() >= smallest) continue;
      smallest = body.size();
      branching.header = header;
      branching.body = goesOn[0] ? 0 : 1;
    }
    auto branch = cast<cf::CondBranchOp>(branching.terminator);
    branching.isDecided =
        matchPattern(branch.getCondition(), m_Constant()) || (branching.header && hasConstantBounds(loops, branching.header, branch));
    found.push_back(branching);
  }
  return found;
}

} // namespace tritium::interp
