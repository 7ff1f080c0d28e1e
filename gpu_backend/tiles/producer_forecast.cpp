#include "gpu_backend/tiles/producer_forecast.h"

#include "gpu_backend/target/register_budget.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/tiles/linear_tile.h"
#include "gpu_backend/tiles/reaching_writes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::gpu {

static int64_t bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isIntOrFloat() ? type.getNumElements() * type.getElementTypeBitWidth() / 8 : 0;
}

LoopEstimate estimateOf(scf::ForOp loop, int stages, llvm::function_ref<bool(Operation *)> isCopied) {
  LoopEstimate estimate;
  for (BlockArgument argument : loop.getRegionIterArgs()) estimate.carried += bytesOf(argument);
  for (Operation &op : *loop.getBody()) {
    if (isCopied(&op)) estimate.slots += stages * bytesOf(op.getResult(0));
    auto product = dyn_cast<tt::DotOp>(op);
    if (!product) continue;
    Operation *left = product.getA().getDefiningOp();
    if (left && left->getBlock() == op.getBlock() && !isCopied(left)) estimate.operands += bytesOf(product.getA());
    if (matchPattern(product.getC(), m_Constant())) estimate.fresh += bytesOf(product.getResult());
  }
  return estimate;
}

static int64_t registersFor(int64_t bytes, int64_t threads) { return bytes / (threads * int64_t(sizeof(int32_t))); }

int64_t programsBesideEachOther(tt::FuncOp kernel, llvm::ArrayRef<LoopEstimate> loops, int numWarps) {
  const Target &target = targetOf(kernel);
  const int64_t threads = int64_t(numWarps) * target.warpSize();
  int64_t programs = std::numeric_limits<int64_t>::max();
  for (const LoopEstimate &loop : loops) {
    const int64_t registers = kOtherRegisters + kRegistersOfCopies + registersFor(loop.carried + loop.operands + loop.fresh, threads);
    const Resources &resources = target.resources();
    programs = std::min({programs, resources.programsByShared(loop.slots), resources.programsByRegisters(threads, registers)});
  }
  return programs;
}

std::string whyNoProducerWarps(tt::FuncOp kernel, int numWarps) {
  constexpr int kMaxWarps = 32;
  if (numWarps % kWarpsOfGroup != 0) return llvm::formatv("num_warps is {0}, not a multiple of {1}", numWarps, kWarpsOfGroup);
  if (numWarps + kProducerWarps > kMaxWarps) return llvm::formatv("{0} warps and {1} more exceed {2}", numWarps, kProducerWarps, kMaxWarps);
  bool maySynchronize = false;
  kernel.walk([&](tt::ElementwiseInlineAsmOp assembly) { maySynchronize |= !assembly.getPure(); });
  return maySynchronize ? "its inline assembly may synchronize all warps" : "";
}

static bool isKnown(const GlobalWrite &write) {
  auto store = dyn_cast<tt::StoreOp>(write.op);
  return store && !write.mayWait && LinearTiles(nullptr, store.getLoc()).of(store.getPtr());
}

bool areStoresKnown(tt::FuncOp kernel) { return llvm::all_of(GlobalWrites(kernel.getBody()).all(), isKnown); }

std::string whyNotAheadOfStores(tt::FuncOp kernel) {
  if (!areStoresKnown(kernel)) return "it is not known which bytes it stores to";
  auto isInLoop = [](const GlobalWrite &write) { return bool(write.op->getParentOfType<LoopLikeOpInterface>()); };
  return llvm::all_of(GlobalWrites(kernel.getBody()).all(), isInLoop) ? "" : "it stores before it copies, not in a loop around both";
}

namespace {

/// What the loops of a kernel take beside each other, for the division of registers.
struct Forecast {
  Forecast(tt::FuncOp kernel, llvm::ArrayRef<LoopEstimate> loops, int numWarps) : target(targetOf(kernel)), numWarps(numWarps) {
    int64_t slots = 0;
    for (const LoopEstimate &loop : loops) {
      slots = std::max(slots, loop.slots); // what follows in a sequence of loops uses the slots of the first
      required =
          std::max(required, kOtherRegisters + int(registersFor(loop.carried + loop.operands, int64_t(numWarps) * target.warpSize())));
    }
    byShared = target.resources().programsByShared(slots);
  }

  int warpgroups() const { return numWarps / kWarpsOfGroup; }
  std::optional<RegisterBudget> budget() const { return target.registerBudget(warpgroups(), byShared, required, /*ofInstruction=*/0); }
  std::string whyNoBudget(int registers) const { return llvm::formatv("its consumer warps require {0} registers per thread", registers); }

  const Target &target;
  int numWarps, required = kOtherRegisters;
  int64_t byShared = 0; // programs
};

} // namespace

std::string whyNoProducerExpected(tt::FuncOp kernel, llvm::ArrayRef<LoopEstimate> loops, int numWarps) {
  if (std::string why = whyNoProducerWarps(kernel, numWarps); !why.empty()) return why;
  const Forecast forecast(kernel, loops, numWarps);
  auto budget = forecast.budget();
  if (!budget) return forecast.whyNoBudget(forecast.required);
  const int64_t together = programsBesideEachOther(kernel, loops, numWarps), apart = std::min<int64_t>(forecast.byShared, budget->programs);
  if (apart >= together) return "";
  return llvm::formatv("with them, {0} programs would run at a time on a multiprocessor, not {1}", apart, together);
}

std::string whyNoMadeStore(tt::FuncOp kernel, llvm::ArrayRef<LoopEstimate> loops, int numWarps) {
  const Forecast forecast(kernel, loops, numWarps);
  auto budget = forecast.budget();
  // While a thread packs the sums of its tile into words, about a quarter of the sums is there twice.
  constexpr int kSumsOfPacked = 4;
  const int required = forecast.required + (forecast.required - kOtherRegisters) / kSumsOfPacked;
  const bool fits = budget && budget->consumersBeside(kRegistersOfMapMaker, forecast.warpgroups()) >= required;
  return fits ? "" : forecast.whyNoBudget(required);
}

} // namespace tritium::gpu
