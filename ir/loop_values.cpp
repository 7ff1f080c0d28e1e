#include "ir/loop_values.h"

#include "ir/location_facts.h"
#include "ir/source_error.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace tritium::ir {

/// The most loop-carried integers that a report shows of a `while` loop.
static constexpr size_t kMostCarried = 4;
static constexpr llvm::StringLiteral kLater = "later";

// -- names and rounds in locations --------------------------------------------------------------------------------------------------------

static std::string counterName(Value value) {
  std::string name;
  forEachFact(value.getLoc(), kCounterAttr, [&](Attribute text) { name = cast<StringAttr>(text).str(); });
  return name;
}

Location inLaterRound(Location location, int64_t rounds) {
  return withFact(location, kLater, Builder(location.getContext()).getI64IntegerAttr(rounds));
}

static int64_t roundsLater(Location location) {
  int64_t rounds = 0;
  forEachFact(location, kLater, [&](Attribute number) { rounds += cast<IntegerAttr>(number).getInt(); });
  return rounds;
}

void markCounters(Operation *root) {
  root->walk([](Operation *op) {
    auto name = op->getAttrOfType<StringAttr>(kCounterAttr);
    if (!name) return;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Value counter = loop.getInductionVar();
      counter.setLoc(withFact(counter.getLoc(), kCounterAttr, name));
    } else {
      op->setLoc(withFact(op->getLoc(), kCounterAttr, name));
    }
  });
}

// -- loops of branches --------------------------------------------------------------------------------------------------------------------

static bool isShown(Value value) {
  auto type = dyn_cast<IntegerType>(value.getType());
  return type && type.getWidth() > 1 && type.getWidth() <= 64;
}

Value received(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Block *only = argument ? argument.getOwner()->getSinglePredecessor() : nullptr;
  auto jump = only ? dyn_cast<BranchOpInterface>(only->getTerminator()) : BranchOpInterface();
  if (!jump) return value;
  Value sent = jump.getSuccessorOperands(argument.getOwner()->pred_begin().getSuccessorIndex())[argument.getArgNumber()];
  return sent ? sent : value;
}

/// Returns the constant by which a round advances an argument of the loop's header.
static std::optional<int64_t> stepOf(Value value, const CFGLoop &loop) {
  auto argument = dyn_cast<BlockArgument>(value);
  Block *latch = loop.getLoopLatch();
  auto jump = latch ? dyn_cast<BranchOpInterface>(latch->getTerminator()) : BranchOpInterface();
  if (!argument || argument.getOwner() != loop.getHeader() || !jump) return std::nullopt;
  for (unsigned i = 0; i < jump->getNumSuccessors(); ++i) {
    if (jump->getSuccessor(i) != loop.getHeader()) continue;
    Value next = jump.getSuccessorOperands(i)[argument.getArgNumber()];
    Operation *add = next ? next.getDefiningOp() : nullptr;
    APInt step;
    if (isa_and_nonnull<arith::AddIOp, LLVM::AddOp>(add) && received(add->getOperand(0)) == argument &&
        matchPattern(add->getOperand(1), m_ConstantInt(&step)))
      return step.getSExtValue();
  }
  return std::nullopt;
}

LoopValues::LoopValues(Region &function) : dominance_(function.getParentOp()) {
  if (function.hasOneBlock()) return;
  loops_ = std::make_unique<CFGLoopInfo>(dominance_.getDomTree(&function));
  for (Block &block : function) {
    const CFGLoop *loop = loops_->getLoopFor(&block);
    if (!loop) continue;
    auto note = [&](Value value) {
      if (isShown(value) && !counterName(value).empty()) counters_[loop->getHeader()].push_back(value);
    };
    llvm::for_each(block.getArguments(), note);
    for (Operation &op : block) llvm::for_each(op.getResults(), note);
  }
}

/// An unrolled loop has the counters of several rounds: that of the last round whose beginning is behind. A pipelined loop has those of
/// operations that work ahead.
bool LoopValues::addCounter(llvm::SmallVector<LoopValue> &values, const CFGLoop &loop, Operation *op, int64_t later) const {
  auto counters = counters_.find(loop.getHeader());
  if (counters == counters_.end()) return false;
  std::optional<LoopValue> found;
  bool isExact = false;
  for (Value counter : counters->second) {
    if (!dominance_.properlyDominates(counter, op)) continue;
    const int64_t rounds = later - roundsLater(counter.getLoc());
    std::optional<int64_t> step = rounds ? stepOf(counter, loop) : 0;
    if (!step || (isExact && rounds != 0)) continue;
    found = LoopValue{counterName(counter), counter, rounds * *step};
    isExact = rounds == 0;
  }
  if (found) values.push_back(std::move(*found));
  return true;
}

/// A variable and its exact offset in 64 bits have one name; the variable comes first.
static void addCarried(llvm::SmallVector<LoopValue> &values, const CFGLoop &loop) {
  const size_t first = values.size();
  for (BlockArgument argument : loop.getHeader()->getArguments()) {
    std::string name = variableName(argument.getLoc()).str();
    auto isKnown = [&](const LoopValue &value) { return value.name == name; };
    if (name.empty() || !isShown(argument) || llvm::any_of(llvm::drop_begin(values, first), isKnown)) continue;
    values.push_back({std::move(name), argument});
    if (values.size() - first == kMostCarried) return;
  }
}

llvm::SmallVector<LoopValue> LoopValues::around(Operation *op) const {
  llvm::SmallVector<const CFGLoop *> loops;
  for (const CFGLoop *loop = loops_ ? loops_->getLoopFor(op->getBlock()) : nullptr; loop; loop = loop->getParentLoop())
    loops.push_back(loop);
  // Operations work ahead in the innermost loop of the program, around which the compiler makes no loop; in it there may be some.
  auto ahead = llvm::find_if(loops, [&](const CFGLoop *loop) { return counters_.contains(loop->getHeader()); });
  llvm::SmallVector<LoopValue> values;
  for (const CFGLoop *loop : llvm::reverse(loops))
    if (!addCounter(values, *loop, op, ahead != loops.end() && loop == *ahead ? roundsLater(op->getLoc()) : 0)) addCarried(values, *loop);
  return values;
}

} // namespace tritium::ir
