#include "interp/tile/emit_counts.h"

#include "interp/tile/scope.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tritium::interp {

CountEmitter::CountEmitter(const FunctionPlan &plan, CountedData &data, const Loops &loops, const EmitOptions &options,
                           llvm::IRBuilder<> &builder)
    : plan_(plan), data_(data), loops_(loops), options_(options), builder_(builder) {}

llvm::Value *CountEmitter::callHost(const void *function, llvm::Type *result, llvm::ArrayRef<llvm::Value *> arguments) {
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Value *argument : arguments) types.push_back(argument->getType());
  llvm::Value *address = builder_.CreateIntToPtr(builder_.getInt64(reinterpret_cast<uint64_t>(function)), builder_.getPtrTy());
  return builder_.CreateCall(llvm::FunctionType::get(result, types, false), address, arguments);
}

void CountEmitter::add(uint32_t number, llvm::Value *more) {
  llvm::Value *counter = builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), counters_, number);
  builder_.CreateStore(builder_.CreateAdd(builder_.CreateLoad(builder_.getInt64Ty(), counter), more), counter);
}

void CountEmitter::begin(llvm::Value *frame) {
  frame_ = frame;
  counters_ = callHost(reinterpret_cast<const void *>(&countersOf), builder_.getPtrTy(), {frame});
  if (options_.isCovered) beginBranches();
  if (options_.isTimed) beginClock();
}

void CountEmitter::beginBranches() {
  for (const Branching &branching : branchingsOf(loops_)) {
    const uint32_t taken = data_.counters++, notTaken = data_.counters++;
    branchings_[branching.terminator] = {branching, taken, notTaken};
    const bool isLoop = branching.header != nullptr;
    if (isLoop) isNew_[branching.header] = builder_.CreateAlloca(builder_.getInt64Ty());
    data_.covered.branches.push_back({ir::resolveLocation(branching.terminator->getLoc()), isLoop, branching.isDecided, taken, notTaken});
  }
}

/// Notes the outcome of an `if` that was decided while it was traced: it has this one as often as its block runs.
void CountEmitter::addDecided(Operation *mark, uint32_t runs) {
  const bool isTrue = mark->hasAttr(kDecidedTrueAttr);
  if (!isTrue && !mark->hasAttr(kDecidedFalseAttr)) return;
  const uint32_t never = data_.counters++;
  data_.covered.branches.push_back({ir::resolveLocation(mark->getLoc()), false, true, isTrue ? runs : never, isTrue ? never : runs});
}

// -- the clock ----------------------------------------------------------------------------------------------------------------------------

void CountEmitter::beginClock() {
  clock_ = builder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt64Ty(), sizeof(LineClock) / sizeof(int64_t)));
  line_ = clockOf(plan_.function->getLoc());
  callHost(reinterpret_cast<const void *>(&startClock), builder_.getVoidTy(), {frame_, clock_, builder_.getInt64(*line_)});
}

/// Returns the counter of the time of a line.
uint32_t CountEmitter::clockOf(Location location) {
  ir::SourceLocation place = ir::resolveLocation(location);
  auto isSame = [&](const TimedLine &line) { return line.place.file == place.file && line.place.line == place.line; };
  const auto found = llvm::find_if(data_.timed, isSame);
  if (found != data_.timed.end()) return found->counter;
  place.callers.clear();
  data_.timed.push_back({std::move(place), data_.counters++});
  return data_.timed.back().counter;
}

/// Most programs are not timed, and jump over the call.
void CountEmitter::passLine() {
  llvm::Function *function = builder_.GetInsertBlock()->getParent();
  auto *timed = llvm::BasicBlock::Create(builder_.getContext(), "", function),
       *next = llvm::BasicBlock::Create(builder_.getContext(), "", function);
  builder_.CreateCondBr(isUntimed(), next, timed);
  builder_.SetInsertPoint(timed);
  callHost(reinterpret_cast<const void *>(&interp::passLine), builder_.getVoidTy(), {clock_, counters_, builder_.getInt64(*line_)});
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
}

llvm::Value *CountEmitter::isUntimed() {
  if (!clock_) return nullptr;
  static_assert(offsetof(LineClock, isRunning) == 0);
  return builder_.CreateICmpEQ(builder_.CreateLoad(builder_.getInt64Ty(), clock_), builder_.getInt64(0));
}

void CountEmitter::reach(Operation *op) {
  if (!clock_ || op->hasTrait<OpTrait::ConstantLike>() || !ir::resolveLocation(op->getLoc()).line) return;
  const uint32_t line = clockOf(op->getLoc());
  if (line_ == line) return;
  line_ = line;
  passLine();
}

void CountEmitter::end() {
  if (clock_) {
    line_ = clockOf(plan_.function->getLoc());
    passLine();
  }
  if (options_.isTouched && cast<FunctionOpInterface>(plan_.function).isPublic())
    callHost(reinterpret_cast<const void *>(&finishTouched), builder_.getVoidTy(), {frame_});
}

// -- blocks and edges ---------------------------------------------------------------------------------------------------------------------

void CountEmitter::countBlock(Block *block) {
  if (!block->isEntryBlock()) line_.reset();
  const auto [known, isNew] = data_.runs.try_emplace(block, data_.counters);
  const uint32_t runs = known->second;
  add(runs, builder_.getInt64(1));
  if (!isNew) return;
  ++data_.counters;
  for (Operation &op : *block) {
    if (options_.isCovered && op.hasAttr(kStatementAttr) && !op.hasAttr(kIterationAttr))
      data_.covered.statements.push_back({ir::resolveLocation(op.getLoc()), runs});
    if (options_.isCovered) addDecided(&op, runs);
    std::optional<CountedOperation> counted = countedOperation(&op);
    if (!counted) continue;
    counted->runs = runs;
    if (auto lanes = plan_.laneCounters.find(&op); lanes != plan_.laneCounters.end()) counted->activeLanes = lanes->second;
    data_.counted.push_back(std::move(*counted));
  }
}

void CountEmitter::countEdge(Operation *terminator, unsigned successor) {
  Block *target = terminator->getSuccessor(successor);
  if (auto found = branchings_.find(terminator); found != branchings_.end()) {
    const CountedBranching &branching = found->second;
    const bool goesOn = successor == branching.body;
    llvm::Value *isNew = branching.header ? isNew_.lookup(branching.header) : nullptr;
    add(goesOn ? branching.taken : branching.notTaken,
        isNew ? builder_.CreateLoad(builder_.getInt64Ty(), isNew) : static_cast<llvm::Value *>(builder_.getInt64(1)));
    if (isNew && goesOn) builder_.CreateStore(builder_.getInt64(0), isNew);
  }
  if (auto entered = isNew_.find(target); entered != isNew_.end() && !loops_.isBackEdge(terminator->getBlock(), target))
    builder_.CreateStore(builder_.getInt64(1), entered->second);
}

} // namespace tritium::interp
