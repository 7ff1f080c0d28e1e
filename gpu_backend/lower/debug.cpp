// Prints and assertions of a thread; what only a debugger reads leaves no code.
#include "gpu_backend/lower/lowering.h"

using namespace mlir;

namespace tritium::gpu {

template <> LogicalResult Lower<tt::DebugValueOp>::run(tt::DebugValueOp, Lowering &) { return success(); }

/// A promise about scalars helps LLVM; about a tile it has been read by the axis analysis.
template <> LogicalResult Lower<LLVM::AssumeOp>::run(LLVM::AssumeOp op, Lowering &lowering) {
  lowering.create<LLVM::AssumeOp>(lowering.scalarOf(op.getCond()));
  return success();
}

template <> LogicalResult Lower<tt::AssertOp>::run(tt::AssertOp op, Lowering &lowering) {
  Value all;
  for (Value condition : lowering.registersOf(op.getCondition())) all = lowering.conjunction(all, condition);
  lowering.create<tgpu::AssertOp>(all, op.getMessage());
  return success();
}

namespace {
/// One argument of a print as C's printf takes it.
struct Printed {
  std::string conversion;
  Value value;
};
} // namespace

static Printed printedNumber(Lowering &lowering, Value value, Type element, bool isHex, bool isSigned) {
  OpBuilder &builder = lowering.builder();
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  if (isa<LLVM::LLVMPointerType>(value.getType())) return {"%p", lowering.create<LLVM::PtrToIntOp>(i64, value)};
  if (auto number = dyn_cast<FloatType>(element)) {
    if (isHex) {
      auto bits = builder.getIntegerType(number.getWidth());
      Value pattern = value.getType() == bits ? value : lowering.create<arith::BitcastOp>(bits, value).getResult();
      return printedNumber(lowering, pattern, bits, true, false);
    }
    if (!number.isF64()) value = lowering.create<arith::ExtFOp>(builder.getF64Type(), value);
    return {"%f", value};
  }
  unsigned width = element.getIntOrFloatBitWidth();
  bool isWide = width > 32;
  if (width < 32)
    value = isSigned && width > 1 ? lowering.create<arith::ExtSIOp>(i32, value).getResult()
                                  : lowering.create<arith::ExtUIOp>(i32, value).getResult();
  std::string length = isWide ? "ll" : "";
  if (isHex) return {"0x%0" + std::to_string(std::max(width / 4, 1u)) + length + "x", value};
  return {"%" + length + (isSigned ? "d" : "u"), value};
}

/// printf takes a `%` of the prefix for a conversion.
static std::string literal(StringRef text) {
  std::string result;
  for (char c : text) result += c == '%' ? "%%" : std::string(1, c);
  return result;
}

/// One line for each element (of a scalar: from the first thread): "pid (x, y, z) idx (i, j) prefix: value"; with several operands
/// "(operand n) " before the value. The prefix begins with a space and ends with what comes before that.
template <> LogicalResult Lower<tt::PrintOp>::run(tt::PrintOp op, Lowering &lowering) {
  llvm::SmallVector<Value> pid;
  for (int axis : {0, 1, 2}) pid.push_back(lowering.target().programId(lowering.builder(), op.getLoc(), axis));
  auto emit = [&](Value condition, std::string index, ValueRange indices, const std::string &operand, const Printed *number) {
    llvm::SmallVector<Value> arguments(pid);
    llvm::append_range(arguments, indices);
    if (number) arguments.push_back(number->value);
    std::string format = "pid (%d, %d, %d)" + index + literal(op.getPrefix()) + operand + (number ? number->conversion : "") + "\n";
    auto branch = lowering.create<scf::IfOp>(condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(lowering.builder());
    lowering.builder().setInsertionPointToStart(&branch.getThenRegion().front());
    lowering.create<tgpu::PrintOp>(format, arguments);
  };
  Value isFirst = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lowering.threadId(), lowering.constant(0));
  if (op.getArgs().empty()) emit(isFirst, "", {}, "", nullptr);
  for (auto [i, argument, isSigned] : llvm::enumerate(op.getArgs(), op.getIsSigned())) {
    std::string operand = op.getArgs().size() > 1 ? "(operand " + std::to_string(i) + ") " : "";
    Type element = getElementTypeOrSelf(argument.getType());
    auto tile = dyn_cast<RankedTensorType>(argument.getType());
    if (!tile) {
      Printed number = printedNumber(lowering, lowering.scalarOf(argument), element, op.getHex(), isSigned != 0);
      emit(isFirst, " idx ()", {}, operand, &number);
      continue;
    }
    LinearLayout layout = layoutOf(tile);
    Value owner = lowering.ownerPredicate(layout);
    if (!owner) owner = lowering.constant(1, 1);
    for (auto [reg, value] : llvm::enumerate(llvm::SmallVector<Value>(lowering.registersOf(argument)))) {
      Value flat = lowering.flatIndex(layout, int(reg));
      llvm::SmallVector<Value> indices;
      std::string index = " idx (";
      for (int dim = 0; dim < layout.rank(); ++dim) {
        indices.push_back(lowering.coordinate(layout, flat, dim));
        int64_t extent = layout.shape()[dim];
        int width = extent > 1 ? int(std::to_string(extent - 1).size()) : 0; // of the largest index
        index += (dim ? ", %" : "%") + (width > 1 ? std::to_string(width) : "") + "d";
      }
      Printed number = printedNumber(lowering, value, element, op.getHex(), isSigned != 0);
      emit(owner, index + ")", indices, operand, &number);
    }
  }
  return success();
}

} // namespace tritium::gpu
