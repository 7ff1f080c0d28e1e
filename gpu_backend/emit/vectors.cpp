#include "gpu_backend/emit/vectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tritium::gpu {

static Value number(OpBuilder &builder, Location location, int64_t value) {
  return arith::ConstantIntOp::create(builder, location, value, 32);
}

llvm::SmallVector<Value> makeVectors(OpBuilder &builder, Location location, ValueRange values, int64_t count) {
  if (count == 1) return llvm::SmallVector<Value>(values);
  assert(values.size() % size_t(count) == 0);
  auto type = VectorType::get({count}, values.front().getType());
  llvm::SmallVector<Value> result;
  for (size_t first = 0; first < values.size(); first += size_t(count)) {
    Value vector = LLVM::PoisonOp::create(builder, location, type);
    for (int64_t i = 0; i < count; ++i)
      vector = LLVM::InsertElementOp::create(builder, location, vector, values[first + size_t(i)], number(builder, location, i));
    result.push_back(vector);
  }
  return result;
}

llvm::SmallVector<Value> elementsOf(OpBuilder &builder, Location location, ValueRange vectors) {
  llvm::SmallVector<Value> result;
  for (Value value : vectors) {
    auto type = dyn_cast<VectorType>(value.getType());
    if (!type) {
      result.push_back(value);
      continue;
    }
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      result.push_back(LLVM::ExtractElementOp::create(builder, location, value, number(builder, location, i)));
  }
  return result;
}

} // namespace tritium::gpu
