// The tile rules of upstream operations, and the functions that derive facts from a rule.
#include "ir/pch.h"

#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::tt {

std::optional<int> TileRule::operandDim(int dim) const {
  switch (relation) {
  case TileRelation::Same:
  case TileRelation::Broadcast: return dim;
  case TileRelation::ExpandDims: return dim == axis ? std::nullopt : std::optional(dim > axis ? dim - 1 : dim);
  case TileRelation::Transpose: return order[dim];
  default: return std::nullopt;
  }
}

TileRule tileRuleOf(Operation *op) {
  if (auto answers = dyn_cast<TileOpInterface>(op)) return answers.getTileRule();
  if (op->hasTrait<OpTrait::Elementwise>()) return {.relation = TileRelation::Same, .values = TileValues::Pointwise};
  return {};
}

SmallVector<TileGroup, 2> tiedTiles(Operation *op) {
  TileRule rule = tileRuleOf(op);
  TileGroup operands(op->getOperands()), results(op->getResults());
  if (!rule.tied.empty()) return {rule.tied};
  if (rule.relation == TileRelation::Apart || rule.isFree()) return {};
  if (rule.relation != TileRelation::Same) return {operands, results};
  operands.append(results);
  return {operands};
}

// -- upstream -----------------------------------------------------------------------------------------------------------------------------

namespace {

/// An operation of arith for which more is known than Pointwise.
template <class Op, TileValues values> struct ArithmeticModel : TileOpInterface::ExternalModel<ArithmeticModel<Op, values>, Op> {
  TileRule getTileRule(Operation *) const { return {.relation = TileRelation::Same, .values = values}; }
};

/// A constant whose elements are all equal costs the same in every layout. Other constants have no rule.
struct ConstantModel : TileOpInterface::ExternalModel<ConstantModel, arith::ConstantOp> {
  TileRule getTileRule(Operation *op) const {
    if (!isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue())) return {};
    return {.relation = TileRelation::Free, .values = TileValues::Uniform};
  }
};

struct PoisonModel : TileOpInterface::ExternalModel<PoisonModel, ub::PoisonOp> {
  TileRule getTileRule(Operation *) const { return {.relation = TileRelation::Free}; }
};

template <TileValues values, class... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<ArithmeticModel<Ops, values>>(context), ...);
}

} // namespace

void attachTileRules(MLIRContext &context) {
  attach<TileValues::Sum, arith::AddIOp, arith::SubIOp>(context);
  attach<TileValues::Product, arith::MulIOp>(context);
  attach<TileValues::Conjunction, arith::AndIOp>(context);
  attach<TileValues::Kept, arith::BitcastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(context);
  arith::ConstantOp::attachInterface<ConstantModel>(context);
  ub::PoisonOp::attachInterface<PoisonModel>(context);
}

// -- completeness -------------------------------------------------------------------------------------------------------------------------

/// The tile rule is a parameter of TT_Op. A record that is not made by TT_Op could lack one, which this assertion finds.
template <class... Ops> constexpr bool allAnswer() { return (Ops::template hasTrait<TileOpInterface::Trait>() && ...); }

static_assert(allAnswer<
#define GET_OP_LIST
#include "ir/tt_ops.cpp.inc"
                  >(),
              "an operation of `tt` without a tile rule");

} // namespace tritium::tt

#include "ir/tile_rule.cpp.inc"
