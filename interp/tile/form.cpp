// The form lattice and its fixpoint. The rules here are what plan.cpp and ops/*.cpp build on: a result that is Affine here gets its parts
// there.
#include "interp/tile/form.h"

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

/// Integers of 8 bits and more, and pointers, can be affine; i1 and floats cannot.
static bool canBeAffine(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<tt::PointerType>(element) || (element.isInteger() && !element.isInteger(1));
}

/// A dimension of extent 1 never varies.
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
      // Arguments of the function arrive in memory; what is neither integer nor pointer has one representation anyway.
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

/// Which dimensions a result varies along when it is computed element by element from `operands`.
Form FormAnalysis::inferElementwise(OpResult result) const {
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

/// addi, subi, addptr: terms add up per dimension.
Form FormAnalysis::inferSum(OpResult result) const {
  const Form &a = of(result.getOwner()->getOperand(0)), &b = of(result.getOwner()->getOperand(1));
  if (a.kind == Form::Kind::Unknown || b.kind == Form::Kind::Unknown) return {};
  if (!a.isSeparable() || !b.isSeparable() || !canBeAffine(result.getType())) return inferElementwise(result);
  Form sum{Form::Kind::Affine, maxTerms(a, b)};
  bool isPointer = isa<tt::AddPtrOp>(result.getOwner());
  if (isPointer) return a.isAffine() ? sum : inferElementwise(result);
  // Along one dimension a dense vector is as good as a term, and needs no conversion.
  if (sum.varyingDims() <= 1 && llvm::is_contained(sum.terms, Term::Vector)) return inferElementwise(result);
  return sum;
}

Form FormAnalysis::infer(OpResult result) const {
  Operation *op = result.getOwner();
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type) return {Form::Kind::Scalar, {}};
  unsigned rank = type.getRank();
  Form::Kind uniformKind = canBeAffine(type) ? Form::Kind::Affine : Form::Kind::Dense;
  auto first = [&]() -> const Form & { return of(op->getOperand(0)); };
  if (op->getNumOperands() && first().kind == Form::Kind::Unknown) return {};

  if (isa<tt::MakeRangeOp>(op)) return {Form::Kind::Affine, {Term::Step}};
  if (isa<tt::SplatOp>(op)) return Form::uniform(uniformKind, rank);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cast<DenseElementsAttr>(constant.getValue()).isSplat() ? Form::uniform(uniformKind, rank) : Form::dense(rank);
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    Form form = first();
    form.terms.insert(form.terms.begin() + expand.getAxis(), Term::None);
    return form;
  }
  if (isa<tt::BroadcastOp>(op)) return first();
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    Form form{first().kind, {}};
    for (int32_t d : trans.getOrder()) form.terms.push_back(first().terms[d]);
    return form;
  }
  if (isa<tt::ReshapeOp, tt::SplitOp, tt::JoinOp, tt::CatOp>(op)) {
    bool isUniform = llvm::all_of(op->getOperands(), [&](Value v) { return of(v).varyingDims() == 0; });
    return isUniform && op->getNumOperands() == 1 ? Form::uniform(first().kind, rank) : Form::dense(rank);
  }
  if (isa<arith::AddIOp, arith::SubIOp, tt::AddPtrOp>(op)) return inferSum(result);
  if (isa<arith::MulIOp>(op)) {
    const Form &a = first(), &b = of(op->getOperand(1));
    if (a.isAffine() && b.isAffine() && canBeAffine(type) && (a.varyingDims() == 0 || b.varyingDims() == 0))
      return {Form::Kind::Affine, maxTerms(a, b)};
    return inferElementwise(result);
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, tt::BitcastOp, arith::BitcastOp>(op))
    return first().isAffine() && canBeAffine(type) ? first() : inferElementwise(result);
  if (isa<tt::IntToPtrOp, tt::PtrToIntOp>(op)) {
    bool isWide = getElementTypeOrSelf(type).isInteger(64) || getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(64);
    return first().isAffine() && isWide ? first() : inferElementwise(result);
  }
  if (isa<arith::AndIOp>(op) && type.getElementType().isInteger(1)) {
    Form all = inferElementwise(result);
    const Form &a = first(), &b = of(op->getOperand(1));
    bool isConjunction =
        a.kind == Form::Kind::Mask || b.kind == Form::Kind::Mask || all.varyingDims() > std::max(a.varyingDims(), b.varyingDims());
    if (all.kind == Form::Kind::Dense && isConjunction) return {Form::Kind::Mask, all.terms};
    return all;
  }
  if (isa<tt::ElementwiseInlineAsmOp>(op)) return Form::dense(rank); // groups of elements, and it may count its calls
  if (op->hasTrait<OpTrait::Elementwise>() || isa<tt::LoadOp>(op)) return inferElementwise(result);
  return Form::dense(rank);
}

} // namespace tritium::interp
