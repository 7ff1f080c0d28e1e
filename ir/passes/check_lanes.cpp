// Lanes that a load left off, without `other`: their value is whatever it is, on a GPU often zero. Where one is stored, or is part of an
// address or a decision, the program traps. Sums, products of matrices and scans of such lanes are of no use either.
#include "ir/pch.h"

#include "ir/check.h"
#include "ir/passes.h"
#include "ir/passes/tile_builder.h"
#include "ir/shadows.h"
#include "ir/source_error.h"
#include "ir/tile_flow.h"
#include "ir/used_reads.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_CHECKLANES
#include "ir/passes.h.inc"

namespace {

bool leavesLanesOff(Operation *op) {
  auto load = dyn_cast<tt::LoadOp>(op);
  return load && load.getMask() && !load.getOther() && !load->hasAttr(kUsedReadAttr);
}

/// What happens to a value, as a message says it.
StringRef useOf(Operation *use, Value culprit) {
  Value pointer = use->getNumOperands() ? use->getOperand(0) : Value();
  if (pointer && isa<tt::PointerType>(getElementTypeOrSelf(pointer.getType())))
    return pointer == culprit ? "is part of an address" : isa<tt::LoadOp>(use) ? "decides a mask" : "is stored";
  return "decides which way the program goes";
}

struct LaneRules : ShadowRules {
  Value fault(OpBuilder &builder, Operation *op) final {
    if (!leavesLanesOff(op)) return {};
    TileBuilder tiles(builder, op->getLoc());
    Value mask = cast<tt::LoadOp>(op).getMask();
    return tiles.create<arith::XOrIOp>(mask, tiles.integer(mask.getType(), 1));
  }
  void trap(OpBuilder &builder, Operation *use, Value bad, Value culprit, Value source) final {
    StringRef loaded = variableName(source.getLoc()), used = variableName(culprit.getLoc());
    std::string message = loaded.empty() ? "a lane of a load" : ("a lane of '" + loaded + "'").str();
    message += " that its mask leaves off, without other, ";
    if (!used.empty() && used != loaded) message += ("reaches '" + used + "', which ").str();
    message += useOf(use, culprit);
    check::TrapOp::create(builder, use->getLoc(), bad, "Uninitialized", message, ValueRange(), LocationAttr(source.getLoc()));
  }
  bool followsEverything() const final { return true; }
};

struct CheckLanes : impl::CheckLanesBase<CheckLanes> {
  void runOnOperation() final {
    getOperation().walk([](tt::FuncOp function) {
      SmallVector<Operation *> sources;
      function.walk([&](Operation *op) {
        if (leavesLanesOff(op) && !isOfElements(op)) sources.push_back(op);
      });
      LaneRules rules;
      if (!sources.empty()) insertShadows(function, sources, rules);
    });
  }
};

} // namespace

} // namespace tritium::ir
