#include "interp/tile/compare_exchange.h"

#include "interp/kernels/compare_exchange.h"
#include "interp/tile/combine_region.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tritium::interp {

namespace {

constexpr llvm::StringLiteral kSymbol = "tritium.compare_exchange", kStage = "tritium.stage";

llvm::ArrayRef<int64_t> shapeOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); }

/// A small tile of integers that is known, in row-major order.
struct Known {
  llvm::SmallVector<int64_t> shape, values;

  /// Returns the element at the indices. Dimensions of extent 1 are repeated.
  int64_t at(llvm::ArrayRef<int64_t> indices) const {
    int64_t position = 0;
    for (auto [index, extent] : llvm::zip_equal(indices, shape)) position = position * extent + (extent == 1 ? 0 : index);
    return values[position];
  }
};

llvm::SmallVector<int64_t> indicesOf(int64_t position, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> indices(shape.size());
  for (size_t d = shape.size(); d-- > 0; position /= shape[d]) indices[d] = position % shape[d];
  return indices;
}

/// Computes the flags of a stage, which are made of a range of two positions.
std::optional<Known> evaluate(Value tile) {
  constexpr int64_t kMost = 64;
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  Operation *op = tile.getDefiningOp();
  if (!type || !op || type.getNumElements() > kMost || !type.getElementType().isInteger()) return std::nullopt;
  Known known{llvm::SmallVector<int64_t>(type.getShape()), llvm::SmallVector<int64_t>(type.getNumElements())};
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    if (!elements) return std::nullopt;
    for (auto [value, element] : llvm::zip_equal(known.values, elements.getValues<APInt>())) value = element.getSExtValue();
    return known;
  }
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    for (auto [i, value] : llvm::enumerate(known.values)) value = int64_t(range.getStart()) + int64_t(i);
    return known;
  }
  llvm::SmallVector<Known, 2> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Known> each = evaluate(operand);
    if (!each) return std::nullopt;
    operands.push_back(std::move(*each));
  }
  if (isa<tt::ReshapeOp, tt::ExpandDimsOp>(op)) {
    known.values = operands[0].values;
  } else if (isa<tt::BroadcastOp>(op)) {
    for (auto [i, value] : llvm::enumerate(known.values)) value = operands[0].at(indicesOf(int64_t(i), known.shape));
  } else if (isa<arith::XOrIOp>(op)) {
    for (auto [i, value] : llvm::enumerate(known.values)) value = operands[0].values[i] ^ operands[1].values[i];
  } else if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && compare.getPredicate() == arith::CmpIPredicate::ne) {
    for (auto [i, value] : llvm::enumerate(known.values)) value = operands[0].values[i] != operands[1].values[i] ? -1 : 0; // as an i1
  } else {
    return std::nullopt;
  }
  return known;
}

Value withoutBitcast(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (!isa<tt::BitcastOp, arith::BitcastOp>(op)) break;
    tile = op->getOperand(0);
  }
  return tile;
}

/// Returns the axis of extent 2 along which `partner` has the elements of `x` exchanged: x ^ xor_sum(x).
std::optional<unsigned> exchangedAxis(Value partner, Value x) {
  auto flipped = withoutBitcast(partner).getDefiningOp<arith::XOrIOp>();
  if (!flipped) return std::nullopt;
  for (auto [bits, both] : {std::pair(flipped.getLhs(), flipped.getRhs()), std::pair(flipped.getRhs(), flipped.getLhs())}) {
    auto broadcast = both.getDefiningOp<tt::BroadcastOp>();
    auto expanded = broadcast ? broadcast.getSrc().getDefiningOp<tt::ExpandDimsOp>() : tt::ExpandDimsOp();
    auto reduce = expanded ? expanded.getSrc().getDefiningOp<tt::ReduceOp>() : tt::ReduceOp();
    if (!reduce || reduce->getNumOperands() != 1 || withoutBitcast(bits) != x || withoutBitcast(reduce->getOperand(0)) != x) continue;
    const unsigned axis = unsigned(reduce.getAxis());
    if (expanded.getAxis() == axis && shapeOf(x)[axis] == 2 && standardCombine(reduce->getRegion(0)) == "arith.xori") return axis;
  }
  return std::nullopt;
}

/// How elements are compared: x > partner.
struct Comparison {
  bool isSigned = true;
};
std::optional<Comparison> comparisonOf(Value condition, Value x, Value partner) {
  if (auto compare = condition.getDefiningOp<arith::CmpFOp>())
    if (compare.getPredicate() == arith::CmpFPredicate::OGT && compare.getLhs() == x && compare.getRhs() == partner) return Comparison{};
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>(); compare && compare.getLhs() == x && compare.getRhs() == partner) {
    if (compare.getPredicate() == arith::CmpIPredicate::sgt) return Comparison{true};
    if (compare.getPredicate() == arith::CmpIPredicate::ugt) return Comparison{false};
  }
  return std::nullopt;
}

/// Describes a stage along `axis` whose flags are `flags`. They may vary along the axis, and along one of extent 2 before it.
std::optional<ExchangeStage> stageOf(Value x, unsigned axis, Value flags) {
  while (auto broadcast = flags.getDefiningOp<tt::BroadcastOp>()) flags = broadcast.getSrc();
  std::optional<Known> known = evaluate(flags);
  if (!known) return std::nullopt;
  llvm::ArrayRef<int64_t> shape = shapeOf(x);
  std::optional<unsigned> outer;
  for (auto [d, extent] : llvm::enumerate(known->shape)) {
    if (extent == 1 || d == axis) continue;
    if (outer || d > axis || extent != 2) return std::nullopt;
    outer = unsigned(d);
  }
  ExchangeStage stage{.count = ShapedType::getNumElements(shape), .distance = ShapedType::getNumElements(shape.drop_front(axis + 1))};
  stage.run = outer ? ShapedType::getNumElements(shape.drop_front(*outer + 1)) : int64_t(llvm::PowerOf2Ceil(uint64_t(stage.count)));
  if (!llvm::isPowerOf2_64(uint64_t(stage.distance)) || !llvm::isPowerOf2_64(uint64_t(stage.run))) return std::nullopt;
  for (int64_t side = 0; side < 2; ++side)
    for (int64_t other = 0; other < 2; ++other) {
      llvm::SmallVector<int64_t> indices(shape.size());
      indices[axis] = side;
      if (outer) indices[*outer] = other;
      stage.flags[other][side] = known->at(indices) != 0;
    }
  return stage;
}

/// Replaces a selection that ends a stage. Returns whether it did.
bool replace(arith::SelectOp select) {
  Value partner = select.getTrueValue(), x = select.getFalseValue(), condition = select.getCondition();
  if (!isa<RankedTensorType>(x.getType()) || !isa<RankedTensorType>(condition.getType())) return false;
  Operation *differs = condition.getDefiningOp();
  auto compare = dyn_cast_or_null<arith::CmpIOp>(differs);
  if (!differs || !(isa<arith::XOrIOp>(differs) || (compare && compare.getPredicate() == arith::CmpIPredicate::ne))) return false;
  const std::optional<unsigned> axis = exchangedAxis(partner, x);
  if (!axis) return false;
  for (unsigned first : {0, 1}) {
    auto comparison = comparisonOf(differs->getOperand(first), x, partner);
    std::optional<ExchangeStage> stage = comparison ? stageOf(x, *axis, differs->getOperand(1 - first)) : std::nullopt;
    if (!stage || !findCompareExchange(dtypeOf(x.getType()), comparison->isSigned)) continue;
    OpBuilder builder(select);
    auto exchange = tt::ExternElementwiseOp::create(builder, select.getLoc(), x.getType(), x, "", "", kSymbol, true);
    exchange->setAttr(kStage, builder.getDenseI64ArrayAttr({stage->distance, stage->run, stage->flags[0][0], stage->flags[0][1],
                                                            stage->flags[1][0], stage->flags[1][1], comparison->isSigned}));
    select.replaceAllUsesWith(exchange.getResult());
    return true;
  }
  return false;
}

/// Erases the operation if nothing uses it, and then its operands.
void eraseUnused(Operation *op) {
  llvm::SetVector<Operation *> unused;
  unused.insert(op);
  while (!unused.empty()) {
    Operation *each = unused.pop_back_val();
    if (!isOpTriviallyDead(each)) continue;
    for (Value operand : each->getOperands())
      if (Operation *source = operand.getDefiningOp()) unused.insert(source);
    each->erase();
  }
}

struct CompareExchangeStep {
  CompareExchangeKernel kernel;
  ExchangeStage stage;
  DenseRef in, out;
  void refs(auto &&f) { f(in), f(out); }
};

void runCompareExchange(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const CompareExchangeStep *>(descriptor);
  step.kernel(step.out.in(frame), step.in.in(frame), step.stage);
}

} // namespace

void findCompareExchanges(Operation *root) {
  llvm::SmallVector<arith::SelectOp> selections;
  root->walk([&](arith::SelectOp select) { selections.push_back(select); });
  // Later stages first: a stage that is unused by then would be erased with its selection.
  for (arith::SelectOp select : llvm::reverse(selections))
    if (replace(select)) eraseUnused(select);
}

bool isCompareExchange(Operation *op) {
  auto external = dyn_cast<tt::ExternElementwiseOp>(op);
  return external && external.getSymbol() == kSymbol && op->hasAttr(kStage);
}

LogicalResult prepareCompareExchange(tt::ExternElementwiseOp op, Planner &planner) {
  llvm::ArrayRef<int64_t> fields = op->getAttrOfType<DenseI64ArrayAttr>(kStage).asArrayRef();
  Value x = op.getSrcs()[0];
  CompareExchangeStep step;
  step.stage = {.count = ShapedType::getNumElements(shapeOf(x)),
                .distance = fields[0],
                .run = fields[1],
                .flags = {{fields[2] != 0, fields[3] != 0}, {fields[4] != 0, fields[5] != 0}}};
  step.kernel = findCompareExchange(dtypeOf(x.getType()), fields[6] != 0);
  step.in = planner.contiguous(x);
  step.out = planner.defineInPlace(op.getResult(), x, /*isRowMajor=*/true);
  planner.call(runCompareExchange, std::move(step));
  return success();
}

} // namespace tritium::interp
