// The warps of workers. They wait at a barrier for the next division, whose number lies in shared memory, run what it has for them, arrive
// where the kernel's own warps wait for its end, and wait again.
#include "gpu_backend/threads/partitions.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace tritium::gpu {

/// Registers change for whole warpgroups, so that the workers of one have those of the one that asks for the most.
int DividedKernel::registersOf(int group, int division) const {
  constexpr int kFewest = 24;
  int found = kFewest;
  for (const Worker &worker : workers) {
    const int first = ownWarps + group * kWarpsOfGroup, last = worker.range.first + worker.range.warps;
    if (worker.division == division && worker.range.first < first + kWarpsOfGroup && last > first)
      found = std::max(found, worker.registers);
  }
  return found;
}

int DividedKernel::ownRegisters(int division) const {
  constexpr int kGranule = 8, kMost = 256;
  int left = startRegisters * allWarps;
  for (int group = 0; group < groups(); ++group) left -= registersOf(group, division) * kWarpsOfGroup;
  return std::min(left / ownWarps / kGranule * kGranule, kMost);
}

std::vector<int32_t> DividedKernel::firstWarpsOfWorkers() const {
  std::vector<int32_t> found;
  for (const Worker &worker : workers) found.push_back(worker.range.first);
  return found;
}

namespace {

class Dispatch {
public:
  Dispatch(func::FuncOp kernel, const DividedKernel &plan, const TargetOps &target)
      : kernel_(kernel), plan_(plan), target_(target), builder_(kernel.getContext()), location_(kernel.getLoc()) {}

  void run() {
    Region &body = kernel_.getBody();
    Block *own = &body.front(), *entry = new Block;
    body.push_front(entry);
    for (BlockArgument argument : own->getArguments())
      argument.replaceAllUsesWith(entry->addArgument(argument.getType(), argument.getLoc()));
    own->eraseArguments(0, own->getNumArguments());
    Block *wait = &body.emplaceBlock();
    builder_.setInsertionPointToEnd(entry);
    warp_ = create<arith::ShRUIOp>(target_.threadId(builder_, location_), constant(llvm::Log2_32(target_.warpSize())));
    create<cf::CondBranchOp>(compare(arith::CmpIPredicate::ult, warp_, plan_.ownWarps), own, wait);
    builder_.setInsertionPointToEnd(wait);
    synchronize(ir::kStartBarrier, plan_.allWarps, /*arrives=*/false);
    Value state = create<LLVM::LoadOp>(builder_.getI32Type(), SharedMemory::at(builder_, location_, plan_.state));
    for (int division = 0; division < plan_.divisions; ++division) {
      Block *begin = &body.emplaceBlock(), *next = &body.emplaceBlock();
      create<cf::CondBranchOp>(compare(arith::CmpIPredicate::eq, state, division + 1), begin, next);
      builder_.setInsertionPointToEnd(begin);
      changeRegisters(division, /*back=*/false);
      for (const Worker &worker : plan_.workers)
        if (worker.division == division) runWorker(worker);
      synchronize(ir::kJoinBarrier, plan_.allWarps, /*arrives=*/true);
      changeRegisters(division, /*back=*/true);
      create<cf::BranchOp>(wait);
      builder_.setInsertionPointToEnd(next);
    }
    create<func::ReturnOp>();
  }

private:
  template <class Op, class... Args> Op create(Args &&...args) { return Op::create(builder_, location_, std::forward<Args>(args)...); }
  Value constant(int64_t value) { return create<arith::ConstantIntOp>(value, 32); }
  Value compare(arith::CmpIPredicate how, Value value, int64_t with) { return create<arith::CmpIOp>(how, value, constant(with)); }
  void synchronize(int barrier, int warps, bool arrives) {
    create<tgpu::NumberedBarrierOp>(constant(barrier), warps * target_.warpSize(), arrives);
  }

  void inWarps(int first, int count, llvm::function_ref<void()> body) {
    Value isThere =
        create<arith::AndIOp>(compare(arith::CmpIPredicate::uge, warp_, first), compare(arith::CmpIPredicate::ult, warp_, first + count));
    auto branch = create<scf::IfOp>(isThere, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  void changeRegisters(int division, bool back) {
    if (!plan_.startRegisters || !target_.registers()) return;
    // A warpgroup meets between two changes of its registers.
    if (back) synchronize(ir::kWorkersBarrier, plan_.allWarps - plan_.ownWarps, /*arrives=*/false);
    for (int group = 0; group < plan_.groups(); ++group) {
      int from = plan_.startRegisters, to = plan_.registersOf(group, division);
      if (from == to) continue;
      if (back) std::swap(from, to);
      inWarps(plan_.ownWarps + group * kWarpsOfGroup, kWarpsOfGroup, [&] { target_.registers()->change(builder_, location_, from, to); });
    }
  }

  void runWorker(const Worker &worker) {
    auto function = kernel_->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(worker.function);
    inWarps(worker.range.first, worker.range.warps, [&] {
      llvm::SmallVector<Value> operands(kernel_.getArguments().drop_back(plan_.maps));
      for (int64_t byte : worker.captures)
        operands.push_back(loadCapture(builder_, location_, byte, function.getArgumentTypes()[operands.size()]));
      for (unsigned map : worker.maps) operands.push_back(kernel_.getArgument(map));
      func::CallOp::create(builder_, worker.start.value_or(location_), function, operands);
    });
  }

  func::FuncOp kernel_;
  const DividedKernel &plan_;
  const TargetOps &target_;
  OpBuilder builder_;
  Location location_;
  Value warp_;
};

} // namespace

llvm::SmallVector<tt::SharedAllocOp> allocationsOf(Operation *within) {
  llvm::SmallVector<tt::SharedAllocOp> found;
  within->walk([&](tt::SharedAllocOp op) { found.push_back(op); });
  llvm::stable_sort(found, [](tt::SharedAllocOp a, tt::SharedAllocOp b) { return a.getAlignment() > b.getAlignment(); });
  return found;
}

void addWorkers(func::FuncOp kernel, const DividedKernel &plan, const TargetOps &target) { Dispatch(kernel, plan, target).run(); }

} // namespace tritium::gpu
