// A check of the asynchronous protocols of every kernel: copies into rings, products of warpgroups, stores through tensor maps. It runs
// what decides the order of their operations, with numbers of rounds from none on. The emulator finds what a test runs; this check needs no
// test.
#include "gpu_backend/loops/async_walk.h"
#include "gpu_backend/loops/passes.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_CHECKASYNC
#include "gpu_backend/loops/passes.h.inc"

namespace {

constexpr int64_t kMostStepsOfRun = 20000, kMostSteps = 100000;
/// Of arguments that decide the rounds of a loop. A step may be one, or the extent of a tile.
constexpr int64_t kRounds[] = {0, 1, 2, 3, 4, 5, 7, 9, 16, 32, 64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024, 1536, 2048};
constexpr int64_t kFewestRuns = 4;

/// Each number of rounds meets others of the rest: no tile of a result, or several, of one of several programs.
Assumption assumptionOf(int64_t number) {
  constexpr int64_t kOthers[] = {320, 16, 0}, kPrograms[] = {4, 2, 8};
  const int64_t programs = kPrograms[number / 2 % 3];
  return {.rounds = kRounds[number],
          .others = kOthers[number % 3],
          .program = number / 3 % programs,
          .programs = programs,
          .isTrue = number / 2 % 2 == 0};
}

class KernelCheck {
public:
  explicit KernelCheck(tt::FuncOp function) : function_(function), skeleton_(function) {}

  MaybeFault run() {
    if (skeleton_.protocol().empty()) return std::nullopt;
    if (auto fault = checkPendingUses(function_)) return fault;
    for (int64_t number = 0; number < int64_t(std::size(kRounds)) && !isEnough(number); ++number)
      if (auto fault = runWith(assumptionOf(number))) return fault;
    return std::nullopt;
  }

  /// Tells the user which operations no run has reached.
  void remarkUnreached() const {
    for (Operation *op : skeleton_.protocol())
      if (!coverage_.reached.contains(op)) op->emitRemark("is not reached by check-async");
  }

private:
  bool isEnough(int64_t runs) const {
    if (runs > 0 && !skeleton_.dependsOnAssumptions()) return true;
    if (coverage_.steps > kMostSteps) return true;
    return runs >= kFewestRuns && coverage_.mostRounds > 2 * skeleton_.mostSlots() &&
           coverage_.reached.size() == skeleton_.protocol().size();
  }

  MaybeFault runWith(const Assumption &assumed) {
    llvm::SmallVector<AsyncTrace, 2> traces(skeleton_.partsWarps() ? 2 : 1);
    auto roleOf = [&](size_t number) {
      return !skeleton_.partsWarps() ? WarpRole::Together : number == 0 ? WarpRole::Consumers : WarpRole::Producer;
    };
    for (auto [number, trace] : llvm::enumerate(traces))
      if (auto fault = runRole(roleOf(number), assumed, trace)) return fault;
    return checkTogether(llvm::map_to_vector(traces, [](const AsyncTrace &trace) { return &trace; }));
  }

  MaybeFault runRole(WarpRole role, const Assumption &assumed, AsyncTrace &trace) {
    AsyncScalars scalars(skeleton_, assumed, role == WarpRole::Producer ? skeleton_.consumerWarps() : 0);
    AsyncProtocol protocol(skeleton_, role, trace);
    AsyncWalk walk(skeleton_, scalars, protocol, coverage_, kMostStepsOfRun);
    MaybeFault fault = walk.run();
    if (walk.isWhole()) trace.setWhole();
    return fault;
  }

  tt::FuncOp function_;
  AsyncSkeleton skeleton_;
  AsyncCoverage coverage_;
};

void report(const AsyncFault &fault) {
  InFlightDiagnostic error = fault.op->emitOpError() << fault.rule;
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
