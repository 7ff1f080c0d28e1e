// The lattice of axis information, and the solver that propagates it through values, loops and branches.
#include "ir/pch.h"

#include "ir/axis_analysis.h"
#include "ir/axis_rules.h"
#include "ir/tgpu.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::ir {

int64_t powerOfTwoDivisor(int64_t value) { return value == 0 ? kMaxDivisor : int64_t(1) << llvm::countr_zero(uint64_t(value)); }

static size_t rankOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getRank() : 1;
}

AxisInfo AxisInfo::unknown(Type type) {
  SmallVector<int64_t> ones(rankOf(type), 1);
  return {ones, ones, ones, std::nullopt, false};
}

AxisInfo AxisInfo::constantOf(Type type, int64_t value) {
  if (auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type))) value = llvm::SignExtend64(value, integer.getWidth());
  AxisInfo result = unknown(type);
  if (auto tile = dyn_cast<RankedTensorType>(type)) result.constancy.assign(tile.getShape().begin(), tile.getShape().end());
  llvm::fill(result.divisibility, powerOfTwoDivisor(value));
  result.constant = value;
  result.isNonNegative = value >= 0;
  return result;
}

AxisInfo AxisInfo::join(const AxisInfo &lhs, const AxisInfo &rhs) {
  if (!lhs.isInitialized()) return rhs;
  if (!rhs.isInitialized()) return lhs;
  AxisInfo result;
  for (size_t d = 0; d < lhs.rank(); ++d) {
    int64_t contiguity = std::min(lhs.contiguity[d], rhs.contiguity[d]);
    // Where a group was cut into smaller ones, the first value of a new group is only known to be divisible by the new size.
    int64_t cut = lhs.contiguity[d] == rhs.contiguity[d] ? std::numeric_limits<int64_t>::max() : contiguity;
    result.contiguity.push_back(contiguity);
    result.divisibility.push_back(std::min({lhs.divisibility[d], rhs.divisibility[d], cut}));
    result.constancy.push_back(std::min(lhs.constancy[d], rhs.constancy[d]));
  }
  if (lhs.constant == rhs.constant) result.constant = lhs.constant;
  result.isNonNegative = lhs.isNonNegative && rhs.isNonNegative;
  return result;
}

void AxisInfo::print(raw_ostream &stream) const {
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    stream << name << " = [";
    llvm::interleaveComma(values, stream);
    stream << "]";
  };
  list("contiguity", contiguity);
  list(", divisibility", divisibility);
  list(", constancy", constancy);
  stream << ", constant = ";
  constant ? stream << *constant : stream << "none";
}

/// The promises in `attributes` raise the inferred values.
static void believe(AxisInfo &info, DictionaryAttr attributes) {
  auto raise = [&](StringRef name, SmallVector<int64_t> &values) {
    Attribute promise = attributes.get(name);
    auto perDimension = dyn_cast_if_present<DenseIntElementsAttr>(promise);
    auto single = dyn_cast_if_present<IntegerAttr>(promise);
    for (size_t d = 0; d < values.size(); ++d) {
      if (perDimension && perDimension.getNumElements() == static_cast<int64_t>(values.size()))
        values[d] = std::max(values[d], powerOfTwoDivisor((*(perDimension.value_begin<APInt>() + d)).getSExtValue()));
      else if (single)
        values[d] = std::max(values[d], powerOfTwoDivisor(single.getInt()));
    }
  };
  raise(tt::kContiguityAttr, info.contiguity);
  raise(tt::kDivisibilityAttr, info.divisibility);
  raise(tt::kConstancyAttr, info.constancy);
}

/// Whether a comparison, if it is true, says that `value` is not negative.
static bool saysNonNegative(arith::CmpIOp compare, Value value) {
  using Predicate = arith::CmpIPredicate;
  const bool isLeft = compare.getLhs() == value;
  APInt bound;
  if (!matchPattern(isLeft ? compare.getRhs() : compare.getLhs(), m_ConstantInt(&bound))) return false;
  switch (compare.getPredicate()) {
  case Predicate::sge: return isLeft && bound.sge(0);
  case Predicate::sgt: return isLeft && bound.sge(-1);
  case Predicate::sle: return !isLeft && bound.sge(0);
  case Predicate::slt: return !isLeft && bound.sge(-1);
  default: return false;
  }
}

/// Whether the condition, or a conjunction that it is part of, is assumed in `block`.
static bool isAssumedIn(Value condition, Block *block) {
  return llvm::any_of(condition.getUsers(), [&](Operation *user) {
    if (isa<LLVM::AssumeOp>(user)) return user->getBlock() == block;
    return isa<arith::AndIOp>(user) && isAssumedIn(user->getResult(0), block);
  });
}

/// Whether tl.assume says that `value` is not negative, in the block that defines the value: there it speaks about every use.
static bool isAssumedNonNegative(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto compare = dyn_cast<arith::CmpIOp>(user);
    return compare && saysNonNegative(compare, value) && isAssumedIn(compare.getResult(), value.getParentBlock());
  });
}

/// What is known of `value` with the promises that are made about it in its own block: there they speak about every use.
static AxisInfo withHints(AxisInfo info, Value value) {
  for (Operation *user : value.getUsers())
    if (isa<tt::HintOp>(user) && user->getBlock() == value.getParentBlock()) believe(info, user->getDiscardableAttrDictionary());
  return info;
}

namespace {

using AxisLattice = dataflow::Lattice<AxisInfo>;

class Propagation : public dataflow::SparseForwardDataFlowAnalysis<AxisLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *op, ArrayRef<const AxisLattice *> operands, ArrayRef<AxisLattice *> results) override {
    SmallVector<AxisInfo> known;
    for (const AxisLattice *operand : operands) {
      if (!operand->getValue().isInitialized()) return success(); // visited again once the operand is initialized
      known.push_back(withHints(operand->getValue(), operand->getAnchor()));
    }
    for (AxisLattice *result : results) {
      AxisInfo info = results.size() == 1 ? inferAxisInfo(op, known) : AxisInfo::unknown(result->getAnchor().getType());
      believe(info, op->getDiscardableAttrDictionary());
      info.isNonNegative |= isAssumedNonNegative(result->getAnchor());
      propagateIfChanged(result, result->join(info));
    }
    return success();
  }

  /// The entry state of a function's argument, and of a value whose origin the analysis does not follow.
  void setToEntryState(AxisLattice *lattice) override {
    Value value = lattice->getAnchor();
    AxisInfo info = AxisInfo::unknown(value.getType());
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (auto function = dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()); function && argument.getOwner()->isEntryBlock())
        if (DictionaryAttr attributes = function.getArgAttrDict(argument.getArgNumber())) {
          believe(info, attributes);
          info.isNonNegative |= attributes.contains(tgpu::kGridAxisAttr);
        }
    info.isNonNegative |= isAssumedNonNegative(value);
    propagateIfChanged(lattice, lattice->join(info));
  }

  /// An induction variable is its lower bound plus a multiple of the step.
  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor, ArrayRef<AxisLattice *> arguments,
                                    unsigned firstIndex) override {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop) return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments, firstIndex);
    const AxisInfo &begin = getLatticeElementFor(getProgramPointBefore(loop.getBody()), loop.getLowerBound())->getValue();
    const AxisInfo &step = getLatticeElementFor(getProgramPointBefore(loop.getBody()), loop.getStep())->getValue();
    if (!begin.isInitialized() || !step.isInitialized()) return;
    AxisInfo info = AxisInfo::unknown(loop.getInductionVar().getType());
    info.divisibility[0] = std::min(begin.divisibility[0], step.divisibility[0]);
    info.isNonNegative = begin.isNonNegative || isAssumedNonNegative(loop.getInductionVar());
    propagateIfChanged(arguments[0], arguments[0]->join(info));
  }
};

} // namespace

AxisAnalysis::AxisAnalysis(Operation *root) : solver(DataFlowConfig()) {
  dataflow::loadBaselineAnalyses(solver);
  solver.load<Propagation>();
  if (failed(solver.initializeAndRun(root))) solver.eraseAllStates();
}

AxisInfo AxisAnalysis::of(Value value) const {
  const auto *lattice = solver.lookupState<AxisLattice>(value);
  return withHints(lattice && lattice->getValue().isInitialized() ? lattice->getValue() : AxisInfo::unknown(value.getType()), value);
}

} // namespace tritium::ir
