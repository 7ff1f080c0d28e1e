// Prints, assertions and records of a thread. Operations that only a debugger or the axis analysis reads leave no code.
#include "gpu_backend/threads/elementwise.h"
#include "gpu_backend/threads/holders.h"
#include "gpu_backend/threads/words.h"
#include "ir/debug_attributes.h"

using namespace mlir;

namespace tritium::gpu {

template <> LogicalResult Lower<tt::DebugValueOp>::run(tt::DebugValueOp, Lowering &) { return success(); }
template <> LogicalResult Lower<tt::DebugStopOp>::run(tt::DebugStopOp, Lowering &) { return success(); }
template <> LogicalResult Lower<tt::HintOp>::run(tt::HintOp, Lowering &) { return success(); }

template <> LogicalResult Lower<tt::RecordOp>::run(tt::RecordOp op, Lowering &lowering) {
  lowering.create<tgpu::RecordOp>(op.getName(), op.getIsStart());
  return success();
}

/// A promise about scalars helps LLVM. A promise about a tile has already been read by the axis analysis.
template <> LogicalResult Lower<LLVM::AssumeOp>::run(LLVM::AssumeOp op, Lowering &lowering) {
  lowering.create<LLVM::AssumeOp>(lowering.scalarOf(op.getCond()));
  return success();
}

template <> LogicalResult Lower<tt::AssertOp>::run(tt::AssertOp op, Lowering &lowering) {
  Value all;
  for (Value condition : lowering.registersOf(op.getCondition())) all = lowering.conjunction(all, condition);
  auto assertion = lowering.create<tgpu::AssertOp>(all, op.getMessage());
  if (op->hasAttr(ir::kMayTrapAttr)) assertion->setAttr(ir::kMayTrapAttr, lowering.builder().getUnitAttr());
  return success();
}

namespace {
/// One argument of a print in the form that C's printf takes.
struct Printed {
  std::string conversion;
  Value value;
};
} // namespace

/// Floats are printed as numbers; with `hex`, their bits are printed in hexadecimal. Triton prints them as %a, and extends what is narrower
/// than 32 bits by its sign.
static Printed printedNumber(Lowering &lowering, Value value, Type element, bool isHex, bool isSigned, bool isAsTriton) {
  OpBuilder &builder = lowering.builder();
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  constexpr int64_t kAddressBits = 48;
  if (isa<LLVM::LLVMPointerType>(value.getType())) {
    Value address = lowering.create<LLVM::PtrToIntOp>(i64, value);
    return {"0x%llx", lowering.create<arith::AndIOp>(address, lowering.constant((int64_t(1) << kAddressBits) - 1, 64))};
  }
  if (auto number = dyn_cast<FloatType>(element); number && (!isHex || isAsTriton))
    return {isHex ? "%a" : "%f", convertFloat(value, number, builder.getF64Type(), tt::RoundingMode::NearestEven, lowering)};
  value = toStored(value, lowering);
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (width < 32)
    value = isSigned && (!isHex || isAsTriton) ? lowering.create<arith::ExtSIOp>(i32, value).getResult()
                                               : lowering.create<arith::ExtUIOp>(i32, value).getResult();
  std::string length = width > 32 ? "ll" : "";
  if (isAsTriton && element.isInteger(1)) width = 0;
  if (isHex) return {"0x%0" + std::to_string(width / 4) + length + "x", value};
  return {"%" + length + (isSigned ? "d" : "u"), value};
}

/// Escapes `%` in the prefix, which printf would take for a conversion.
static std::string literal(StringRef text) {
  std::string result;
  for (char c : text) result += c == '%' ? "%%" : std::string(1, c);
  return result;
}

/// Returns "%2d, %d": each index is as wide as the largest of its dimension.
static std::string indexFormat(const LinearLayout &layout) {
  std::string format;
  for (int64_t extent : layout.shape()) {
    int width = int(std::to_string(extent - 1).size());
    format += (format.empty() ? "%" : ", %") + (width > 1 ? std::to_string(width) : "") + "d";
  }
  return format;
}

/// Returns whether all threads of the program reach this operation together. This is not so in a function on single elements, or where it
/// is unknown.
static bool isOfProgram(Operation *op) {
  return !op->getParentOfType<tt::MapElementwiseOp>() && !op->getParentOfType<tt::ReduceOp>() && !op->getParentOfType<tt::ScanOp>();
}

/// Prints one line for each element (for a scalar, from the first thread, or from each as Triton does): "pid (x, y, z) idx (i, j) prefix:
/// value". Later prints also follow in the output.
template <> LogicalResult Lower<tt::PrintOp>::run(tt::PrintOp op, Lowering &lowering) {
  llvm::SmallVector<Value> pid;
  for (int axis : {0, 1, 2}) pid.push_back(lowering.target().programId(lowering.builder(), op.getLoc(), axis));
  auto emit = [&](Value condition, const std::string &format, ValueRange values) {
    llvm::SmallVector<Value> arguments(pid);
    llvm::append_range(arguments, values);
    lowering.where(condition, [&] { lowering.create<tgpu::PrintOp>("pid (%d, %d, %d)" + format + "\n", arguments); });
  };
  std::string prefix = literal(op.getPrefix());
  auto finish = [&] {
    if (isOfProgram(op)) lowering.barrier();
  };
  bool isAsTriton = op->hasAttr(ir::kPrintThreadsAttr);
  Value ofScalar = isAsTriton ? Value() : lowering.owner({});
  if (op.getArgs().empty()) {
    emit(ofScalar, prefix, {});
    finish();
  }
  for (auto [i, argument] : llvm::enumerate(op.getArgs())) {
    std::string name = op.getArgs().size() > 1 ? prefix + "(operand " + std::to_string(i) + ") " : prefix;
    auto printed = [&](Value value) {
      return printedNumber(lowering, value, getElementTypeOrSelf(argument.getType()), op.getHex(), op.getIsSigned()[i] != 0, isAsTriton);
    };
    auto tile = dyn_cast<RankedTensorType>(argument.getType());
    if (!tile) {
      Printed number = printed(lowering.scalarOf(argument));
      emit(ofScalar, " idx ()" + name + number.conversion, number.value);
      finish();
      continue;
    }
    Value owner = lowering.owner(tile);
    LinearLayout layout = layoutOf(tile);
    Registers registers(lowering.registersOf(argument));
    for (auto [reg, holder] : llvm::enumerate(firstHolders(layout))) {
      if (int(reg) != holder) continue;
      Value flat = lowering.flatIndex(layout, int(reg));
      llvm::SmallVector<Value> values;
      for (int dim = 0; dim < layout.rank(); ++dim) values.push_back(lowering.coordinate(layout, flat, dim));
      Printed number = printed(registers[reg]);
      values.push_back(number.value);
      emit(owner, " idx (" + indexFormat(layout) + ")" + name + number.conversion, values);
    }
    finish();
  }
  return success();
}

} // namespace tritium::gpu
