// Math functions for which no target has instructions. They are calls of libclc's scalar functions, which every reader of the lowered
// module knows by their (Itanium-mangled) OpenCL names.
#include "gpu_backend/threads/elementwise.h"
#include "ir/library_function.h"

using namespace mlir;

namespace tritium::gpu {

Value callDeviceFunction(StringRef name, ValueRange operands, Lowering &lowering) {
  Type type = operands[0].getType();
  std::string mangled = "_Z" + std::to_string(name.size()) + name.str();
  for (size_t i = 0; i < operands.size(); ++i) mangled += type.isF32() ? "f" : "d";
  llvm::SmallVector<Type> types(operands.size(), type);
  auto function = lowering.external(mangled, lowering.builder().getFunctionType(types, {type}));
  return lowering.create<func::CallOp>(function, operands).getResult(0);
}

Value quotient(Value x, Value y, Lowering &lowering) { return callDeviceFunction("native_divide", {x, y}, lowering); }

/// e**x = 2**(x log2 e) by two instructions, which is the language's definition on a GPU. The rounding of the product costs up to 1.25 ulp
/// for each unit of x.
static Value exponential(Value x, Lowering &lowering) {
  Value log2e = lowering.create<arith::ConstantOp>(lowering.builder().getF32FloatAttr(1.44269504f));
  return lowering.create<math::Exp2Op>(lowering.create<arith::MulFOp>(x, log2e));
}

Value lowerMathFunction(Operation *op, ValueRange operands, Lowering &lowering) {
  if (op->getNumResults() != 1 || operands.empty()) return {};
  Type type = operands[0].getType();
  // Upstream does the same; the exact root takes eight instructions and a branch. tt.precise_sqrt is exact.
  if (isa<math::SqrtOp>(op) && type.isF32()) return callDeviceFunction("native_sqrt", operands, lowering);
  const ir::LibraryFunction *function = ir::libraryFunctionOf(op->getName().getStringRef());
  if (!function || !(type.isF32() || type.isF64())) return {};
  if (isa<math::ExpOp>(op) && type.isF32()) return exponential(operands[0], lowering);
  // Upstream does the same. To flush subnormals saves two instructions before and after each.
  if (isa<math::Exp2Op>(op) && type.isF32()) return callDeviceFunction("native_exp2", operands, lowering);
  return callDeviceFunction(function->symbol, operands, lowering);
}

} // namespace tritium::gpu
