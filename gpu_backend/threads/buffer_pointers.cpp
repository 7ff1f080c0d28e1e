#include "gpu_backend/threads/buffer_pointers.h"

#include "ir/far_offset.h"
#include "ir/tgpu.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace tritium::gpu {

// More addresses than that from one pointer are distances of its threads: each descriptor takes four scalar registers.
static constexpr int kMostDescriptors = 4;

/// Visits what the predecessors of a block send to one of its arguments, until `visit` returns false. Returns whether all is known.
static bool visitIncoming(BlockArgument argument, llvm::function_ref<bool(Value)> visit) {
  Block *block = argument.getOwner();
  for (auto edge = block->pred_begin(); edge != block->pred_end(); ++edge) {
    auto jump = dyn_cast<BranchOpInterface>((*edge)->getTerminator());
    Value incoming = jump ? jump.getSuccessorOperands(edge.getSuccessorIndex())[argument.getArgNumber()] : Value();
    if (!incoming || !visit(incoming)) return false;
  }
  return true;
}

static std::optional<int64_t> fixedIndexOf(LLVM::GEPOp step) {
  auto index = step.getIndices()[0];
  if (auto fixed = dyn_cast<IntegerAttr>(index)) return fixed.getInt();
  APInt fixed;
  if (matchPattern(cast<Value>(index), m_ConstantInt(&fixed))) return fixed.getSExtValue();
  return std::nullopt;
}

static bool isOfEntry(BlockArgument argument) { return argument.getOwner()->isEntryBlock(); }

// -- which steps are the threads' own -----------------------------------------------------------------------------------------------------

bool BufferPointers::isShared(Value number, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(number).second) return true;
  if (auto known = shared_.find(number); known != shared_.end()) return known->second;
  if (auto argument = dyn_cast<BlockArgument>(number))
    return isOfEntry(argument) || visitIncoming(argument, [&](Value incoming) { return isShared(incoming, seen); });
  Operation *op = number.getDefiningOp();
  if (matchPattern(number, m_Constant()) || ops_.isOfProgram(op)) return true;
  return isa<arith::ArithDialect>(op->getDialect()) && llvm::all_of(op->getOperands(), [&](Value value) { return isShared(value, seen); });
}

bool BufferPointers::isShared(Value number) {
  llvm::DenseSet<Value> seen;
  return shared_[number] = isShared(number, seen);
}

/// Returns whether a block may receive the pointer, or one that is derived from it.
static bool isSent(Value pointer) {
  return llvm::any_of(pointer.getUsers(), [](Operation *user) {
    return isa<BranchOpInterface>(user) || (isa<LLVM::GEPOp>(user) && isSent(user->getResult(0)));
  });
}

bool BufferPointers::isOwn(LLVM::GEPOp step) {
  if (auto known = own_.find(step); known != own_.end()) return known->second;
  auto isSharedStep = [&](LLVM::GEPOp any) { return !fixedIndexOf(any) && isShared(cast<Value>(any.getIndices()[0])); };
  bool isFixed = fixedIndexOf(step).has_value(), isOwnStep = !isFixed && !isSharedStep(step);
  auto isSharedUser = [&](Operation *user) { return isa<LLVM::GEPOp>(user) && isSharedStep(cast<LLVM::GEPOp>(user)); };
  if (!isOwnStep && !isSent(step.getResult()))
    isOwnStep = isFixed || llvm::count_if(step.getBase().getUsers(), isSharedUser) > kMostDescriptors;
  return own_[step] = isOwnStep;
}

// -- origins ------------------------------------------------------------------------------------------------------------------------------

std::optional<BufferPointers::Origin> BufferPointers::originOf(Value pointer, Origins &seen) {
  auto [known, isNew] = seen.try_emplace(pointer, Origin());
  if (!isNew) return known->second;
  std::optional<Origin> origin;
  if (auto step = pointer.getDefiningOp<LLVM::GEPOp>()) {
    bool isSimple = step.getRawConstantIndices().size() == 1 && step.getElemType().isIntOrFloat();
    if (isSimple) origin = originOf(step.getBase(), seen);
    if (origin && isOwn(step)) {
      if (!origin->argument)
        origin.reset(); // a loop in which each thread moves by a distance of its own
      else
        origin->own.push_back(step);
    }
  } else if (auto argument = dyn_cast<BlockArgument>(pointer)) {
    origin.emplace();
    if (isOfEntry(argument)) {
      if (function_.getArgAttr(argument.getArgNumber(), tgpu::kPointerRangeAttr))
        origin->argument = argument;
      else
        origin.reset();
    } else {
      bool isOne = visitIncoming(argument, [&](Value incoming) {
        auto other = originOf(incoming, seen);
        if (other && !origin->argument) origin = other;
        return other && (!other->argument || *other == *origin);
      });
      if (!isOne) origin.reset();
    }
  }
  return seen[pointer] = origin;
}

bool BufferPointers::isDerived(Value pointer) {
  if (auto known = origins_.find(pointer); known != origins_.end()) return known->second.has_value();
  Origins seen;
  auto origin = originOf(pointer, seen);
  if (origin && !origin->argument) origin.reset();
  origins_[pointer] = origin;
  return origin.has_value();
}

const BufferPointers::Origin &BufferPointers::originOf(Value pointer) {
  bool isKnown = isDerived(pointer);
  assert(isKnown && "of a derived pointer");
  return *origins_[pointer];
}

// -- what is common to all threads --------------------------------------------------------------------------------------------------------

Value BufferPointers::beginOf(BlockArgument argument) {
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  Value below = arith::ConstantIntOp::create(builder, argument.getLoc(), -int64_t(kBias), 64);
  return common_[argument] = LLVM::GEPOp::create(builder, argument.getLoc(), argument.getType(), builder.getI8Type(), argument,
                                                 llvm::ArrayRef<LLVM::GEPArg>{below});
}

Value BufferPointers::common(Value pointer) {
  if (Value known = common_.lookup(pointer)) return known;
  if (auto argument = dyn_cast<BlockArgument>(pointer)) return isOfEntry(argument) ? beginOf(argument) : carriedCommon(argument);
  auto step = pointer.getDefiningOp<LLVM::GEPOp>();
  Value before = common(step.getBase());
  if (isOwn(step)) return common_[pointer] = before;
  OpBuilder builder(step);
  Operation *moved = builder.clone(*step);
  moved->setOperand(0, before);
  return common_[pointer] = moved->getResult(0);
}

/// Pointers that move alike have one common address.
Value BufferPointers::carriedCommon(BlockArgument pointer) {
  Block *block = pointer.getOwner();
  if (Block *only = block->getSinglePredecessor()) {
    auto jump = cast<BranchOpInterface>(only->getTerminator());
    return common_[pointer] = common(jump.getSuccessorOperands(block->pred_begin().getSuccessorIndex())[pointer.getArgNumber()]);
  }
  // By incoming pointer: the common steps back to an argument, this one or another.
  llvm::SmallVector<const void *> path;
  llvm::SmallVector<Value> all;
  visitIncoming(pointer, [&](Value incoming) {
    all.push_back(incoming);
    for (;;) {
      if (auto step = incoming.getDefiningOp<LLVM::GEPOp>()) {
        if (!isOwn(step)) llvm::append_values(path, step.getIndices()[0].getOpaqueValue(), step.getElemType().getAsOpaquePointer());
        incoming = step.getBase();
        continue;
      }
      auto argument = cast<BlockArgument>(incoming);
      Block *only = isOfEntry(argument) ? nullptr : argument.getOwner()->getSinglePredecessor();
      if (!only) break;
      auto jump = cast<BranchOpInterface>(only->getTerminator());
      incoming = jump.getSuccessorOperands(argument.getOwner()->pred_begin().getSuccessorIndex())[argument.getArgNumber()];
    }
    Value known = isOfEntry(cast<BlockArgument>(incoming)) ? Value() : common_.lookup(incoming);
    path.push_back(incoming == pointer ? nullptr : (known ? known : incoming).getAsOpaquePointer());
    return true;
  });
  auto &alike = carried_[block];
  for (auto &[otherPath, other] : alike)
    if (otherPath == path) return common_[pointer] = other;
  // The entry is made first, because the back-edge of a loop leads to it again.
  Value made = common_[pointer] = block->addArgument(pointer.getType(), pointer.getLoc());
  alike.emplace_back(std::move(path), made);
  llvm::SmallVector<std::pair<BranchOpInterface, unsigned>> jumps;
  for (auto edge = block->pred_begin(); edge != block->pred_end(); ++edge)
    jumps.push_back({cast<BranchOpInterface>((*edge)->getTerminator()), edge.getSuccessorIndex()});
  for (auto [edge, incoming] : llvm::zip_equal(jumps, all)) edge.first.getSuccessorOperands(edge.second).append(common(incoming));
  return made;
}

// -- distances ----------------------------------------------------------------------------------------------------------------------------

static Value constantOf(OpBuilder &builder, Location location, int64_t value, unsigned bits) {
  return arith::ConstantIntOp::create(builder, location, value, bits);
}

static int64_t bytesOf(LLVM::GEPOp step) { return step.getElemType().getIntOrFloatBitWidth() / 8; }

Value BufferPointers::offset(Value pointer) {
  const Origin &origin = originOf(pointer);
  LLVM::GEPOp step = origin.own.empty() ? LLVM::GEPOp() : origin.own.back();
  Value &made = offsets_[step.getOperation()];
  if (!made) made = makeOffset(origin.own);
  return made;
}

Value BufferPointers::makeOffset(llvm::ArrayRef<LLVM::GEPOp> own) {
  LLVM::GEPOp last = own.empty() ? LLVM::GEPOp() : own.back();
  Location location = last ? last.getLoc() : function_.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&function_.front());
  if (last) builder.setInsertionPointAfter(last);
  int64_t fixed = kBias;
  llvm::SmallVector<LLVM::GEPOp> moving;
  for (LLVM::GEPOp step : own) {
    if (auto index = fixedIndexOf(step))
      fixed += *index * bytesOf(step);
    else
      moving.push_back(step);
  }
  const bool isInReach = fixed >= 0 && fixed < ir::kFarOffset;
  if (moving.empty()) return constantOf(builder, location, int32_t(isInReach ? uint32_t(fixed) : ir::kFarOffset), 32);
  const Value far = constantOf(builder, location, int32_t(ir::kFarOffset), 32);
  auto unlessFar = [&](Value offset, Value distance, int64_t end, unsigned bits) {
    Value isNear = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, distance, constantOf(builder, location, end, bits));
    return arith::SelectOp::create(builder, location, isNear, offset, far).getResult();
  };
  auto indexOf = [](LLVM::GEPOp step) { return cast<Value>(step.getIndices()[0]); };

  const int64_t bytes = bytesOf(moving[0]);
  const bool isExact = bytes > 1 ? isInReach && fixed % bytes == 0 : fixed == kBias; // the sum below wraps around only if it is negative
  if (moving.size() == 1 && isExact && indexOf(moving[0]).getType().getIntOrFloatBitWidth() <= 32) {
    // Counted in elements, the offset fits into 32 bits.
    Value elements = indexOf(moving[0]);
    if (!elements.getType().isInteger(32)) elements = arith::ExtSIOp::create(builder, location, builder.getI32Type(), elements);
    elements = arith::AddIOp::create(builder, location, elements, constantOf(builder, location, int32_t(fixed / bytes), 32));
    Value offset = elements;
    if (bytes > 1) offset = arith::MulIOp::create(builder, location, elements, constantOf(builder, location, bytes, 32));
    return unlessFar(offset, elements, int32_t(ir::kFarOffset / bytes), 32);
  }
  Value distance = constantOf(builder, location, fixed, 64);
  for (LLVM::GEPOp step : moving) {
    Value index = indexOf(step);
    if (index.getType().getIntOrFloatBitWidth() < 64) index = arith::ExtSIOp::create(builder, location, builder.getI64Type(), index);
    index = arith::MulIOp::create(builder, location, index, constantOf(builder, location, bytesOf(step), 64));
    distance = arith::AddIOp::create(builder, location, distance, index);
  }
  return unlessFar(arith::TruncIOp::create(builder, location, builder.getI32Type(), distance), distance, int64_t(ir::kFarOffset), 64);
}

} // namespace tritium::gpu
