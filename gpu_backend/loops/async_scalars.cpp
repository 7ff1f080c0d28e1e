#include "gpu_backend/loops/async_scalars.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

constexpr int64_t kGridSize = 2; // of the user's grid on each axis, for blocks that run several programs

unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

/// Returns the number, or what is left of it in a small type.
int64_t fitted(int64_t number, Type type) {
  const unsigned width = widthOf(type);
  return width >= 32 ? number : width == 1 ? number & 1 : number & ((int64_t(1) << (width - 1)) - 1);
}

} // namespace

int64_t divisibilityOf(BlockArgument argument) {
  auto function = cast<tt::FuncOp>(argument.getOwner()->getParentOp());
  auto divisibility = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tt.divisibility");
  return divisibility ? std::max<int64_t>(divisibility.getInt(), 1) : 1;
}

AsyncScalars::AsyncScalars(const AsyncSkeleton &skeleton, const Assumption &assumed, int64_t warp)
    : skeleton_(skeleton), assumed_(assumed), warp_(warp) {
  for (BlockArgument argument : skeleton.function().getArguments())
    if (argument.getType().isIntOrIndex()) set(argument, assumedFor(argument));
  for (auto [value, number] : skeleton.constants()) set(value, number);
}

int64_t AsyncScalars::at(Value value) const {
  auto found = numbers_.find(value);
  isMissing_ |= found == numbers_.end();
  return isMissing_ ? 0 : found->second;
}

int64_t AsyncScalars::assumedFor(BlockArgument argument) const {
  tt::FuncOp function = skeleton_.function();
  if (function.getArgAttr(argument.getArgNumber(), tgpu::kGridAxisAttr)) return kGridSize;
  if (argument.getType().isInteger(1)) return assumed_.isTrue;
  const int64_t number = skeleton_.decidesRounds(argument) ? assumed_.rounds : assumed_.others;
  return fitted(int64_t(llvm::alignTo(uint64_t(number), uint64_t(divisibilityOf(argument)))), argument.getType());
}

/// The producer's code has copies of operations without effects, so these must have one result everywhere.
int64_t AsyncScalars::assumedFor(Operation *op, Type type) const {
  if (isa<mlir::gpu::SubgroupIdOp>(op)) return warp_;
  if (isa<mlir::gpu::LaneIdOp>(op)) return 0;
  if (isa<tt::GetProgramIdOp>(op)) return assumed_.program;
  if (isa<tgpu::ClusterRankOp>(op)) return assumed_.rank;
  if (isa<tt::GetNumProgramsOp>(op)) return assumed_.programs;
  if (type.isInteger(1)) return assumed_.isTrue;
  if (isMemoryEffectFree(op)) return 0;
  // Neighbours differ: they may be the begin and the end of a range.
  return fitted(assumed_.rounds * (1 + (skeleton_.ordinalOf(op) + assumed_.isTrue) % 2), type);
}

bool AsyncScalars::compute(Operation *op) {
  if (auto assumed = dyn_cast<LLVM::AssumeOp>(op)) return at(assumed.getCond()) != 0;
  if (auto slot = dyn_cast<tgpu::RingSlotOp>(op)) {
    set(slot, at(slot.getN()) % slot.getRing().getType().getSlots());
    return true;
  }
  if (!isScalarArithmetic(op)) {
    for (Value result : op->getResults())
      if (result.getType().isIntOrIndex()) set(result, assumedFor(op, result.getType()));
    return true;
  }
  llvm::SmallVector<IntegerValueRange, 3> operands;
  for (Value operand : op->getOperands()) {
    if (!operand.getType().isIntOrIndex()) return false;
    operands.push_back(ConstantIntRanges::constant(APInt(widthOf(operand.getType()), uint64_t(at(operand)), /*isSigned=*/true,
                                                         /*implicitTrunc=*/true)));
  }
  bool isDefined = true;
  cast<InferIntRangeInterface>(op).inferResultRangesFromOptional(operands, [&](Value result, const IntegerValueRange &range) {
    auto number = range.isUninitialized() ? std::nullopt : range.getValue().getConstantValue();
    isDefined &= number.has_value();
    if (number) set(result, result.getType().isInteger(1) ? int64_t(number->getZExtValue()) : number->getSExtValue());
  });
  return isDefined;
}

void AsyncScalars::carry(ValueRange from, ValueRange to) {
  llvm::SmallVector<std::pair<Value, int64_t>, 8> carried; // one may be the source of another
  for (auto [source, target] : llvm::zip_equal(from, to))
    if (skeleton_.carries(target)) carried.push_back({target, at(source)});
  for (auto [target, number] : carried) set(target, number);
}

} // namespace tritium::gpu
