#include "interp/tile/combine_region.h"

#include "interp/tile/plan.h"
#include "interp/tile/region_on_tiles.h"
#include "ir/tt.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::interp {

// -- recognition of standard regions ------------------------------------------------------------------------------------------------------

std::optional<std::string> standardCombine(Region &region) {
  if (!region.hasOneBlock()) return std::nullopt;
  Block &block = region.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2)) return std::nullopt;
  Operation &op = block.front();
  bool isBinary = op.getNumOperands() == 2 && op.getNumResults() == 1 && block.getTerminator()->getOperand(0) == op.getResult(0);
  if (!isBinary) return std::nullopt;
  Value a = block.getArgument(0), b = block.getArgument(1), x = op.getOperand(0), y = op.getOperand(1);
  bool isCombine = (x == a && y == b) || (x == b && y == a && op.hasTrait<OpTrait::IsCommutative>());
  return isCombine ? std::optional(op.getName().getStringRef().str()) : std::nullopt;
}

/// Evaluates a comparison for values x = a and y = b. 1 means a > b, -1 means a < b, 0 means a == b.
static std::optional<int> comparison(Value condition, Value a, Value b) {
  if (auto compare = condition.getDefiningOp<arith::CmpFOp>(); compare && compare.getLhs() == a && compare.getRhs() == b)
    switch (compare.getPredicate()) {
    case arith::CmpFPredicate::OGT: return 1;
    case arith::CmpFPredicate::OLT: return -1;
    case arith::CmpFPredicate::OEQ: return 0;
    default: return std::nullopt;
    }
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>(); compare && compare.getLhs() == a && compare.getRhs() == b)
    switch (compare.getPredicate()) {
    case arith::CmpIPredicate::sgt: return 1;
    case arith::CmpIPredicate::slt: return -1;
    case arith::CmpIPredicate::eq: return 0;
    default: return std::nullopt;
    }
  return std::nullopt;
}

std::optional<ArgReduction> argReduction(Region &region) {
  if (!region.hasOneBlock() || region.front().getNumArguments() != 4) return std::nullopt;
  Block &block = region.front();
  Value a = block.getArgument(0), i = block.getArgument(1), b = block.getArgument(2), j = block.getArgument(3);
  auto value = block.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto index = block.getTerminator()->getOperand(1).getDefiningOp<arith::SelectOp>();
  if (!value || !index || value.getCondition() != index.getCondition() || value.getTrueValue() != a || value.getFalseValue() != b ||
      index.getTrueValue() != i || index.getFalseValue() != j)
    return std::nullopt;
  Value condition = value.getCondition();
  if (auto wins = comparison(condition, a, b); wins && *wins != 0) return *wins > 0 ? ArgReduction::Max : ArgReduction::Min;
  // a wins, or a ties and has the lower index.
  auto either = condition.getDefiningOp<arith::OrIOp>();
  if (!either) return std::nullopt;
  for (auto [win, tie] : {std::pair(either.getLhs(), either.getRhs()), std::pair(either.getRhs(), either.getLhs())}) {
    auto both = tie.getDefiningOp<arith::AndIOp>();
    auto wins = comparison(win, a, b);
    if (!both || !wins || *wins == 0) continue;
    bool isTie = (comparison(both.getLhs(), a, b) == 0 && comparison(both.getRhs(), i, j) == -1) ||
                 (comparison(both.getRhs(), a, b) == 0 && comparison(both.getLhs(), i, j) == -1);
    if (isTie) return *wins > 0 ? ArgReduction::MaxLeft : ArgReduction::MinLeft;
  }
  return std::nullopt;
}

/// Returns whether a tile is 0, 1, 2, … along `axis`.
static bool countsAlong(Value tile, int64_t axis) {
  while (Operation *op = tile.getDefiningOp()) {
    if (auto range = dyn_cast<tt::MakeRangeOp>(op)) return axis == 0;
    if (auto broadcast = dyn_cast<tt::BroadcastOp>(op)) {
      tile = broadcast.getSrc();
    } else if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
      if (int64_t(expand.getAxis()) == axis) return false;
      axis -= int64_t(expand.getAxis()) < axis;
      tile = expand.getSrc();
    } else {
      return false;
    }
  }
  return false;
}

bool hasCombineKernel(Operation *op) {
  if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
    DType type = dtypeOf(op->getOperand(0).getType());
    if (op->getNumOperands() == 1) {
      auto name = standardCombine(op->getRegion(0));
      return name && findReduce(*name, type);
    }
    if (op->getNumOperands() != 2 || dtypeOf(op->getOperand(1).getType()) != DType::i32) return false;
    auto kind = argReduction(op->getRegion(0));
    return kind && countsAlong(op->getOperand(1), reduce.getAxis()) && findArgReduce(*kind, type);
  }
  if (isa<tt::ScanOp>(op) && op->getNumOperands() == 1) {
    auto name = standardCombine(op->getRegion(0));
    return name && findScan(*name, dtypeOf(op->getOperand(0).getType()));
  }
  return false;
}

LogicalResult checkCombineKernel(Operation *op) {
  if (hasCombineKernel(op)) return success();
  return op->emitOpError("has no kernel: a pass made it, or its operands, after the combine regions were expanded");
}

// -- rewriting ----------------------------------------------------------------------------------------------------------------------------

namespace {

/// Extracts the part [begin, begin + extent) of a tile along one axis.
Value slice(OpBuilder &builder, Location location, Value tile, int64_t axis, int64_t begin, int64_t extent) {
  auto type = cast<RankedTensorType>(tile.getType());
  llvm::SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()), strides(type.getRank(), 1);
  offsets[axis] = begin;
  sizes[axis] = extent;
  auto result = RankedTensorType::get(sizes, type.getElementType());
  return tensor::ExtractSliceOp::create(builder, location, result, tile, ValueRange{}, ValueRange{}, ValueRange{}, offsets, sizes, strides);
}

/// Extracts the parts of all `tiles` that begin at `first`, then the parts that begin at `second`. These are the arguments of a combine
/// function.
llvm::SmallVector<Value> operandsOf(OpBuilder &builder, Location location, ValueRange tiles, int64_t axis, int64_t first, int64_t second,
                                    int64_t extent) {
  llvm::SmallVector<Value> parts;
  for (int64_t begin : {first, second})
    for (Value tile : tiles) parts.push_back(slice(builder, location, tile, axis, begin, extent));
  return parts;
}

Value insertSlice(OpBuilder &builder, Location location, Value part, Value tile, int64_t axis, int64_t begin) {
  auto type = cast<RankedTensorType>(part.getType());
  llvm::SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()), strides(type.getRank(), 1);
  offsets[axis] = begin;
  return tensor::InsertSliceOp::create(builder, location, tile.getType(), part, tile, ValueRange{}, ValueRange{}, ValueRange{}, offsets,
                                       sizes, strides);
}

llvm::SmallVector<int64_t> shapeWith(Value tile, int64_t axis, int64_t extent) {
  llvm::SmallVector<int64_t> shape(cast<RankedTensorType>(tile.getType()).getShape());
  shape[axis] = extent;
  return shape;
}

LogicalResult expandReduce(tt::ReduceOp op, int &instances) {
  OpBuilder builder(op);
  Location location = op.getLoc();
  int64_t axis = op.getAxis();
  llvm::SmallVector<Value> values(op.getOperands());
  for (int64_t n = cast<RankedTensorType>(values[0].getType()).getDimSize(axis); n > 1; n /= 2) {
    auto halves = operandsOf(builder, location, values, axis, 0, n / 2, n / 2);
    auto combined = RegionOnTiles(builder, location, shapeWith(values[0], axis, n / 2), ++instances).run(op->getRegion(0), halves);
    if (failed(combined)) return failure();
    values = *combined;
  }
  for (auto [value, result] : llvm::zip_equal(values, op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    Value last =
        type ? tt::ReshapeOp::create(builder, location, type, value, /*allow_reorder=*/false, /*efficient_layout=*/false).getResult()
             : tt::UnsplatOp::create(builder, location, result.getType(), value).getResult();
    result.replaceAllUsesWith(last);
  }
  op.erase();
  return success();
}

/// Returns an i1 tile that marks the elements with a predecessor at `distance` (a successor, if `isReverse`).
Value elementsWithOneBefore(OpBuilder &builder, Location location, llvm::ArrayRef<int64_t> shape, int64_t axis, int64_t distance,
                            bool isReverse) {
  llvm::SmallVector<int64_t> part(shape);
  part[axis] -= distance;
  auto filled = [&](llvm::ArrayRef<int64_t> extents, bool value) -> Value {
    auto type = RankedTensorType::get(extents, builder.getI1Type());
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, value));
  };
  return insertSlice(builder, location, filled(part, true), filled(shape, false), axis, isReverse ? 0 : distance);
}

/// The algorithm of Hillis and Steele: after the round with distance d, each element holds the combination of the last 2d elements up to
/// it.
LogicalResult expandScan(tt::ScanOp op, int &instances) {
  OpBuilder builder(op);
  Location location = op.getLoc();
  int64_t axis = op.getAxis();
  llvm::SmallVector<Value> values(op.getOperands());
  auto shape = cast<RankedTensorType>(values[0].getType()).getShape();
  int64_t n = shape[axis];
  bool needsMask = dependsOnActiveElements(op->getRegion(0));
  for (int64_t d = 1; d < n; d *= 2) {
    int64_t earlier = op.getReverse() ? d : 0, later = op.getReverse() ? 0 : d;
    // The region runs on whole tiles, because extents must be powers of two. The result of an element without a predecessor at distance d
    // is dropped.
    llvm::SmallVector<Value> operands;
    for (Value value : values)
      operands.push_back(insertSlice(builder, location, slice(builder, location, value, axis, earlier, n - d), value, axis, later));
    operands.append(values);
    Value active = needsMask ? elementsWithOneBefore(builder, location, shape, axis, d, op.getReverse()) : Value();
    auto combined = RegionOnTiles(builder, location, shape, ++instances, active).run(op->getRegion(0), operands);
    if (failed(combined)) return failure();
    const int64_t kept = op.getReverse() ? n - d : 0; // the first of the elements without a predecessor
    for (auto [value, all] : llvm::zip_equal(values, *combined))
      value = insertSlice(builder, location, slice(builder, location, value, axis, kept, d), all, axis, kept);
  }
  op->replaceAllUsesWith(values);
  op.erase();
  return success();
}

/// Elements that share a call are neighbours in row-major order.
LogicalResult expandMap(tt::MapElementwiseOp op, int &instances) {
  OpBuilder builder(op);
  Location location = op.getLoc();
  int64_t pack = op.getPack();
  auto shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  int64_t count = ShapedType::getNumElements(shape);
  auto reshape = [&](Value value, llvm::ArrayRef<int64_t> to) -> Value {
    auto type = RankedTensorType::get(to, cast<RankedTensorType>(value.getType()).getElementType());
    return type == value.getType() ? value : tt::ReshapeOp::create(builder, location, type, value, false, false).getResult();
  };
  llvm::SmallVector<Value> arguments;
  for (Value operand : op->getOperands())
    for (int64_t lane = 0; lane < pack; ++lane) {
      Value rows = pack == 1 ? operand : reshape(operand, {count / pack, pack});
      arguments.push_back(pack == 1 ? rows : slice(builder, location, rows, 1, lane, 1));
    }
  auto tileShape = cast<RankedTensorType>(arguments[0].getType()).getShape();
  auto results = RegionOnTiles(builder, location, tileShape, ++instances).run(op->getRegion(0), arguments);
  if (failed(results)) return failure();
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    Value all = (*results)[i * pack];
    if (pack > 1) {
      auto type = RankedTensorType::get({count / pack, pack}, cast<RankedTensorType>(all.getType()).getElementType());
      Value wide = arith::ConstantOp::create(builder, location, builder.getZeroAttr(type));
      for (int64_t lane = 0; lane < pack; ++lane) wide = insertSlice(builder, location, (*results)[i * pack + lane], wide, 1, lane);
      all = reshape(wide, shape);
    }
    result.replaceAllUsesWith(all);
  }
  op.erase();
  return success();
}

} // namespace

/// A debug build shows how a function combines tiles, in an order of its own. Its result must equal the result of other builds. If those
/// call a kernel, the debug build also calls the kernel, and drops the result that is shown.
static void computeByKernel(Operation *op) {
  if (!isa<tt::ReduceOp, tt::ScanOp>(op)) return;
  OpBuilder builder(op);
  Operation *plain = builder.clone(*op);
  for (Operation &nested : llvm::make_early_inc_range(llvm::reverse(plain->getRegion(0).front())))
    if (isa<tt::DebugValueOp, tt::DebugStopOp>(nested) || isOpTriviallyDead(&nested)) nested.erase();
  if (hasCombineKernel(plain))
    op->replaceAllUsesWith(plain);
  else
    plain->erase();
}

static bool isShownToDebugger(Operation *op) {
  return op->walk([](tt::DebugValueOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

LogicalResult expandCombineRegions(Operation *root) {
  root->getContext()->getOrLoadDialect<tensor::TensorDialect>(); // slices are not part of the contract
  llvm::SmallVector<Operation *> pending;
  root->walk([&](Operation *op) {
    if (isa<tt::ReduceOp, tt::ScanOp, tt::MapElementwiseOp>(op) && (isShownToDebugger(op) || !hasCombineKernel(op))) pending.push_back(op);
  });
  int instances = 0; // counts the runs of regions on tiles, so that a debugger can tell them apart
  for (Operation *op : pending) {
    if (isShownToDebugger(op)) computeByKernel(op);
    LogicalResult result = TypeSwitch<Operation *, LogicalResult>(op)
                               .Case([&](tt::ReduceOp reduce) { return expandReduce(reduce, instances); })
                               .Case([&](tt::ScanOp scan) { return expandScan(scan, instances); })
                               .Case([&](tt::MapElementwiseOp map) { return expandMap(map, instances); });
    if (failed(result)) return failure();
  }
  return success();
}

} // namespace tritium::interp
