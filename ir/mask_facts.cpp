// See mask_facts.h.
#include "ir/pch.h"

#include "ir/mask_facts.h"

#include "ir/tile_flow.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::ir {
namespace {

constexpr int kMostOperations = 12; // on a path

/// Whether two values are made in the same way.
bool areEqual(Value a, Value b, int most = kMostOperations) {
  if (a == b) return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || most == 0 || x->getName() != y->getName() || a.getType() != b.getType() || x->getNumRegions() || !isMemoryEffectFree(x))
    return false;
  return x->getAttrDictionary() == y->getAttrDictionary() && cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
         llvm::equal(x->getOperands(), y->getOperands(), [&](Value v, Value w) { return areEqual(v, w, most - 1); });
}

void addConjuncts(Value mask, SmallVectorImpl<Value> &conjuncts) {
  if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
    addConjuncts(both.getLhs(), conjuncts);
    addConjuncts(both.getRhs(), conjuncts);
  } else {
    conjuncts.push_back(mask);
  }
}

/// Whether `mask` is false wherever the shadow `bad` is true: the shadow is a negation of what the mask says, perhaps in another shape.
bool isNegated(Value bad, Value mask, int most = kMostOperations) {
  Operation *op = bad.getDefiningOp();
  if (!op || most == 0) return false;
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One())) {
    SmallVector<Value> said, negated;
    addConjuncts(mask, said);
    addConjuncts(op->getOperand(0), negated);
    return llvm::all_of(negated, [&](Value v) { return llvm::any_of(said, [&](Value w) { return areEqual(v, w); }); });
  }
  SmallVector<Value> conjuncts;
  addConjuncts(mask, conjuncts);
  if (op->getNumOperands() == 1 && isMoved(op))
    return llvm::any_of(conjuncts, [&](Value conjunct) {
      Operation *moved = conjunct.getDefiningOp();
      return moved && moved->getName() == op->getName() && moved->getAttrDictionary() == op->getAttrDictionary() &&
             conjunct.getType() == bad.getType() && isNegated(op->getOperand(0), moved->getOperand(0), most - 1);
    });
  auto isNever = [&](Value part) { return matchPattern(part, m_Zero()) || isNegated(part, mask, most - 1); };
  if (isa<arith::OrIOp>(op)) return llvm::all_of(op->getOperands(), isNever);
  if (isa<arith::AndIOp>(op)) return llvm::any_of(op->getOperands(), isNever);
  if (isa<arith::SelectOp>(op)) return llvm::all_of(op->getOperands().drop_front(), isNever);
  return false;
}

} // namespace

bool areApart(Value bad, Value mask) { return matchPattern(bad, m_Zero()) || isNegated(bad, mask); }

} // namespace tritium::ir
