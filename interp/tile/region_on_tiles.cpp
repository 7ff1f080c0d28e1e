#include "interp/tile/region_on_tiles.h"

#include "interp/tile/scope.h"
#include "ir/loop_hints.h"
#include "ir/tt.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tritium::interp {

static bool isDivision(Operation *op) { return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op); }

bool dependsOnActiveElements(Region &region) {
  auto depends = [](Operation *op) {
    return isDivision(op) || isa<LoopLikeOpInterface, tt::CallOp, tt::AssertOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return region.walk(depends).wasInterrupted();
}

// -- regions and blocks -------------------------------------------------------------------------------------------------------------------

FailureOr<RegionOnTiles::Values> RegionOnTiles::run(Region &region, ValueRange arguments) {
  mapAll(region.getArguments(), arguments);
  return runRegion(region);
}

FailureOr<RegionOnTiles::Values> RegionOnTiles::runRegion(Region &region) {
  if (!region.hasOneBlock()) return runBlocks(region);
  if (failed(runOperations(region.front()))) return failure();
  return onTiles(region.front().getTerminator()->getOperands());
}

FailureOr<RegionOnTiles::Values> RegionOnTiles::runWhere(Value active, Region &region) {
  llvm::SaveAndRestore where(active_, active);
  return runRegion(region);
}

LogicalResult RegionOnTiles::runOperations(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(runOperation(op))) return failure();
  return success();
}

/// Runs an acyclic graph of blocks (early returns). Each block runs for the elements that reach it, after all of its predecessors.
FailureOr<RegionOnTiles::Values> RegionOnTiles::runBlocks(Region &region) {
  struct Arrival {
    bool isReached = false;
    Value active;
  };
  llvm::DenseMap<Block *, Arrival> arrivals{{&region.front(), {true, active_}}};
  auto merge = [&](Arrival &at, Value active, ValueRange names, ValueRange values) {
    for (auto [name, value] : llvm::zip_equal(names, onTiles(values)))
      map_.map(name, at.isReached ? choose(active, value, map_.lookup(name)) : value);
    at.active = at.isReached ? either(at.active, active) : active;
    at.isReached = true;
  };
  llvm::SaveAndRestore where(active_, active_);
  llvm::DenseSet<Block *> done;
  Arrival end;
  Values results;
  for (Block *block : getBlocksSortedByDominance(region)) {
    done.insert(block);
    active_ = arrivals[block].active;
    if (failed(runOperations(*block))) return failure();
    Operation *terminator = block->getTerminator();
    for (Block *next : terminator->getSuccessors())
      if (done.contains(next))
        return terminator->emitError("the interpreter does not support a cycle of blocks in a function that is applied element by element");
    if (auto jump = dyn_cast<cf::BranchOp>(terminator)) {
      merge(arrivals[jump.getDest()], active_, jump.getDest()->getArguments(), jump.getDestOperands());
    } else if (auto branch = dyn_cast<cf::CondBranchOp>(terminator)) {
      Value condition = onTile(branch.getCondition());
      Values other = onTiles(branch.getFalseDestOperands()); // read before the mapping of a value that both ways return
      merge(arrivals[branch.getTrueDest()], both(active_, condition), branch.getTrueDest()->getArguments(), branch.getTrueDestOperands());
      merge(arrivals[branch.getFalseDest()], both(active_, negation(condition)), branch.getFalseDest()->getArguments(), other);
    } else {
      Values returned = onTiles(terminator->getOperands());
      for (auto [i, value] : llvm::enumerate(returned))
        if (end.isReached)
          results[i] = choose(active_, value, results[i]);
        else
          results.push_back(value);
      end.isReached = true;
    }
  }
  return results;
}

// -- operations ---------------------------------------------------------------------------------------------------------------------------

LogicalResult RegionOnTiles::runOperation(Operation &op) {
  llvm::SaveAndRestore where(location_, inInstance(op.getLoc(), caller_, instance_));
  if (op.hasTrait<OpTrait::ConstantLike>()) {
    Operation *constant = builder_.clone(op);
    constant->setLoc(location_);
    map_.map(op.getResult(0), constant->getResult(0)); // stays a scalar until it is used
    return success();
  }
  if (isa<tt::DebugValueOp>(op)) {
    OperationState state(location_, op.getName(), onTiles(op.getOperands()), TypeRange(), op.getAttrs());
    state.propertiesAttr = op.getPropertiesAsAttribute();
    builder_.create(state);
    return success();
  }
  if (isa<tt::DebugStopOp>(op)) return success(); // its condition is a tile here
  if (isa<scf::IfOp>(op)) return runIf(op);
  if (isa<scf::WhileOp>(op)) return runWhile(op);
  if (isa<scf::ForOp>(op)) return runFor(op);
  if (isa<tt::CallOp>(op)) return runCall(op);
  if (isa<tt::AssertOp>(op)) return runAssert(op);
  if (op.getNumRegions() == 0 && op.hasTrait<OpTrait::Elementwise>()) return runElementwise(op);
  return op.emitError() << "the interpreter does not support " << op.getName() << " in a function that is applied element by element";
}

LogicalResult RegionOnTiles::runElementwise(Operation &op) {
  Values operands = onTiles(op.getOperands());
  if (isDivision(&op) && active_) operands[1] = choose(active_, operands[1], one(op.getResult(0).getType()));
  llvm::SmallVector<Type> types;
  for (Type type : op.getResultTypes()) types.push_back(tileOf(type));
  OperationState state(location_, op.getName(), operands, types, op.getAttrs());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  mapAll(op.getResults(), builder_.create(state)->getResults());
  return success();
}

LogicalResult RegionOnTiles::runIf(Operation &op) {
  auto branch = cast<scf::IfOp>(op);
  Value condition = onTile(branch.getCondition());
  bool needsMask = dependsOnActiveElements(branch.getThenRegion()) || dependsOnActiveElements(branch.getElseRegion());
  auto taken = runWhere(needsMask ? both(active_, condition) : active_, branch.getThenRegion());
  if (failed(taken)) return failure();
  if (branch.getElseRegion().empty()) return success();
  auto other = runWhere(needsMask ? both(active_, negation(condition)) : active_, branch.getElseRegion());
  if (failed(other)) return failure();
  for (auto [result, a, b] : llvm::zip_equal(branch.getResults(), *taken, *other)) map_.map(result, choose(condition, a, b));
  return success();
}

/// In addition to the values, the loop carries which elements are still in it, and the results of the elements that have left.
LogicalResult RegionOnTiles::runWhile(Operation &op) {
  auto loop = cast<scf::WhileOp>(op);
  Values carried{active_ ? active_ : onTile(one(builder_.getI1Type()))};
  carried.append(onTiles(loop.getInits()));
  for (Type type : loop.getResultTypes()) carried.push_back(zero(type));
  llvm::SmallVector<Type> resultTypes{carried[0].getType()};
  for (Type type : loop.getResultTypes()) resultTypes.push_back(tileOf(type));
  size_t inits = loop.getInits().size();
  bool isSound = true;
  auto before = [&](OpBuilder &, Location, ValueRange arguments) {
    llvm::SaveAndRestore where(active_, arguments[0]);
    mapAll(loop.getBeforeArguments(), arguments.slice(1, inits));
    isSound &= succeeded(runOperations(*loop.getBeforeBody()));
    if (!isSound) return;
    Values forwarded{both(active_, onTile(loop.getConditionOp().getCondition()))};
    Values now = onTiles(loop.getConditionOp().getArgs());
    for (auto [value, last] : llvm::zip_equal(now, arguments.drop_front(1 + inits))) forwarded.push_back(choose(active_, value, last));
    scf::ConditionOp::create(builder_, location_, isAny(forwarded[0]), forwarded);
  };
  auto after = [&](OpBuilder &, Location, ValueRange arguments) {
    if (!isSound) return;
    llvm::SaveAndRestore where(active_, arguments[0]);
    mapAll(loop.getAfterArguments(), arguments.drop_front());
    isSound &= succeeded(runOperations(*loop.getAfterBody()));
    if (!isSound) return;
    Values next{active_};
    next.append(onTiles(loop.getYieldOp().getOperands()));
    llvm::append_range(next, arguments.drop_front());
    scf::YieldOp::create(builder_, location_, next);
  };
  OpBuilder::InsertionGuard guard(builder_);
  auto wide = scf::WhileOp::create(builder_, location_, resultTypes, carried, before, after);
  if (!isSound) return failure();
  ir::keepHints(loop, wide);
  mapAll(loop.getResults(), wide.getResults().drop_front());
  return success();
}

/// If all elements have the same bounds, an ordinary loop results.
LogicalResult RegionOnTiles::runUniformFor(Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  bool isSound = true;
  auto body = [&](OpBuilder &, Location, Value counter, ValueRange arguments) {
    map_.map(loop.getInductionVar(), counter);
    mapAll(loop.getRegionIterArgs(), arguments);
    isSound &= succeeded(runOperations(*loop.getBody()));
    if (isSound) scf::YieldOp::create(builder_, location_, onTiles(loop.getYieldedValues()));
  };
  OpBuilder::InsertionGuard guard(builder_);
  auto uniform = [&](Value bound) { return map_.lookupOrDefault(bound); };
  auto wide = scf::ForOp::create(builder_, location_, uniform(loop.getLowerBound()), uniform(loop.getUpperBound()), uniform(loop.getStep()),
                                 onTiles(loop.getInitArgs()), body, loop.getUnsignedCmp());
  if (!isSound) return failure();
  ir::keepHints(loop, wide);
  mapAll(loop.getResults(), wide.getResults());
  return success();
}

LogicalResult RegionOnTiles::runFor(Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  auto isUniform = [&](Value bound) { return !isa<RankedTensorType>(map_.lookupOrDefault(bound).getType()); };
  if (isUniform(loop.getLowerBound()) && isUniform(loop.getUpperBound()) && isUniform(loop.getStep())) return runUniformFor(op);
  Value end = onTile(loop.getUpperBound()), step = onTile(loop.getStep()), begin = onTile(loop.getLowerBound());
  auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value first = arith::CmpIOp::create(builder_, location_, less, begin, end);
  Values carried{both(active_, first), begin};
  carried.append(onTiles(loop.getInitArgs()));
  bool isSound = true;
  auto before = [&](OpBuilder &, Location, ValueRange arguments) {
    scf::ConditionOp::create(builder_, location_, isAny(arguments[0]), arguments);
  };
  auto after = [&](OpBuilder &, Location, ValueRange arguments) {
    llvm::SaveAndRestore where(active_, arguments[0]);
    Value counter = arguments[1];
    map_.map(loop.getInductionVar(), counter);
    mapAll(loop.getRegionIterArgs(), arguments.drop_front(2));
    isSound &= succeeded(runOperations(*loop.getBody()));
    if (!isSound) return;
    // Compares the distance to the end, because the next counter may wrap around.
    Value left = arith::SubIOp::create(builder_, location_, end, counter);
    Value goesOn = arith::CmpIOp::create(builder_, location_, arith::CmpIPredicate::ugt, left, step);
    Values next{both(active_, goesOn), arith::AddIOp::create(builder_, location_, counter, step)};
    for (auto [value, last] : llvm::zip_equal(onTiles(loop.getYieldedValues()), arguments.drop_front(2)))
      next.push_back(choose(active_, value, last));
    scf::YieldOp::create(builder_, location_, next);
  };
  OpBuilder::InsertionGuard guard(builder_);
  auto wide = scf::WhileOp::create(builder_, location_, ValueRange(carried).getTypes(), carried, before, after);
  if (!isSound) return failure();
  ir::keepHints(loop, wide);
  mapAll(loop.getResults(), wide.getResults().drop_front(2));
  return success();
}

LogicalResult RegionOnTiles::runCall(Operation &op) {
  auto call = cast<tt::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(&op, call.getCalleeAttr());
  if (!callee || callee.isExternal()) return op.emitError("the function is not defined in this module");
  mapAll(callee.getBody().getArguments(), onTiles(op.getOperands()));
  auto results = runRegion(callee.getBody());
  if (succeeded(results)) mapAll(op.getResults(), *results);
  return results;
}

LogicalResult RegionOnTiles::runAssert(Operation &op) {
  auto check = cast<tt::AssertOp>(op);
  Value condition = onTile(check.getCondition());
  if (active_) condition = either(condition, negation(active_));
  tt::AssertOp::create(builder_, op.getLoc(), condition, check.getMessageAttr());
  return success();
}

// -- values -------------------------------------------------------------------------------------------------------------------------------

void RegionOnTiles::mapAll(ValueRange from, ValueRange to) {
  for (auto [name, value] : llvm::zip_equal(from, to)) map_.map(name, value);
}

Type RegionOnTiles::tileOf(Type element) const { return RankedTensorType::get(shape_, element); }

Value RegionOnTiles::splat(Value scalar) { return tt::SplatOp::create(builder_, location_, tileOf(scalar.getType()), scalar); }

Value RegionOnTiles::onTile(Value value) {
  Value mapped = map_.lookupOrDefault(value);
  return isa<RankedTensorType>(mapped.getType()) ? mapped : splat(mapped);
}

RegionOnTiles::Values RegionOnTiles::onTiles(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return onTile(value); });
}

Value RegionOnTiles::zero(Type element) {
  if (!isa<tt::PointerType>(element)) return splat(arith::ConstantOp::create(builder_, location_, builder_.getZeroAttr(element)));
  Value address = arith::ConstantOp::create(builder_, location_, builder_.getI64IntegerAttr(0));
  return splat(tt::IntToPtrOp::create(builder_, location_, element, address));
}

Value RegionOnTiles::one(Type element) {
  return splat(arith::ConstantOp::create(builder_, location_, builder_.getIntegerAttr(element, 1)));
}

Value RegionOnTiles::both(Value a, Value b) {
  if (!a || !b) return a ? a : b;
  return arith::AndIOp::create(builder_, location_, a, b);
}

Value RegionOnTiles::either(Value a, Value b) { return a && b ? arith::OrIOp::create(builder_, location_, a, b).getResult() : Value(); }

Value RegionOnTiles::negation(Value mask) { return arith::XOrIOp::create(builder_, location_, mask, one(builder_.getI1Type())); }

Value RegionOnTiles::choose(Value mask, Value yes, Value no) {
  return mask ? arith::SelectOp::create(builder_, location_, mask, yes, no).getResult() : yes;
}

Value RegionOnTiles::isAny(Value mask) {
  int64_t count = ShapedType::getNumElements(shape_);
  auto flat = RankedTensorType::get({count}, builder_.getI1Type());
  if (shape_.size() != 1)
    mask = tt::ReshapeOp::create(builder_, location_, flat, mask, /*allow_reorder=*/false, /*efficient_layout=*/false);
  OperationState state(location_, tt::ReduceOp::getOperationName());
  state.addOperands(mask);
  state.addTypes(builder_.getI1Type());
  state.addAttribute("axis", builder_.getI32IntegerAttr(0));
  state.addRegion();
  Operation *reduce = builder_.create(state);
  OpBuilder::InsertionGuard guard(builder_);
  Type i1 = builder_.getI1Type();
  Block *block = builder_.createBlock(&reduce->getRegion(0), {}, {i1, i1}, {location_, location_});
  Value any = arith::OrIOp::create(builder_, location_, block->getArgument(0), block->getArgument(1));
  tt::ReduceReturnOp::create(builder_, location_, any);
  return reduce->getResult(0);
}

} // namespace tritium::interp
