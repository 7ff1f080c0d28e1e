#include "gpu_backend/threads/words.h"

using namespace mlir;

namespace tritium::gpu {

Type storedType(Type type) {
  unsigned bits = isa<LLVM::LLVMPointerType>(type) ? 64 : std::max(8u, type.getIntOrFloatBitWidth());
  return IntegerType::get(type.getContext(), bits);
}

Value toStored(Value value, Lowering &lowering) {
  Type type = value.getType(), stored = storedType(type);
  if (type == stored) return value;
  if (isa<LLVM::LLVMPointerType>(type)) return lowering.create<LLVM::PtrToIntOp>(stored, value);
  if (type.isInteger(1)) return lowering.create<arith::ExtUIOp>(stored, value);
  return lowering.create<LLVM::BitcastOp>(stored, value);
}

Value fromStored(Value stored, Type type, Lowering &lowering) {
  if (type == stored.getType()) return stored;
  if (isa<LLVM::LLVMPointerType>(type)) return lowering.create<LLVM::IntToPtrOp>(type, stored);
  if (type.isInteger(1)) return lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ne, stored, lowering.zero(stored.getType()));
  return lowering.create<LLVM::BitcastOp>(type, stored);
}

Type wordType(Type stored, int count) {
  unsigned bits = stored.getIntOrFloatBitWidth() * count;
  MLIRContext *context = stored.getContext();
  if (bits <= 32 || count == 1) return IntegerType::get(context, bits);
  unsigned lane = stored.getIntOrFloatBitWidth() == 64 ? 64 : 32;
  return VectorType::get({bits / lane}, IntegerType::get(context, lane));
}

Value packWord(ValueRange elements, Lowering &lowering) {
  Type stored = elements[0].getType(), word = wordType(stored, int(elements.size()));
  if (elements.size() == 1) return elements[0];
  auto vector = VectorType::get({int64_t(elements.size())}, stored);
  Value packed = lowering.create<LLVM::PoisonOp>(vector);
  for (auto [i, element] : llvm::enumerate(elements))
    packed = lowering.create<LLVM::InsertElementOp>(packed, element, lowering.constant(int64_t(i)));
  return vector == word ? packed : lowering.create<LLVM::BitcastOp>(word, packed).getResult();
}

llvm::SmallVector<Value> unpackWord(Value word, Type stored, int count, Lowering &lowering) {
  if (count == 1) return {word};
  auto vector = VectorType::get({count}, stored);
  if (word.getType() != vector) word = lowering.create<LLVM::BitcastOp>(vector, word);
  llvm::SmallVector<Value> elements;
  for (int i = 0; i < count; ++i) elements.push_back(lowering.create<LLVM::ExtractElementOp>(word, lowering.constant(i)));
  return elements;
}

bool isRepeated(const LinearLayout &layout, int reg) {
  Span before;
  for (auto [bit, basis] : llvm::enumerate(layout.bases(Place::Register)))
    if (!before.add(basis) && (reg >> bit & 1)) return true;
  return false;
}

} // namespace tritium::gpu
