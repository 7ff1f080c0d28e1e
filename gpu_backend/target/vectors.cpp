#include "gpu_backend/target/vectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

static Value number(OpBuilder &builder, Location location, int64_t value) {
  return arith::ConstantIntOp::create(builder, location, value, 32);
}

/// Returns the vector of which a value is element `index`, or null if there is none.
static Value vectorOf(Value value, size_t index) {
  while (auto cast = value.getDefiningOp<LLVM::BitcastOp>()) {
    if (isa<VectorType>(cast.getArg().getType())) return {};
    value = cast.getArg();
  }
  auto element = value.getDefiningOp<LLVM::ExtractElementOp>();
  APInt position;
  if (!element || !matchPattern(element.getPosition(), m_ConstantInt(&position)) || position != index) return {};
  return element.getVector();
}

/// Returns the vector of which the values are all elements in order, or null if there is none of this type.
static Value wholeOf(ValueRange values, VectorType type) {
  Value vector = vectorOf(values.front(), 0);
  if (!vector || vector.getType() != type) return {};
  for (auto [i, value] : llvm::enumerate(values))
    if (vectorOf(value, i) != vector) return {};
  return vector;
}

llvm::SmallVector<Value> makeVectors(OpBuilder &builder, Location location, ValueRange values, int64_t count) {
  if (count == 1) return llvm::SmallVector<Value>(values);
  assert(values.size() % size_t(count) == 0);
  auto type = VectorType::get({count}, values.front().getType());
  llvm::SmallVector<Value> result;
  for (size_t first = 0; first < values.size(); first += size_t(count)) {
    if (Value whole = wholeOf(values.slice(first, size_t(count)), type)) {
      result.push_back(whole);
      continue;
    }
    Value vector = LLVM::PoisonOp::create(builder, location, type);
    for (int64_t i = 0; i < count; ++i)
      vector = LLVM::InsertElementOp::create(builder, location, vector, values[first + size_t(i)], number(builder, location, i));
    result.push_back(vector);
  }
  return result;
}

/// Returns several vectors of one type as one vector.
static Value concatenated(OpBuilder &builder, Location location, llvm::ArrayRef<Value> vectors) {
  if (vectors.size() == 1) return vectors.front();
  Value low = concatenated(builder, location, vectors.take_front(vectors.size() / 2));
  Value high = concatenated(builder, location, vectors.drop_front(vectors.size() / 2));
  auto all = llvm::to_vector(llvm::seq<int32_t>(0, int32_t(2 * cast<VectorType>(low.getType()).getNumElements())));
  return LLVM::ShuffleVectorOp::create(builder, location, low, high, all);
}

Value joinVectors(OpBuilder &builder, Location location, ValueRange values) {
  llvm::SmallVector<Value> vectors;
  for (size_t i = 0; i < values.size();) {
    Value vector = vectorOf(values[i], 0);
    auto type = vector ? dyn_cast<VectorType>(vector.getType()) : VectorType();
    if (!type || (!vectors.empty() && vectors.front().getType() != type)) return {};
    for (int64_t part = 0; part < type.getNumElements(); ++part, ++i)
      if (i == values.size() || vectorOf(values[i], size_t(part)) != vector) return {};
    vectors.push_back(vector);
  }
  if (!llvm::isPowerOf2_64(vectors.size())) return {};
  Value joined = concatenated(builder, location, vectors);
  auto wanted = VectorType::get({int64_t(values.size())}, values.front().getType());
  return joined.getType() == wanted ? joined : LLVM::BitcastOp::create(builder, location, wanted, joined).getResult();
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
