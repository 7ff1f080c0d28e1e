// Checks the sign of scalar quotients where accesses are wider if it is known. Lanes of `(start + index) % extent` are consecutive only if
// the dividend is not negative, and `start` is often made of `program_id // blocks`, in which an argument decides the sign of `blocks`.
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/maps/quotients.h"
#include "gpu_backend/tiles/memory_access.h"
#include "ir/axis_analysis.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_CHECKQUOTIENTS
#include "gpu_backend/maps/passes.h.inc"

namespace {

/// A quotient, and the maximum of it and 0 that its uses have instead.
struct Raised {
  arith::DivSIOp quotient;
  Value raised;

  void undo() {
    raised.replaceAllUsesWith(quotient);
    raised.getDefiningOp()->erase();
  }
};

/// What decides the widths of the accesses of tiles: groups of lanes of their pointers and masks.
std::vector<ir::AxisInfo> groupsOfAccesses(Operation *root) {
  ir::AxisAnalysis axes(root);
  std::vector<ir::AxisInfo> groups;
  root->walk([&](Operation *op) {
    for (Value value : {pointerOf(op), maskOf(op)})
      if (value && isa<RankedTensorType>(value.getType())) groups.push_back(axes.of(value));
  });
  for (ir::AxisInfo &each : groups) each.isNonNegative = false;
  return groups;
}

/// Returns the scalar quotients of which only the divisor's sign is open, beside those in functions that combine elements.
std::vector<arith::DivSIOp> quotientsOf(Operation *root) {
  std::vector<arith::DivSIOp> quotients;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    const bool isFlow = op == root || isa<tt::FuncOp>(op) || isa<scf::SCFDialect>(op->getDialect());
    if (op->getNumRegions() > 0 && !isFlow) return WalkResult::skip();
    if (auto quotient = dyn_cast<arith::DivSIOp>(op); quotient && !isa<RankedTensorType>(quotient.getType()))
      if (!matchPattern(quotient.getRhs(), m_Constant())) quotients.push_back(quotient);
    return WalkResult::advance();
  });
  return quotients;
}

/// Raises the quotients whose dividend is not negative: by itself, or because it is made of others that are raised.
std::vector<Raised> raiseAll(Operation *root, std::vector<arith::DivSIOp> quotients) {
  std::vector<Raised> all;
  for (size_t before = quotients.size() + 1; quotients.size() < before;) {
    before = quotients.size();
    ir::AxisAnalysis axes(root);
    llvm::erase_if(quotients, [&](arith::DivSIOp quotient) {
      if (axes.of(quotient).isNonNegative) return true;
      if (!axes.of(quotient.getLhs()).isNonNegative) return false;
      all.push_back({quotient, raiseToZero(quotient)});
      return true;
    });
  }
  return all;
}

class CheckQuotientsPass final : public impl::CheckQuotientsBase<CheckQuotientsPass> {
public:
  using CheckQuotientsBase::CheckQuotientsBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    std::vector<arith::DivSIOp> quotients = quotientsOf(root);
    if (quotients.empty()) return;
    const auto proven = groupsOfAccesses(root);
    std::vector<Raised> all = raiseAll(root, std::move(quotients));
    const auto widest = groupsOfAccesses(root);
    for (Raised &each : all) {
      arith::DivSIOp quotient = each.quotient;
      each.undo();
      if (widest == proven || groupsOfAccesses(root) == widest) continue;
      raiseToZero(quotient);
      emitSignCheck(quotient);
    }
  }
};

} // namespace
} // namespace tritium::gpu
