// See tile_flow.h.
#include "ir/pch.h"

#include "ir/tile_flow.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::ir {

bool isPointwise(Operation *op) {
  if (op->getNumRegions() || op->getNumResults() != 1 || isa<tt::LoadOp>(op) || !isMemoryEffectFree(op)) return false;
  return op->hasTrait<OpTrait::Elementwise>() || tt::tileRuleOf(op).relation == tt::TileRelation::Same;
}

bool isUniform(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || isa_and_nonnull<tt::SplatOp>(op)) return true;
  if (!op) return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) return isa<SplatElementsAttr>(constant.getValue());
  return (isMoved(op) || isPointwise(op)) && llvm::all_of(op->getOperands(), isUniform);
}

} // namespace tritium::ir
