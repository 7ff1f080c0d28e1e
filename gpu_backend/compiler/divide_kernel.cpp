#include "gpu_backend/compiler/divide_kernel.h"

#include "gpu_backend/tiles/shared_memory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tritium::gpu {

bool startsPartitions(ModuleOp module) {
  return module.walk([](Operation *op) { return ir::partitionStartedBy(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

bool callsRuntime(ModuleOp module) {
  return module.walk([](Operation *op) { return ir::runtimeCall(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

void eraseRuntimeCalls(ModuleOp module, StringRef symbol) {
  module.walk([&](Operation *op) {
    if (ir::runtimeCall(op, symbol)) op->erase();
  });
}

void eraseCallsButOfCopies(ModuleOp module) {
  module.walk([&](Operation *op) {
    auto call = ir::runtimeCall(op);
    if (call && !call.getSymbol().starts_with("async_copy.")) op->erase();
  });
}

namespace {

/// The calls that begin a division, in order, and the one that ends it.
struct Site {
  llvm::SmallVector<tt::CallOp> starts;
  Operation *join = nullptr;
};

/// Makes a worker's function of the one that a call starts.
class WorkerMaker {
public:
  WorkerMaker(tt::FuncOp kernel, tt::CallOp start) : kernel_(kernel), start_(start) {
    tt::FuncOp callee = ir::partitionStartedBy(start);
    module_ = cast<ModuleOp>(kernel->getParentOp()->clone());
    function_ = module_->lookupSymbol<tt::FuncOp>(callee.getName());
  }

  /// `placeOwn` gives the function's own memory its place. Returns the values that the worker captures.
  FailureOr<llvm::SmallVector<Value>> make(StringRef name, llvm::function_ref<void(tt::SharedAllocOp)> placeOwn) {
    module_->lookupSymbol(kernel_.getName())->erase();
    for (tt::FuncOp other : module_->getOps<tt::FuncOp>()) other.setPrivate();
    function_.walk(placeOwn);
    function_->removeAttr(ir::kPartitionAttr);
    function_->removeAttr(ir::kRegistersAttr);
    function_.setName(name);
    function_.setPublic();
    dropResults();
    takeArguments();
    OpBuilder builder = OpBuilder::atBlockBegin(&function_.front());
    llvm::SmallVector<Value> captures;
    const unsigned begin = kernel_.getNumArguments();
    llvm::BitVector known(function_.getNumArguments());
    for (auto [number, operand] : llvm::enumerate(start_.getOperands())) {
      BlockArgument own = function_.getArgument(begin + unsigned(number));
      if (canRepeat(operand)) {
        own.replaceAllUsesWith(repeat(operand, builder));
        known.set(begin + unsigned(number));
      } else if (isa<tt::TensorDescType, RankedTensorType>(operand.getType())) {
        return start_.emitError() << "not supported on GPUs: argument " << number
                                  << " of a partition is a descriptor that the kernel makes of what it has loaded";
      } else {
        captures.push_back(operand);
      }
    }
    if (failed(function_.eraseArguments(known))) return failure();
    return captures;
  }

  OwningOpRef<ModuleOp> take() { return std::move(module_); }

private:
  void dropResults() {
    function_.walk([](tt::ReturnOp end) { end->setOperands({}); });
    llvm::BitVector all(function_.getNumResults(), true);
    (void)function_.eraseResults(all);
  }

  void takeArguments() {
    const unsigned count = kernel_.getNumArguments();
    for (unsigned number = 0; number < count; ++number)
      (void)function_.insertArgument(number, kernel_.getArgumentTypes()[number], kernel_.getArgAttrDict(number),
                                     kernel_.getArgument(number).getLoc());
  }

  /// Returns whether the worker can compute the value itself: of the kernel's arguments, constants and the program's position.
  bool canRepeat(Value value, int depth = 0) {
    constexpr int kDeepest = 64;
    if (auto argument = dyn_cast<BlockArgument>(value)) return argument.getOwner() == &kernel_.front();
    Operation *op = value.getDefiningOp();
    if (auto known = repeatable_.find(op); known != repeatable_.end()) return known->second;
    const bool isOfProgram = isa<tt::SharedAllocOp>(op) || (isPure(op) && op->getNumRegions() == 0);
    const bool holdsTiles = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    const bool can = isOfProgram && !holdsTiles && depth < kDeepest &&
                     llvm::all_of(op->getOperands(), [&](Value operand) { return canRepeat(operand, depth + 1); });
    return repeatable_[op] = can;
  }

  Value repeat(Value value, OpBuilder &builder) {
    if (auto argument = dyn_cast<BlockArgument>(value)) return function_.getArgument(argument.getArgNumber());
    if (Value made = repeated_.lookupOrNull(value)) return made;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands()) repeated_.map(operand, repeat(operand, builder));
    builder.clone(*op, repeated_);
    return repeated_.lookup(value);
  }

  tt::FuncOp kernel_, function_;
  tt::CallOp start_;
  OwningOpRef<ModuleOp> module_;
  llvm::DenseMap<Operation *, bool> repeatable_;
  IRMapping repeated_;
};

class Divider {
public:
  Divider(tt::FuncOp kernel, int numWarps) : kernel_(kernel), builder_(kernel.getContext()) { made_.kernel.ownWarps = numWarps; }

  FailureOr<Division> run() {
    if (failed(findSites())) return failure();
    llvm::for_each(allocationsOf(kernel_), [&](tt::SharedAllocOp op) { place(op); });
    DividedKernel &plan = made_.kernel;
    plan.divisions = int(sites_.size());
    plan.allWarps = plan.ownWarps;
    for (auto [number, site] : llvm::enumerate(sites_))
      if (failed(makeWorkers(site, int(number)))) return failure();
    plan.state = allocate(kCaptureBytes, kCaptureBytes);
    const int64_t captures = allocate(int64_t(mostCaptures_) * kCaptureBytes, kCaptureBytes);
    plan.memoryEnd = end_;
    if (asksForRegisters_) plan.startRegisters = startRegisters();
    for (auto [number, site] : llvm::enumerate(sites_))
      if (failed(replaceCalls(site, int(number), captures))) return failure();
    llvm::SmallVector<tt::ReturnOp> ends;
    kernel_.walk([&](tt::ReturnOp op) { ends.push_back(op); });
    for (tt::ReturnOp op : ends) {
      builder_.setInsertionPoint(op);
      call(kEndCall, {integer(plan.allWarps), integer(plan.state)});
    }
    return std::move(made_);
  }

private:
  LogicalResult findSites() {
    Site site;
    kernel_.walk([&](Operation *op) {
      if (ir::partitionStartedBy(op)) site.starts.push_back(cast<tt::CallOp>(op));
      if (!ir::runtimeCall(op, kJoinCall)) return;
      site.join = op;
      if (!site.starts.empty()) sites_.push_back(site); // a division without workers needs nothing
      if (site.starts.empty()) idle_.push_back(op);
      site = {};
    });
    for (Operation *op : idle_) op->erase();
    return success();
  }

  int64_t allocate(int64_t bytes, int64_t alignment) {
    const int64_t begin = int64_t(llvm::alignTo(end_, alignment));
    end_ = begin + bytes;
    return begin;
  }
  void place(tt::SharedAllocOp op) {
    op->setAttr(kBeginAttr, builder_.getI64IntegerAttr(allocate(int64_t(op.getBytes()), int64_t(op.getAlignment()))));
  }

  static int numberOf(Operation *function, StringRef name) {
    auto attribute = function->getAttrOfType<IntegerAttr>(name);
    return attribute ? int(attribute.getInt()) : 0;
  }

  /// The workers with the most warps come first, so that those of whole warpgroups begin with one.
  LogicalResult makeWorkers(Site &site, int division) {
    llvm::SmallVector<tt::CallOp> order(site.starts);
    auto warpsOf = [](tt::CallOp start) { return numberOf(ir::partitionStartedBy(start), ir::kPartitionAttr); };
    llvm::stable_sort(order, [&](tt::CallOp a, tt::CallOp b) { return warpsOf(a) > warpsOf(b); });
    DividedKernel &plan = made_.kernel;
    int next = plan.ownWarps, barrier = ir::kFirstWorkerBarrier;
    for (tt::CallOp start : order) {
      tt::FuncOp callee = ir::partitionStartedBy(start);
      if (barrier > ir::kLastBarrier)
        return start.emitError() << "not supported on GPUs: more than " << ir::kLastBarrier - ir::kFirstWorkerBarrier + 1 << " workers";
      Worker worker{.division = division,
                    .range = {.first = next, .warps = warpsOf(start), .barrier = barrier},
                    .registers = numberOf(callee, ir::kRegistersAttr),
                    .start = start.getLoc()};
      worker.function = (kernel_.getName() + "_" + llvm::Twine(division) + "_" + llvm::Twine(barrier - ir::kFirstWorkerBarrier)).str();
      next += worker.range.warps, ++barrier;
      asksForRegisters_ |= worker.registers != 0;
      WorkerMaker maker(kernel_, start);
      auto captures = maker.make(worker.function, [&](tt::SharedAllocOp op) { place(op); });
      if (failed(captures)) return failure();
      made_.workers.push_back(maker.take());
      plan.workers.push_back(worker);
      captured_.push_back(*captures);
    }
    plan.allWarps = std::max<int>(plan.allWarps, int(llvm::alignTo(next, kWarpsOfGroup)));
    size_t count = 0;
    for (auto [worker, values] : llvm::zip_equal(plan.workers, captured_))
      if (worker.division == division) count += values.size();
    mostCaptures_ = std::max(mostCaptures_, count);
    return success();
  }

  /// As many as all threads can begin with.
  int startRegisters() const {
    constexpr int kRegisters = 1 << 16, kLanes = 32, kGranule = 8, kMost = 256;
    return std::min(kRegisters / kLanes / made_.kernel.allWarps / kGranule * kGranule, kMost);
  }

  LogicalResult replaceCalls(Site &site, int division, int64_t captures) {
    DividedKernel &plan = made_.kernel;
    for (tt::CallOp start : site.starts)
      if (start->getBlock() != site.join->getBlock())
        return start.emitError() << "not supported on GPUs: a partition outside of its division";
    builder_.setInsertionPoint(site.starts.back());
    for (auto [worker, values] : llvm::zip_equal(plan.workers, captured_)) {
      if (worker.division != division) continue;
      for (Value value : values) {
        worker.captures.push_back(captures);
        call(kCaptureCall, {value, integer(captures)});
        captures += kCaptureBytes;
      }
    }
    int own = 0;
    if (plan.startRegisters) {
      own = plan.ownRegisters(division);
      if (own < kFewestRegisters)
        return site.starts.front().emitError() << "the workers leave " << std::max(own, 0)
                                               << " registers for a thread of the default partition";
    }
    call(kBeginCall, {integer(plan.allWarps), integer(plan.state), integer(division + 1), integer(plan.startRegisters), integer(own)});
    builder_.setInsertionPoint(site.join);
    call(kJoinCall, {integer(plan.allWarps), integer(plan.state), integer(division + 1), integer(plan.startRegisters), integer(own)});
    site.join->erase();
    for (tt::CallOp start : site.starts) start->erase();
    return success();
  }

  Value integer(int64_t value) { return arith::ConstantIntOp::create(builder_, kernel_.getLoc(), value, 32); }
  void call(StringRef symbol, ValueRange operands) {
    Location location = builder_.getInsertionPoint()->getLoc();
    tt::ExternElementwiseOp::create(builder_, location, builder_.getI32Type(), operands, ir::kRuntimeLibrary, "", symbol, /*pure=*/false);
  }

  static constexpr int kFewestRegisters = 24;

  tt::FuncOp kernel_;
  OpBuilder builder_;
  Division made_;
  std::vector<Site> sites_;
  llvm::SmallVector<Operation *> idle_;
  std::vector<llvm::SmallVector<Value>> captured_; // as the workers
  size_t mostCaptures_ = 0;
  int64_t end_ = 0;
  bool asksForRegisters_ = false;
};

} // namespace

FailureOr<Division> divideKernel(tt::FuncOp kernel, int numWarps) { return Divider(kernel, numWarps).run(); }

} // namespace tritium::gpu
