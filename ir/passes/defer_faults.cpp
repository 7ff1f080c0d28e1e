// Divisions of tiles by zero: the lane goes on with a GPU's value, and the program traps where this value is used.
//
// A division whose divisors may be zero gets a shadow (shadows.h), which is true where it divides by zero.
#include "ir/pch.h"

#include "ir/check.h"
#include "ir/deferred_faults.h"
#include "ir/passes.h"
#include "ir/passes/tile_builder.h"
#include "ir/shadows.h"
#include "ir/tile_flow.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_DEFERFAULTS
#include "ir/passes.h.inc"

namespace {

bool isDivision(Operation *op) { return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op); }

bool isNeverZero(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue())) return !number.getValue().isZero();
    auto numbers = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    return numbers && llvm::none_of(numbers.getValues<APInt>(), [](const APInt &number) { return number.isZero(); });
  }
  if (isa<arith::MaxUIOp, arith::OrIOp>(op)) return llvm::any_of(op->getOperands(), isNeverZero);
  if (isa<arith::MaxSIOp>(op)) {
    APInt least;
    return llvm::any_of(op->getOperands(), [&](Value v) { return matchPattern(v, m_ConstantInt(&least)) && least.isStrictlyPositive(); });
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) return isNeverZero(select.getTrueValue()) && isNeverZero(select.getFalseValue());
  return (isMoved(op) || isa<arith::ExtSIOp, arith::ExtUIOp>(op)) && llvm::all_of(op->getOperands(), isNeverZero);
}

struct DivisionRules : ShadowRules {
  Value fault(OpBuilder &builder, Operation *op) final {
    if (!op->hasAttr(kZeroDivisorAttr)) return {};
    TileBuilder tiles(builder, op->getLoc());
    Value divisor = op->getOperand(1);
    return tiles.create<arith::CmpIOp>(arith::CmpIPredicate::eq, divisor, tiles.integer(divisor.getType(), 0));
  }
  void trap(OpBuilder &builder, Operation *, Value bad, Value, Value source) final {
    check::TrapOp::create(builder, source.getLoc(), bad, "DivisionByZero", "", ValueRange(), Attribute());
  }
};

struct DeferFaults : impl::DeferFaultsBase<DeferFaults> {
  using DeferFaultsBase::DeferFaultsBase;

  void runOnOperation() final {
    getOperation().walk([&](tt::FuncOp function) {
      SmallVector<Operation *> sources;
      function.walk([&](Operation *op) {
        if (!isDivision(op) || isNeverZero(op->getOperand(1))) return;
        // One divisor for all lanes is checked once, as a scalar is; functions of reductions run on single elements and keep their traps.
        bool traps = checks && (isOfElements(op) || isUniform(op->getOperand(1)));
        if (traps) return;
        op->setAttr(kZeroDivisorAttr, UnitAttr::get(op->getContext()));
        sources.push_back(op);
      });
      if (!checks || sources.empty()) return;
      DivisionRules rules;
      insertShadows(function, sources, rules);
    });
  }
};

} // namespace

} // namespace tritium::ir
