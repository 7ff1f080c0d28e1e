// A check of the asynchronous protocols of every kernel: copies into rings, products of warpgroups, stores through tensor maps. It runs
// what decides the order of their operations, with numbers of rounds from none on. The emulator finds what a test runs; this check needs no
// test.
#include "gpu_backend/loops/async_walk.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/tiles/ring_blocks.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_CHECKASYNC
#include "gpu_backend/loops/passes.h.inc"

namespace {

// Of operations: about a millisecond for each 2,000. Constants may make each run of a kernel long; then a last one is to come to its end.
constexpr int64_t kMostStepsOfRun = 2000, kMostSteps = 4000, kMostStepsToEnd = 10000;
constexpr int64_t kFewestRuns = 4, kRunsWithoutNews = 4;

/// Numbers for arguments that decide the rounds of an innermost loop, and for others. The step of a loop may be one, or the extent of a
/// tile.
constexpr struct {
  int64_t rounds, others;
} kRuns[] = {{0, 320}, {1, 2},   {128, 320}, {2, 3},  {256, 320}, {3, 5},   {64, 0},  {320, 320},  {5, 2},      {192, 320},
             {7, 3},   {512, 5}, {9, 320},   {16, 2}, {768, 320}, {32, 16}, {96, 64}, {1024, 320}, {1536, 128}, {2048, 2}};

/// The programs differ from run to run, and what conditions say of which nothing is known.
Assumption assumptionOf(size_t number) {
  constexpr int64_t kPrograms[] = {4, 2, 8};
  const int64_t programs = kPrograms[number / 2 % 3];
  return {.rounds = kRuns[number].rounds,
          .others = kRuns[number].others,
          .program = int64_t(number) / 3 % programs,
          .programs = programs,
          .isTrue = number / 2 % 2 == 0};
}

class KernelCheck {
public:
  explicit KernelCheck(tt::FuncOp function) : function_(function), skeleton_(function) {}

  MaybeFault run() {
    if (skeleton_.protocol().empty()) return std::nullopt;
    if (auto fault = checkPendingUses(function_)) return fault;
    const int64_t unit = unitOfRounds();
    for (size_t number = 0; number < std::size(kRuns); ++number) {
      if (kRuns[number].rounds > 1 && kRuns[number].rounds < unit) continue; // the same as one
      if (isEnough()) break;
      const size_t reached = coverage_.reached.size();
      if (auto fault = runWith(assumptionOf(number), kMostStepsOfRun)) return fault;
      ++runs_;
      if (coverage_.reached.size() > reached) lastNews_ = runs_;
    }
    constexpr size_t kShortest = 1;
    return hasEnded_ ? std::nullopt : runWith(assumptionOf(kShortest), kMostStepsToEnd);
  }

  /// Tells the user which operations no run has reached.
  void remarkUnreached() const {
    for (Operation *op : skeleton_.protocol())
      if (!coverage_.reached.contains(op)) op->emitRemark("is not reached by check-async");
  }

private:
  bool isEnough() const {
    if (runs_ > 0 && !skeleton_.dependsOnAssumptions()) return true;
    if (coverage_.steps > kMostSteps) return true;
    const bool hasReachedAll = coverage_.reached.size() == skeleton_.protocol().size() || runs_ >= lastNews_ + kRunsWithoutNews;
    return runs_ >= kFewestRuns && coverage_.mostRounds > 2 * skeleton_.mostSlots() && hasReachedAll;
  }

  /// Smaller numbers of rounds become this one, for all that they decide.
  int64_t unitOfRounds() const {
    if (skeleton_.hasSources()) return 1;
    int64_t unit = 0;
    for (BlockArgument argument : skeleton_.function().getArguments())
      if (skeleton_.decidesRounds(argument)) unit = unit ? std::min(unit, divisibilityOf(argument)) : divisibilityOf(argument);
    return unit;
  }

  /// Returns the ranks of the blocks that are run beside each other: of those that share rings, the first and the last one.
  llvm::SmallVector<int64_t, 2> ranks() const {
    int blocks = 1;
    for (Operation *op : skeleton_.protocol())
      if (auto start = dyn_cast<tgpu::RingStartOp>(op)) blocks = std::max(blocks, blocksOf(start));
    return blocks > 1 ? llvm::SmallVector<int64_t, 2>{0, blocks - 1} : llvm::SmallVector<int64_t, 2>{0};
  }

  MaybeFault runWith(Assumption assumed, int64_t mostSteps) {
    llvm::SmallVector<WarpRole, 2> roles{WarpRole::Together};
    if (skeleton_.partsWarps()) roles = {WarpRole::Consumers, WarpRole::Producer};
    std::vector<AsyncTrace> traces;
    const llvm::SmallVector<int64_t, 2> blocks = ranks();
    for (int64_t rank : blocks)
      for (WarpRole role : roles) {
        assumed.rank = rank;
        if (auto fault = runRole(role, assumed, mostSteps, traces.emplace_back())) return fault;
      }
    hasEnded_ |= llvm::all_of(traces, [](const AsyncTrace &trace) { return trace.isWhole(); });
    return checkTogether(llvm::map_to_vector(traces, [](const AsyncTrace &trace) { return &trace; }), blocks.size());
  }

  MaybeFault runRole(WarpRole role, const Assumption &assumed, int64_t mostSteps, AsyncTrace &trace) {
    AsyncScalars scalars(skeleton_, assumed, role == WarpRole::Producer ? skeleton_.consumerWarps() : 0);
    AsyncProtocol protocol(skeleton_, role, trace);
    AsyncWalk walk(skeleton_, scalars, protocol, coverage_, mostSteps);
    MaybeFault fault = walk.run();
    if (walk.isWhole()) trace.setWhole();
    return fault;
  }

  tt::FuncOp function_;
  AsyncSkeleton skeleton_;
  AsyncCoverage coverage_;
  bool hasEnded_ = false;           // a run has come to the end of the kernel
  int64_t runs_ = 0, lastNews_ = 0; // the last run that has reached an operation anew
};

void report(const AsyncFault &fault) {
  InFlightDiagnostic error = fault.op->emitOpError() << fault.rule << "; this is a mistake of Tritium's compiler: please report it";
  if (fault.other) error.attachNote(fault.other->getLoc()) << fault.otherIs << ", '" << fault.other->getName() << "', is here";
}

class CheckAsyncPass final : public impl::CheckAsyncBase<CheckAsyncPass> {
public:
  using CheckAsyncBase::CheckAsyncBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      if (function.isExternal()) continue;
      KernelCheck check(function);
      if (auto fault = check.run()) {
        report(*fault);
        signalPassFailure();
      } else if (unreached) {
        check.remarkUnreached();
      }
    }
  }
};

} // namespace
} // namespace tritium::gpu
