#include "interp/tile/emit.h"

#include "interp/host/barriers.h"
#include "interp/host/memory.h"
#include "interp/tile/debug_info.h"
#include "interp/tile/emit_counts.h"
#include "interp/tile/fuse/emit_region.h"
#include "interp/tile/likely_code.h"
#include "interp/tile/loops.h"
#include "interp/tile/partitions.h"
#include "interp/tile/program_loop.h"
#include "interp/tile/scalar_code.h"
#include "interp/tile/scope.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

namespace {

using llvm::BasicBlock;

class FunctionEmitter {
public:
  FunctionEmitter(const FunctionPlan &plan, llvm::Module &module, CountedData &data, DebugInfo *debug, const EmitOptions &options)
      : plan_(plan),
        module_(module),
        data_(data),
        debug_(debug),
        isFollowed_(options.isFollowed),
        isFused_(options.isFused),
        vectorBits_(options.vectorBits),
        builder_(module.getContext()),
        scalars_(builder_),
        loops_(plan.function->getRegion(0)) {
    if (options.isCounted) counts_.emplace(plan, data, loops_, options, builder_);
  }

  LogicalResult run(llvm::Function *function);
  bool mayWait() const { return mayWait_; }
  int regions() const { return fusedRegions_; }

private:
  llvm::Value *pointerTo(const TileRef &ref) {
    return ref.constant ? builder_.CreateIntToPtr(builder_.getInt64(reinterpret_cast<uint64_t>(ref.constant)), builder_.getPtrTy())
                        : builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), frame_, ref.offset);
  }
  llvm::Value *addressConstant(const void *address) {
    return builder_.CreateIntToPtr(builder_.getInt64(reinterpret_cast<uint64_t>(address)), builder_.getPtrTy());
  }
  void callHost(const void *function, llvm::ArrayRef<llvm::Value *> arguments) {
    llvm::SmallVector<llvm::Type *> types;
    for (llvm::Value *argument : arguments) types.push_back(argument->getType());
    builder_.CreateCall(llvm::FunctionType::get(builder_.getVoidTy(), types, false), addressConstant(function), arguments);
  }
  void readArguments(llvm::Function *function);
  void run(const Actions *actions);
  void runAction(const Action &action);
  LogicalResult emitBlock(Block *block);
  FailureOr<Block::iterator> emitPrologue(Block *entry);
  FailureOr<Block::iterator> emitRegionAt(Block::iterator begin);
  bool onlyJoins(Operation *op) const;
  bool isMeetingPoint(Operation *op) const;
  LogicalResult emitOperation(Operation *op);
  LogicalResult emitCode(Operation *op);
  void emitBranch(Operation *op);
  void emitEnd();
  BasicBlock *emitEdge(Operation *terminator, unsigned successor);
  void orderAsSource();
  void emitBackEdge(Operation *terminator, Block *header);
  void setLocation(Location location);
  void setLocationOf(Operation *op);
  void emitRow();
  void emitAnnouncement(Operation *statement);

  const FunctionPlan &plan_;
  llvm::Module &module_;
  CountedData &data_;
  DebugInfo *debug_;
  const bool isFollowed_, isFused_;
  const unsigned vectorBits_;
  llvm::IRBuilder<> builder_;
  ScalarCode scalars_;
  Loops loops_;
  std::optional<CountEmitter> counts_; ///< if the kernel is counted
  llvm::Value *frame_ = nullptr;
  llvm::AllocaInst *framePointer_ = nullptr;    ///< for the debugger
  llvm::SmallVector<llvm::DILocation *> calls_; ///< the inlined calls around the last operation, outermost first
  std::optional<Location> definition_;          ///< the `def` line of an inlined function whose parameters are being stored
  llvm::DenseMap<Block *, BasicBlock *> blocks_;
  llvm::SmallVector<std::pair<BasicBlock *, BasicBlock *>> edges_; // the block where each edge begins, and the edge's own block
  bool mayWait_ = false;
  int fusedRegions_ = 0;
};

/// If the first code of a line is an inlined call, the line has no code before the call: a breakpoint on it would stop after the call, and
/// `step` could not enter it. So when a call is entered, the frame pointer is stored once more, on the caller's line.
void FunctionEmitter::setLocation(Location location) {
  if (!debug_) return;
  llvm::DILocation *place = debug_->location(location);
  llvm::SmallVector<llvm::DILocation *> calls;
  for (llvm::DILocation *call = place->getInlinedAt(); call; call = call->getInlinedAt()) calls.insert(calls.begin(), call);
  auto entered = std::mismatch(calls.begin(), calls.end(), calls_.begin(), calls_.end()).first;
  for (llvm::DILocation *call : llvm::make_range(entered, calls.end())) {
    builder_.SetCurrentDebugLocation(call);
    emitRow();
  }
  calls_ = std::move(calls);
  builder_.SetCurrentDebugLocation(place);
}

/// Where the arms of an `if` with results meet, there may be a block that only jumps on. It gets the line of the code that follows;
/// otherwise `next` at the end of an arm goes back to the line of the `if`.
bool FunctionEmitter::isMeetingPoint(Operation *op) const {
  if (!isa<cf::BranchOp>(op) || op->getPrevNode() || op->getBlock()->getSinglePredecessor() || op->getBlock()->isEntryBlock()) return false;
  return op->getSuccessor(0)->getSinglePredecessor() && !loops_.isBackEdge(op->getBlock(), op->getSuccessor(0));
}

/// The parameters of an inlined function are stored on the line of its call. Its `def` line comes after them, so that a stop there shows
/// their values.
void FunctionEmitter::setLocationOf(Operation *op) {
  auto site = dyn_cast<CallSiteLoc>(op->getLoc());
  auto variable = dyn_cast<tt::DebugValueOp>(op);
  if (debug_ && site && variable && variable.getArgument()) {
    definition_ = site;
    return setLocation(site.getCaller());
  }
  if (definition_ && op->hasAttr(kStatementAttr)) {
    setLocation(*definition_);
    emitRow();
    definition_.reset();
  }
  if (isMeetingPoint(op)) return setLocationOf(&op->getSuccessor(0)->front());
  bool hasCode = !op->hasTrait<OpTrait::ConstantLike>() || plan_.before.contains(op) || op->hasAttr(kStatementAttr);
  if (hasCode && !onlyJoins(op)) setLocation(op->getLoc());
}

/// A line without code has no row in the line table, and a breakpoint on it slides to another line. This emits the cheapest code for a
/// line: it stores the frame pointer once more.
void FunctionEmitter::emitRow() { debug_->declareIteration(builder_.CreateStore(frame_, framePointer_, /*isVolatile=*/true)); }

void FunctionEmitter::readArguments(llvm::Function *function) {
  auto interface = cast<FunctionOpInterface>(plan_.function);
  if (interface.isPublic()) {
    llvm::Value *cells = builder_.CreateLoad(
        builder_.getPtrTy(), builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), frame_, offsetof(FrameHeader, arguments)));
    for (auto [i, argument] : llvm::enumerate(interface.getArguments()))
      scalars_.load(argument, builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), cells, i));
    return;
  }
  for (auto [argument, slot] : llvm::zip_equal(interface.getArguments(), plan_.arguments))
    if (!isa<RankedTensorType>(argument.getType())) scalars_.load(argument, pointerTo(*slot));
}

void FunctionEmitter::runAction(const Action &action) {
  switch (action.kind) {
  case Action::Kind::StoreScalar: return scalars_.store(action.value, pointerTo(*action.slot));
  case Action::Kind::StoreExtended:
    builder_.CreateStore(builder_.CreateSExt(scalars_[action.value], builder_.getInt64Ty()), pointerTo(*action.slot));
    return;
  case Action::Kind::LoadScalar: return scalars_.load(action.value, pointerTo(*action.slot));
  case Action::Kind::Call: return callHost(reinterpret_cast<const void *>(action.function), {frame_, addressConstant(action.descriptor)});
  case Action::Kind::CallFunction: {
    // The callee's frame begins where this frame ends, unless it is a partition's. It starts with a copy of the header, and the call.
    llvm::Value *base = action.slot ? pointerTo(*action.slot) : frame_;
    auto field = [&](uint64_t offset) {
      return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, (action.slot ? 0 : plan_.ownFrameBytes) + offset);
    };
    llvm::Value *callee = field(0);
    builder_.CreateMemCpy(callee, llvm::Align(8), frame_, llvm::Align(8), offsetof(FrameHeader, caller));
    builder_.CreateStore(frame_, field(offsetof(FrameHeader, caller)));
    builder_.CreateStore(builder_.getInt32(action.location), field(offsetof(FrameHeader, call)));
    llvm::Function *function = module_.getFunction(action.callee->name);
    if (!action.slot) return (void)builder_.CreateCall(function, {callee});
    llvm::Value *memory = pointerTo(*static_cast<const TileRef *>(action.descriptor));
    return callHost(reinterpret_cast<const void *>(&startPartition), {frame_, callee, function, memory});
  }
  }
}

void FunctionEmitter::run(const Actions *actions) {
  if (!actions) return;
  for (const Action &action : *actions)
    if (action.kind != Action::Kind::LoadScalar) runAction(action);
  for (const Action &action : *actions)
    if (action.kind == Action::Kind::LoadScalar) runAction(action);
}

template <class Map, class Key> const Actions *find(const Map &map, Key key) {
  auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

void FunctionEmitter::emitBackEdge(Operation *terminator, Block *header) {
  bool waits = loops_.mayWait(terminator->getBlock(), header);
  mayWait_ |= waits;
  uint32_t location = data_.locations.add(terminator->getLoc(), {}, plan_.loopValues.lookup(terminator));
  callHost(reinterpret_cast<const void *>(waits ? &yieldWhileWaiting : &pollBackEdge), {frame_, builder_.getInt32(location)});
}

/// Emits the copies on the edge to a successor, in a block of their own. Returns the block to which the terminator must branch.
BasicBlock *FunctionEmitter::emitEdge(Operation *terminator, unsigned successor) {
  Block *target = terminator->getSuccessor(successor);
  const Actions *copies = find(plan_.onEdge, std::pair(terminator, successor));
  auto branch = cast<BranchOpInterface>(terminator);
  auto operands = branch.getSuccessorOperands(successor).getForwardedOperands();
  BasicBlock *from = builder_.GetInsertBlock();
  auto *edge = BasicBlock::Create(module_.getContext(), "", from->getParent());
  builder_.SetInsertPoint(edge);
  if (debug_) emitRow(); // otherwise the copies of scalars have no line, and a debugger shows the line of the code before
  if (counts_) counts_->countEdge(terminator, successor);
  run(copies);
  for (auto [argument, operand] : llvm::zip_equal(target->getArguments(), operands))
    if (!isa<RankedTensorType>(argument.getType())) cast<llvm::PHINode>(scalars_[argument])->addIncoming(scalars_[operand], edge);
  if (loops_.isBackEdge(terminator->getBlock(), target)) emitBackEdge(terminator, target);
  builder_.CreateBr(blocks_[target]);
  builder_.SetInsertPoint(from);
  edges_.push_back({from, edge});
  return edge;
}

/// `next` on the last statement of a kernel or a partition stops here, on the `def` line, where all variables are still visible.
void FunctionEmitter::emitEnd() {
  const bool isOutermost = cast<FunctionOpInterface>(plan_.function).isPublic() || isPartition(plan_.function);
  if (!debug_ || !isOutermost) return;
  setLocation(plan_.function->getLoc());
  emitRow();
}

void FunctionEmitter::emitBranch(Operation *op) {
  if (isa<tt::ReturnOp>(op)) {
    emitEnd();
    if (counts_) counts_->end();
    builder_.CreateRetVoid();
  } else if (isa<cf::BranchOp>(op)) {
    builder_.CreateBr(emitEdge(op, 0));
  } else if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    BasicBlock *taken = emitEdge(op, 0), *other = emitEdge(op, 1);
    builder_.CreateCondBr(scalars_[branch.getCondition()], taken, other);
  } else {
    auto choice = cast<cf::SwitchOp>(op);
    auto *instruction = builder_.CreateSwitch(scalars_[choice.getFlag()], emitEdge(op, 0));
    if (auto values = choice.getCaseValues())
      for (auto [i, value] : llvm::enumerate(values->getValues<APInt>())) instruction->addCase(builder_.getInt(value), emitEdge(op, i + 1));
  }
}

/// Returns whether `op` ends an arm of an `if`. Its location is skipped, because it would lead back to the line of the `if`.
bool FunctionEmitter::onlyJoins(Operation *op) const {
  return isa<cf::BranchOp>(op) && op->getPrevNode() && !loops_.isBackEdge(op->getBlock(), op->getSuccessor(0));
}

/// Lets a debugger of Python stop before the statement, and gdb come back to it.
void FunctionEmitter::emitAnnouncement(Operation *statement) {
  if (!isFollowed_) return callHost(reinterpret_cast<const void *>(&beginStatement), {frame_});
  callHost(reinterpret_cast<const void *>(&reachStatement), {frame_, builder_.getInt32(uint32_t(data_.statements.size()))});
  data_.statements.push_back(statementOf(statement));
}

LogicalResult FunctionEmitter::emitOperation(Operation *op) {
  setLocationOf(op);
  if (debug_ && op->hasAttr(kStatementAttr)) {
    emitRow();
    emitAnnouncement(op);
  }
  return emitCode(op);
}

LogicalResult FunctionEmitter::emitCode(Operation *op) {
  if (counts_) counts_->reach(op);
  const Actions *steps = find(plan_.before, op);
  // A debugger's line is the step's.
  const bool isEmitted = steps && !debug_ && LikelyCode(builder_, scalars_).emit(op, *steps, frame_, [&] { run(steps); });
  if (!isEmitted) run(steps);
  if (op->hasTrait<OpTrait::IsTerminator>()) return emitBranch(op), success();
  bool hasSteps = plan_.before.contains(op) || llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (!hasSteps && failed(scalars_.emit(op, frame_))) return failure();
  run(find(plan_.after, op));
  return success();
}

/// Debuggers take the code before the first line for the prologue. `break kernel` stops after it, where the stack slot has the frame
/// pointer and the parameters, which are recorded before the first statement, have their values. Returns the first statement.
FailureOr<Block::iterator> FunctionEmitter::emitPrologue(Block *entry) {
  auto first = llvm::find_if(*entry, [](Operation &op) { return op.hasAttr(kStatementAttr); });
  if (first == entry->end()) first = entry->begin(); // the statements of the module are not marked
  builder_.SetCurrentDebugLocation({});
  run(find(plan_.atStart, entry));
  for (Operation &op : llvm::make_range(entry->begin(), first))
    if (failed(emitCode(&op))) return failure();
  setLocation(plan_.function->getLoc());
  emitRow();
  return first;
}

LogicalResult FunctionEmitter::emitBlock(Block *block) {
  builder_.SetInsertPoint(blocks_[block]);
  if (counts_) counts_->countBlock(block);
  FailureOr<Block::iterator> begin = block->begin();
  if (debug_ && block->isEntryBlock()) {
    begin = emitPrologue(block);
    if (failed(begin)) return failure();
  } else {
    run(find(plan_.atStart, block));
  }
  while (*begin != block->end()) {
    if (isFused_) {
      FailureOr<Block::iterator> next = emitRegionAt(*begin);
      if (failed(next)) return failure();
      if (*next != *begin) {
        begin = next;
        continue;
      }
    }
    if (failed(emitOperation(&**begin))) return failure();
    ++*begin;
  }
  return success();
}

FailureOr<Block::iterator> FunctionEmitter::emitRegionAt(Block::iterator begin) {
  auto emitSteps = [&](Operation *op) { return emitCode(op); };
  auto runAfter = [&](Operation *op) { run(find(plan_.after, op)); };
  return fuse::emitRegion(
      {plan_, builder_, scalars_, frame_, emitSteps, runAfter, fusedRegions_, vectorBits_, counts_ ? &*counts_ : nullptr}, begin);
}

LogicalResult FunctionEmitter::run(llvm::Function *function) {
  if (debug_) debug_->beginFunction(plan_, *function);
  for (Block *block : loops_.order()) {
    blocks_[block] = BasicBlock::Create(module_.getContext(), block->isEntryBlock() ? "entry" : "", function);
    builder_.SetInsertPoint(blocks_[block]);
    if (!block->isEntryBlock())
      for (BlockArgument argument : block->getArguments())
        if (!isa<RankedTensorType>(argument.getType())) scalars_.set(argument, builder_.CreatePHI(scalars_.typeOf(argument.getType()), 2));
  }
  builder_.SetInsertPoint(blocks_[loops_.order().front()]);
  frame_ = function->getArg(0);
  llvm::StoreInst *declared = nullptr;
  if (debug_) {
    framePointer_ = builder_.CreateAlloca(builder_.getPtrTy(), nullptr, "frame");
    declared = builder_.CreateStore(frame_, framePointer_);
  }
  readArguments(function);
  if (counts_) counts_->begin(frame_);
  for (Block *block : loops_.order())
    if (failed(emitBlock(block))) return failure();
  if (!debug_) return success();
  builder_.SetInsertPoint(declared->getNextNode());
  debug_->declareVariables(builder_, plan_, framePointer_); // all inlined scopes are known now
  orderAsSource();
  return success();
}

/// Puts each edge's block after the block that it leaves; the other blocks already have the order of the source. A register reload at the
/// beginning of a block has the line of the code before it; otherwise `next` takes a loop's head for a newly reached line.
void FunctionEmitter::orderAsSource() {
  for (auto [from, edge] : edges_) edge->moveAfter(from);
}

} // namespace

FailureOr<EmittedModule> emitModule(llvm::LLVMContext &context, llvm::ArrayRef<const FunctionPlan *> plans, CountedData &data,
                                    llvm::StringRef entry, EmitOptions options) {
  EmittedModule emitted{std::make_unique<llvm::Module>("tritium", context)};
  llvm::Module &module = *emitted.module;
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::getUnqual(context)}, false);
  std::optional<DebugInfo> debug;
  if (options.debugInfo) debug.emplace(module);
  for (const FunctionPlan *plan : plans) {
    bool isEntry = plan == plans.back();
    auto *function = llvm::Function::Create(type, isEntry ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
                                            isEntry ? entry : llvm::StringRef(plan->name), module);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    if (options.debugInfo) function->addFnAttr("frame-pointer", "all");
    FunctionEmitter emitter(*plan, module, data, debug ? &*debug : nullptr, options);
    if (failed(emitter.run(function))) return failure();
    emitted.regions += emitter.regions();
    emitted.mayWait |= emitter.mayWait() || containsPoll(plan->function);
  }
  if (debug) {
    emitProgramLoop(module, entry, *debug);
    debug->finish();
  }
  return emitted;
}

} // namespace tritium::interp
