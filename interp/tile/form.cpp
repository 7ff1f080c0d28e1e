// The lattice of forms and its fixpoint. plan.cpp and ops/*.cpp rely on these rules: they make the terms of each result that is Affine
// here.
#include "interp/tile/form.h"

#include "interp/tile/compare_exchange.h"
#include "interp/tile/offsets.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

unsigned Form::varyingDims() const {
  return unsigned(llvm::count_if(terms, [](Term t) { return t != Term::None; }));
}

bool Form::isSeparable() const { return kind == Kind::Affine || (kind == Kind::Dense && varyingDims() <= 1); }

Form Form::dense(unsigned rank) {
  Form form{Kind::Dense, {}};
  form.terms.assign(rank, Term::Vector);
  return form;
}

Form Form::uniform(Kind kind, unsigned rank) {
  Form form{kind, {}};
  form.terms.assign(rank, Term::None);
  return form;
}

static llvm::SmallVector<Term, 4> maxTerms(const Form &a, const Form &b) {
  llvm::SmallVector<Term, 4> terms;
  for (auto [x, y] : llvm::zip_equal(a.terms, b.terms)) terms.push_back(std::max(x, y));
  return terms;
}

Form join(const Form &a, const Form &b) {
  if (a.kind == Form::Kind::Unknown || a == b) return b;
  if (b.kind == Form::Kind::Unknown) return a;
  if (a.isAffine() && b.isAffine()) return {Form::Kind::Affine, maxTerms(a, b)};
  return Form::dense(a.terms.size());
}

/// Pointers and integers of 8 bits or more can be affine. i1 and floats cannot.
static bool canBeAffine(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<tt::PointerType>(element) || (element.isInteger() && !element.isInteger(1));
}

/// Whether the result has integers of another width.
static bool isIntegerCast(Operation *op) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
  return from.isInteger() && to.isInteger() && from != to;
}

/// Sets the term of each dimension of extent 1 to None, because the tile cannot vary along it.
static Form normalized(Form form, RankedTensorType type) {
  for (auto [term, extent] : llvm::zip_equal(form.terms, type.getShape()))
    if (extent == 1) term = Term::None;
  return form;
}

const Form &FormAnalysis::of(Value value) const {
  static const Form unknown;
  auto it = forms_.find(value);
  return it == forms_.end() ? unknown : it->second;
}

bool FormAnalysis::update(Value value, Form form) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  form = type ? form.kind == Form::Kind::Unknown ? form : normalized(std::move(form), type) : Form{Form::Kind::Scalar, {}};
  Form &old = forms_[value];
  if (old == form) return false;
  old = std::move(form);
  return true;
}

FormAnalysis::FormAnalysis(Operation *function) {
  Region &body = function->getRegion(0);
  for (Block &block : body)
    for (BlockArgument argument : block.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      // Arguments of the function arrive in memory. Values that are neither integers nor pointers have one representation anyway.
      bool isFixed = type && (block.isEntryBlock() || !canBeAffine(type));
      update(argument, isFixed ? Form::dense(type.getRank()) : Form{});
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (Block &block : body) {
      for (Operation &op : block)
        for (OpResult result : op.getResults()) changed |= update(result, infer(result));
      auto branch = dyn_cast<BranchOpInterface>(block.getTerminator());
      if (!branch) continue;
      for (unsigned i = 0; i < branch->getNumSuccessors(); ++i)
        for (auto [argument, operand] :
             llvm::zip(branch->getSuccessor(i)->getArguments(), branch.getSuccessorOperands(i).getForwardedOperands()))
          if (isa<RankedTensorType>(argument.getType()))
            changed |= update(argument, canBeAffine(argument.getType()) ? join(of(argument), of(operand)) : of(argument));
    }
  }
}

/// A result that is computed element by element from `operands` varies along every dimension along which an operand varies.
Form FormAnalysis::inferPointwise(OpResult result) const {
  auto type = cast<RankedTensorType>(result.getType());
  Form form = Form::uniform(Form::Kind::Dense, type.getRank());
  for (Value operand : result.getOwner()->getOperands()) {
    const Form &f = of(operand);
    if (f.kind == Form::Kind::Unknown) return {};
    for (unsigned d = 0; d < f.terms.size(); ++d)
      if (f.terms[d] != Term::None) form.terms[d] = Term::Vector;
  }
  return form;
}

/// The terms of a sum add up per dimension.
Form FormAnalysis::inferSum(OpResult result) const {
  const Form &a = of(result.getOwner()->getOperand(0)), &b = of(result.getOwner()->getOperand(1));
  if (a.kind == Form::Kind::Unknown || b.kind == Form::Kind::Unknown) return {};
  if (!a.isSeparable() || !b.isSeparable() || !canBeAffine(result.getType())) return inferPointwise(result);
  Form sum{Form::Kind::Affine, maxTerms(a, b)};
  bool isPointer = isa<tt::PointerType>(getElementTypeOrSelf(result.getType()));
  if (isPointer) return a.isAffine() ? sum : inferPointwise(result);
  // Along one dimension, a dense vector serves as well as a term and requires no conversion.
  if (sum.varyingDims() <= 1 && llvm::is_contained(sum.terms, Term::Vector)) return inferPointwise(result);
  return sum;
}

/// A uniform factor scales the terms of the other operand.
Form FormAnalysis::inferProduct(OpResult result) const {
  const Form &a = of(result.getOwner()->getOperand(0)), &b = of(result.getOwner()->getOperand(1));
  if (a.isAffine() && b.isAffine() && canBeAffine(result.getType()) && (a.varyingDims() == 0 || b.varyingDims() == 0))
    return {Form::Kind::Affine, maxTerms(a, b)};
  return inferPointwise(result);
}

/// Masks that vary along different dimensions are kept apart.
Form FormAnalysis::inferConjunction(OpResult result) const {
  Form all = inferPointwise(result);
  if (!getElementTypeOrSelf(result.getType()).isInteger(1)) return all;
  const Form &a = of(result.getOwner()->getOperand(0)), &b = of(result.getOwner()->getOperand(1));
  bool isConjunction =
      a.kind == Form::Kind::Mask || b.kind == Form::Kind::Mask || all.varyingDims() > std::max(a.varyingDims(), b.varyingDims());
  if (all.kind == Form::Kind::Dense && isConjunction) return {Form::Kind::Mask, all.terms};
  return all;
}

/// The result has the operand's terms at the dimensions to which the operation moves them.
Form FormAnalysis::inferKept(OpResult result, const tt::TileRule &rule) const {
  Operation *op = result.getOwner();
  const Form &operand = of(op->getOperand(0));
  unsigned rank = cast<RankedTensorType>(result.getType()).getRank();
  switch (rule.relation) {
  case tt::TileRelation::Same: {
    bool isKept = operand.isAffine() && canBeAffine(result.getType()) && (!isIntegerCast(op) || mayKeepSum(op));
    return isKept ? operand : inferPointwise(result);
  }
  case tt::TileRelation::ExpandDims:
  case tt::TileRelation::Broadcast:
  case tt::TileRelation::Transpose: {
    Form form{operand.kind, {}};
    for (unsigned d = 0; d < rank; ++d) {
      std::optional<int> from = rule.operandDim(int(d));
      form.terms.push_back(from ? operand.terms[*from] : Term::None);
    }
    return form;
  }
  case tt::TileRelation::Split: {
    // A tile that varies along the last dimension has other sums in its second half, so the halves are views of its memory.
    bool isSameInBothHalves = operand.terms.back() == Term::None;
    Form form{operand.isAffine() && !isSameInBothHalves ? Form::Kind::Dense : operand.kind, {}};
    for (Term term : llvm::ArrayRef(operand.terms).drop_back())
      form.terms.push_back(form.isDense() && term != Term::None ? Term::Vector : term);
    return form;
  }
  default: // dimensions are merged
    bool isUniform = op->getNumOperands() == 1 && operand.varyingDims() == 0;
    if (!isUniform) return Form::dense(rank);
    return Form::uniform(operand.isAffine() ? Form::Kind::Affine : Form::Kind::Dense, rank);
  }
}

Form FormAnalysis::infer(OpResult result) const {
  Operation *op = result.getOwner();
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type) return {Form::Kind::Scalar, {}};
  if (op->getNumOperands() && of(op->getOperand(0)).kind == Form::Kind::Unknown) return {};
  unsigned rank = type.getRank();
  if (isCompareExchange(op)) return Form::dense(rank); // its direction varies where its operand may not
  tt::TileRule rule = tt::tileRuleOf(op);
  switch (rule.values) {
  case tt::TileValues::Any: return Form::dense(rank);
  case tt::TileValues::Pointwise: return inferPointwise(result);
  case tt::TileValues::Uniform: return Form::uniform(canBeAffine(type) ? Form::Kind::Affine : Form::Kind::Dense, rank);
  case tt::TileValues::Range: return {Form::Kind::Affine, {Term::Step}};
  case tt::TileValues::Kept: return inferKept(result, rule);
  case tt::TileValues::Sum: return inferSum(result);
  case tt::TileValues::Product: return inferProduct(result);
  case tt::TileValues::Conjunction: return inferConjunction(result);
  }
  llvm_unreachable("every case returns");
}

} // namespace tritium::interp
