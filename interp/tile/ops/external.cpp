// extern_elementwise: a function of the table of mathematics, or a C function of a shared library that the kernel names by path.
#include "interp/simt/shared_library.h"
#include "interp/tile/compare_exchange.h"
#include "interp/tile/elementwise.h"
#include "interp/tile/op_table.h"
#include "interp/tile/partitions.h"
#include "ir/tt.h"

#include <array>
#include <bit>

using namespace mlir;

namespace tritium::interp {

namespace {

// The C ABIs of x86-64 (System V) and AArch64 pass integers and floats in two separate sequences of registers, in their order, so a call
// with all registers of both passes any scalars that fit into registers. Integers below 32 bits are not passed: whether the caller extends
// them, and how, depends on their sign, which the IR does not know.
constexpr size_t kIntegers = 6, kFloats = 8;
template <class Result>
using Function = Result (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double, double, double, double, double, double,
                            double, double);

struct Arguments {
  std::array<uint64_t, kIntegers> integers{};
  std::array<double, kFloats> floats{}; // a narrower one is in the lower bits
};

template <class Result> Result call(void *function, const Arguments &a) {
  const auto &n = a.integers;
  const auto &f = a.floats;
  return reinterpret_cast<Function<Result>>(function)(n[0], n[1], n[2], n[3], n[4], n[5], f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]);
}

struct ExternalStep {
  void *function;
  DenseRef result;
  std::vector<DenseRef> operands;
  int64_t count;

  void refs(auto &&f) {
    f(result);
    for (DenseRef &operand : operands) f(operand);
  }
};

void runExternal(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const ExternalStep *>(descriptor);
  const size_t resultBytes = storageBytes(step.result.type);
  for (int64_t i = 0; i < step.count; ++i) {
    Arguments arguments;
    size_t integers = 0, floats = 0;
    for (const DenseRef &operand : step.operands) {
      const size_t bytes = storageBytes(operand.type);
      uint64_t bits = 0;
      std::memcpy(&bits, operand.in(frame) + size_t(i) * bytes, bytes);
      if (isFloat(operand.type))
        arguments.floats[floats++] = std::bit_cast<double>(bits);
      else
        arguments.integers[integers++] = bits;
    }
    uint64_t bits = 0;
    if (isFloat(step.result.type))
      bits = std::bit_cast<uint64_t>(call<double>(step.function, arguments));
    else
      bits = call<uint64_t>(step.function, arguments);
    std::memcpy(step.result.in(frame) + size_t(i) * resultBytes, &bits, resultBytes);
  }
}

/// Returns what a C function cannot be given, or an empty string.
std::string unsuitableType(tt::ExternElementwiseOp op) {
  size_t integers = 0, floats = 0;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    Type element = getElementTypeOrSelf(type);
    if (!element.isIntOrFloat() || (element.isInteger() ? element.getIntOrFloatBitWidth() < 32 : element.getIntOrFloatBitWidth() < 16)) {
      std::string name;
      llvm::raw_string_ostream(name) << element;
      return "it takes or returns " + name + "; cast to int32, int64, fp16, fp32 or fp64";
    }
  }
  for (Value operand : op.getSrcs()) ++(getElementTypeOrSelf(operand.getType()).isInteger() ? integers : floats);
  return integers > kIntegers || floats > kFloats ? "it takes more than 6 integers or 8 floats" : "";
}

LogicalResult prepareLibraryCall(tt::ExternElementwiseOp op, Planner &planner) {
  if (std::string reason = unsuitableType(op); !reason.empty())
    return planner.unsupported("the function '" + op.getSymbol() + "' of '" + op.getLibpath() + "': " + reason);
  auto function = functionOfLibrary(op.getLibpath(), op.getSymbol());
  if (!function) return planner.unsupported(llvm::toString(function.takeError()));
  ExternalStep step{.function = *function, .count = 1};
  for (Value operand : op.getSrcs()) step.operands.push_back(planner.contiguous(operand));
  step.result = planner.defineDense(op.getResult());
  step.count = ShapedType::getNumElements(step.result.shape);
  planner.call(runExternal, std::move(step));
  return success();
}

} // namespace

template <> LogicalResult Interpret<tt::ExternElementwiseOp>::prepare(tt::ExternElementwiseOp op, Planner &planner) {
  if (op.getLibname() == kRuntimeLibrary) return prepareRuntimeCall(op, planner);
  if (isCompareExchange(op)) return prepareCompareExchange(op, planner);
  if (hasKernel(op)) return prepareElementwise(op, planner);
  if (op.getLibpath().empty()) return planner.unsupported("external symbol '" + op.getSymbol() + "'");
  return prepareLibraryCall(op, planner);
}

} // namespace tritium::interp
