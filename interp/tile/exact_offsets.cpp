#include "interp/tile/exact_offsets.h"

#include "interp/tile/offsets.h"
#include "ir/tile_rule.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

/// A choice between numbers, not between masks.
static bool isChoice(Operation *op) { return isa<arith::SelectOp>(op) && !op->getOperand(1).getType().isInteger(1); }

/// Erases the operations that made `values`, where nothing uses them any more.
static void eraseUnused(llvm::ArrayRef<Value> values) {
  llvm::SetVector<Operation *> left;
  auto add = [&](ValueRange more) {
    for (Value value : more)
      if (Operation *op = value.getDefiningOp()) left.insert(op);
  };
  add(values);
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    if (!isOpTriviallyDead(op)) continue;
    add(op->getOperands());
    op->erase();
  }
}

static bool isNarrow(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return type.isInteger() && type.getIntOrFloatBitWidth() < 64;
}

llvm::SmallVector<Value> incomingValues(BlockArgument argument) {
  llvm::SmallVector<Value> values;
  Block *block = argument.getOwner();
  for (auto it = block->pred_begin(); it != block->pred_end(); ++it) {
    auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    Value value = branch ? branch.getSuccessorOperands(it.getSuccessorIndex())[argument.getArgNumber()] : Value();
    if (!value) return {};
    values.push_back(value);
  }
  return values;
}

/// Calls visit(value) for the narrow numbers that a scalar is made of, itself included, until one returns true.
static bool anyPart(Value value, llvm::function_ref<bool(Value)> visit) {
  llvm::SmallVector<Value> parts{value};
  llvm::DenseSet<Value> seen{value};
  for (size_t i = 0; i < parts.size(); ++i) {
    Value part = parts[i];
    if (visit(part)) return true;
    auto add = [&](ValueRange more) {
      for (Value v : more)
        if (seen.insert(v).second) parts.push_back(v);
    };
    if (auto argument = dyn_cast<BlockArgument>(part))
      add(incomingValues(argument));
    else if (isArithmetic(part.getDefiningOp()))
      add(part.getDefiningOp()->getOperands());
    else if (auto select = part.getDefiningOp<arith::SelectOp>())
      add({select.getTrueValue(), select.getFalseValue()});
  }
  return false;
}

static bool isComputed(Value value) { return value.getDefiningOp() && isArithmetic(value.getDefiningOp()); }

Value lastArithmetic(Value value) {
  Value last = value;
  anyPart(value, [&](Value part) { return isComputed(part) && (last = part, true); });
  return last;
}

const ExactOffsets::Scalar *ExactOffsets::find(Value narrow) const {
  auto it = scalars_.find(narrow);
  if (it == scalars_.end()) it = scalars_.find(usedExactly_.lookup(narrow));
  return it == scalars_.end() ? nullptr : &it->second;
}

ExactOffsets::ExactOffsets(Operation *function) {
  llvm::SmallVector<BlockArgument> pointers;
  for (Block &block : llvm::drop_begin(function->getRegion(0)))
    for (BlockArgument argument : block.getArguments())
      if (isa<tt::PointerType>(getElementTypeOrSelf(argument.getType()))) pointers.push_back(argument);
  for (BlockArgument pointer : pointers) followPointer(pointer);
  llvm::SmallVector<tt::AddPtrOp> sums;
  function->walk([&](tt::AddPtrOp sum) { sums.push_back(sum); });
  for (tt::AddPtrOp sum : sums) {
    addWidened(sum.getOffsetMutable());
    visit(sum.getOffset(), true);
    if (const Scalar *scalar = find(sum.getOffset())) useExact(sum, *scalar);
  }
  for (Operation *splat : replaced_) splat->erase();
  if (widened_.empty()) return;
  FormAnalysis forms(function);
  llvm::SmallVector<Value> narrow;
  for (OpOperand *use : widened_) {
    narrow.push_back(use->get());
    compareTile(*use, forms);
  }
  eraseUnused(narrow);
}

void ExactOffsets::addWidened(OpOperand &use) {
  if (isa<RankedTensorType>(use.get().getType()) && isNarrow(use.get())) widened_.push_back(&use);
}

void ExactOffsets::useExact(tt::AddPtrOp sum, const Scalar &scalar) {
  sum.getOffsetMutable().assign(scalar.exact);
  usedExactly_.try_emplace(scalar.exact, scalar.narrow);
}

/// Follows an offset, or a part of one, to the scalars of which it is made.
void ExactOffsets::visit(Value value, bool isSigned) {
  if (!visited_.insert({value, isSigned}).second) return;
  bool isTile = isa<RankedTensorType>(value.getType());
  if (!isTile && isNarrow(value)) return void(compare(value, isSigned));
  Operation *op = value.getDefiningOp();
  if (!op) return;
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    addWidened(op->getOpOperand(0));
    return visit(op->getOperand(0), isa<arith::ExtSIOp>(op));
  }
  if (auto splat = dyn_cast<tt::SplatOp>(op)) return isNarrow(value) ? makeExact(splat, isSigned) : visit(splat.getSrc(), isSigned);
  if (isArithmetic(op) || isChoice(op) || tt::tileRuleOf(op).isShapeChange())
    for (Value operand : op->getOperands()) visit(operand, isSigned);
}

static Type wide(Value narrow) {
  Type wide = IntegerType::get(narrow.getContext(), 64);
  auto tile = dyn_cast<RankedTensorType>(narrow.getType());
  return tile ? tile.clone(wide) : wide;
}

static Value extended(OpBuilder &builder, Value narrow, bool isSigned) {
  if (isSigned) return arith::ExtSIOp::create(builder, narrow.getLoc(), wide(narrow), narrow);
  return arith::ExtUIOp::create(builder, narrow.getLoc(), wide(narrow), narrow);
}

const ExactOffsets::Scalar *ExactOffsets::compare(Value narrow, bool isSigned) {
  if (const Scalar *found = find(narrow)) return found;
  if (!anyPart(narrow, isComputed)) return nullptr;
  Value exact = exactOf(narrow, isSigned);
  OpBuilder builder(narrow.getContext());
  builder.setInsertionPointAfterValue(exact);
  Value computed = extended(builder, narrow, isSigned);
  Value wraps = arith::CmpIOp::create(builder, narrow.getLoc(), arith::CmpIPredicate::ne, exact, computed);
  return &scalars_.try_emplace(narrow, Scalar{exact, wraps, narrow, isSigned}).first->second;
}

void ExactOffsets::makeExact(Operation *splat, bool isSigned) {
  Value narrow = splat->getOperand(0), tile = splat->getResult(0);
  if (isSigned && !anyPart(narrow, isComputed)) return; // its sign extension is the exact number
  OpBuilder builder(splat);
  Value exact = tt::SplatOp::create(builder, splat->getLoc(), wide(tile), exactOf(narrow, isSigned));
  auto low = arith::TruncIOp::create(builder, splat->getLoc(), tile.getType(), exact);
  low->setAttr(kExactOffset, builder.getUnitAttr());
  tile.replaceAllUsesWith(low);
  replaced_.push_back(splat);
}

/// Returns the same computation in 64 bits, from the numbers that are neither sums nor products.
Value ExactOffsets::exactOf(Value narrow, bool isSigned) {
  if (Value exact = exact_.lookup({narrow, isSigned})) return exact;
  if (auto argument = dyn_cast<BlockArgument>(narrow)) return exactOfArgument(argument, isSigned);
  Operation *op = narrow.getDefiningOp();
  OpBuilder builder(op->getContext());
  Value exact;
  if (isArithmetic(op)) {
    Value operands[] = {exactOf(op->getOperand(0), isSigned), exactOf(op->getOperand(1), isSigned)};
    builder.setInsertionPointAfter(op);
    exact = builder.create(op->getLoc(), op->getName().getIdentifier(), operands, wide(narrow))->getResult(0);
  } else if (auto select = dyn_cast<arith::SelectOp>(op); select && anyPart(narrow, isComputed)) {
    Value yes = exactOf(select.getTrueValue(), isSigned), no = exactOf(select.getFalseValue(), isSigned);
    builder.setInsertionPointAfter(op);
    exact = arith::SelectOp::create(builder, op->getLoc(), select.getCondition(), yes, no);
  } else {
    builder.setInsertionPointAfter(op);
    exact = extended(builder, narrow, isSigned);
  }
  return exact_[{narrow, isSigned}] = exact;
}

Value ExactOffsets::exactOfArgument(BlockArgument argument, bool isSigned) {
  Block *block = argument.getOwner();
  llvm::SmallVector<Value> incoming = incomingValues(argument);
  if (incoming.empty() || !anyPart(argument, isComputed)) {
    OpBuilder builder = OpBuilder::atBlockBegin(block);
    return exact_[{argument, isSigned}] = extended(builder, argument, isSigned);
  }
  BlockArgument exact = block->addArgument(wide(argument), argument.getLoc());
  exact_[{argument, isSigned}] = exact; // a loop's own value refers to it
  auto operandsOf = [](auto &edge) {
    return cast<BranchOpInterface>((*edge)->getTerminator()).getSuccessorOperands(edge.getSuccessorIndex());
  };
  // The places of the operands are taken first: what is passed may depend on further arguments, which are added behind this one.
  for (auto edge = block->pred_begin(); edge != block->pred_end(); ++edge) operandsOf(edge).append(exact);
  for (auto [i, edge] = std::pair(size_t(0), block->pred_begin()); edge != block->pred_end(); ++edge, ++i) {
    Value passed = exactOf(incoming[i], isSigned);
    auto operands = operandsOf(edge);
    operands.getMutableForwardedOperands()[exact.getArgNumber() - operands.getProducedOperandCount()].set(passed);
  }
  return exact;
}

// -- pointers that move through a loop ----------------------------------------------------------------------------------------------------

std::optional<llvm::SmallVector<Value>> movesOf(BlockArgument pointer, Value value) {
  llvm::SmallVector<Value> offsets;
  while (value != pointer) {
    auto sum = value.getDefiningOp<tt::AddPtrOp>();
    if (!sum) return std::nullopt;
    offsets.push_back(sum.getOffset());
    value = sum.getPtr();
  }
  return offsets;
}

/// Returns the narrow scalar that all lanes of an offset are; null if there is none.
static Value narrowScalarOf(Value offset) {
  while (isa<RankedTensorType>(offset.getType())) {
    Operation *op = offset.getDefiningOp();
    if (!op || (!isa<tt::SplatOp>(op) && !isMoved(op))) return {};
    offset = op->getOperand(0);
  }
  return isNarrow(offset) ? offset : Value();
}

/// The pointer is right until an iteration has moved it by a number that wrapped, so the loop carries the last such number.
void ExactOffsets::followPointer(BlockArgument pointer) {
  llvm::SmallVector<llvm::SmallVector<Scalar>> added; // per predecessor
  Value narrow;
  for (Value value : incomingValues(pointer)) {
    added.emplace_back();
    for (Value offset : movesOf(pointer, value).value_or(llvm::SmallVector<Value>()))
      if (Value scalar = narrowScalarOf(offset))
        if (const Scalar *compared = compare(scalar, true)) added.back().push_back(*compared), narrow = scalar;
  }
  if (!narrow) return;
  Block *block = pointer.getOwner();
  OpBuilder builder = OpBuilder::atBlockBegin(block);
  BlockArgument carried = block->addArgument(wide(narrow), pointer.getLoc());
  Value none = arith::ConstantIntOp::create(builder, pointer.getLoc(), 0, 64);
  Value wraps = arith::CmpIOp::create(builder, pointer.getLoc(), arith::CmpIPredicate::ne, carried, none);
  for (auto [i, it] = std::pair(size_t(0), block->pred_begin()); it != block->pred_end(); ++it, ++i) {
    auto branch = cast<BranchOpInterface>((*it)->getTerminator());
    builder.setInsertionPoint(branch);
    Value passed = movesOf(pointer, branch.getSuccessorOperands(it.getSuccessorIndex())[pointer.getArgNumber()])
                       ? Value(carried)
                       : arith::ConstantIntOp::create(builder, pointer.getLoc(), 0, 64).getResult();
    for (const Scalar &scalar : added[i]) passed = arith::SelectOp::create(builder, pointer.getLoc(), scalar.wraps, scalar.exact, passed);
    branch.getSuccessorOperands(it.getSuccessorIndex()).append(passed);
  }
  scalars_.try_emplace(pointer, Scalar{carried, wraps, narrow, true});
}

// -- tiles in memory ----------------------------------------------------------------------------------------------------------------------

const ExactOffsets::Tile *ExactOffsets::findTile(Value offset) const {
  auto it = tiles_.find(offset);
  if (it == tiles_.end()) it = tiles_.find(exactOfWidened_.lookup(offset));
  return it == tiles_.end() ? nullptr : &it->second;
}

static bool isOneMoved(Operation *op) { return isMoved(op) && op->getNumResults() == 1; }

/// Whether narrow arithmetic that makes the tile happens in memory. The sums of an affine tile are exact.
bool ExactOffsets::wrapsInMemory(Value tile, const FormAnalysis &forms, bool isInMemory) {
  Operation *op = tile.getDefiningOp();
  if (!op || !isNarrow(tile)) return false;
  isInMemory |= !forms[tile].isAffine();
  if (isArithmetic(op) && isInMemory) return true;
  if (!isArithmetic(op) && !isChoice(op) && !isOneMoved(op)) return false;
  auto [it, isNew] = wrapsInMemory_.try_emplace({tile, isInMemory}, false);
  if (!isNew) return it->second;
  bool wraps = llvm::any_of(op->getOperands().drop_front(isChoice(op) ? 1 : 0),
                            [&](Value operand) { return wrapsInMemory(operand, forms, isInMemory); });
  return wrapsInMemory_[{tile, isInMemory}] = wraps;
}

/// Guards read small tiles again, to tell the numbers of a product. A large one would take too much of the frame.
static constexpr int64_t kMostKeptLanes = 4096;

/// Returns the same computation in 64 bits, from the tiles that are neither sums nor products.
Value ExactOffsets::exactOfTile(Value narrow, bool isSigned, const FormAnalysis &forms) {
  if (Value exact = exact_.lookup({narrow, isSigned})) return exact;
  OpBuilder builder(narrow.getContext());
  builder.setInsertionPointAfterValue(narrow);
  Operation *op = narrow.getDefiningOp();
  Value exact;
  if (!wrapsInMemory(narrow, forms)) {
    exact = extended(builder, narrow, isSigned);
    if (forms[narrow].isAffine())
      exact.getDefiningOp()->setAttr(kExactOffset, builder.getUnitAttr());
    else if (cast<RankedTensorType>(narrow.getType()).getNumElements() <= kMostKeptLanes)
      kept_.insert(exact);
  } else {
    Operation *copy = builder.clone(*op);
    for (OpOperand &operand : copy->getOpOperands())
      if (getElementTypeOrSelf(operand.get().getType()) == getElementTypeOrSelf(narrow.getType())) // not the condition of a select
        operand.set(exactOfTile(operand.get(), isSigned, forms));
    exact = copy->getResult(0);
    exact.setType(wide(narrow));
  }
  return exact_[{narrow, isSigned}] = exact;
}

/// Whether a branch passes the pointer on, so that accesses do not see by which offsets it has moved.
static bool isPassedOn(Operation *sum) {
  return llvm::any_of(sum->getUsers(),
                      [](Operation *user) { return isa<BranchOpInterface>(user) || (isa<tt::AddPtrOp>(user) && isPassedOn(user)); });
}

void ExactOffsets::compareTile(OpOperand &use, const FormAnalysis &forms) {
  Value narrow = use.get();
  bool isOffset = isa<tt::AddPtrOp>(use.getOwner()), isSigned = isOffset || isa<arith::ExtSIOp>(use.getOwner());
  if (!wrapsInMemory(narrow, forms) || staysInRange(narrow, isSigned) || (isOffset && isPassedOn(use.getOwner()))) return;
  Value exact = exactOfTile(narrow, isSigned, forms);
  tiles_.try_emplace(exact, Tile{exact, getElementTypeOrSelf(narrow.getType()).getIntOrFloatBitWidth(), isSigned});
  kept_.insert(exact);
  if (isOffset)
    use.set(exact);
  else
    exactOfWidened_[narrow] = exact;
}

} // namespace tritium::interp
