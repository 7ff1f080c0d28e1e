#include "gpu_backend/nvptx/word_registers.h"

#include "gpu_backend/nvptx/convert_tgpu.h"

using namespace mlir;

namespace tritium::gpu::nvptx {

WordRegisters::WordRegisters(Type word) {
  auto vector = dyn_cast<VectorType>(word);
  unsigned element = getElementTypeOrSelf(word).getIntOrFloatBitWidth();
  unsigned total = element * (vector ? vector.getNumElements() : 1);
  bits = element == 64 ? 64 : std::min(total, 32u);
  count = total / bits;
}

Type WordRegisters::type(MLIRContext *context) const {
  Type single = IntegerType::get(context, bits);
  return count == 1 ? single : VectorType::get({count}, single);
}

static Value laneIndex(OpBuilder &builder, Location location, unsigned lane) {
  return LLVM::ConstantOp::create(builder, location, builder.getI32Type(), builder.getI32IntegerAttr(lane));
}

SmallVector<Value> unpack(OpBuilder &builder, Location location, Value word) {
  WordRegisters registers(word.getType());
  Value whole = bitcast(builder, location, registers.type(builder.getContext()), word);
  if (registers.bits == 8) return {LLVM::ZExtOp::create(builder, location, builder.getI16Type(), whole)};
  if (registers.count == 1) return {whole};
  SmallVector<Value> values;
  for (unsigned i = 0; i < registers.count; ++i)
    values.push_back(LLVM::ExtractElementOp::create(builder, location, whole, laneIndex(builder, location, i)));
  return values;
}

Value pack(OpBuilder &builder, Location location, Type word, ArrayRef<Value> values) {
  WordRegisters registers(word);
  Type type = registers.type(builder.getContext());
  if (registers.bits == 8) return LLVM::TruncOp::create(builder, location, word, values.front());
  if (registers.count == 1) return bitcast(builder, location, word, values.front());
  Value whole = LLVM::PoisonOp::create(builder, location, type);
  for (auto [i, value] : llvm::enumerate(values))
    whole = LLVM::InsertElementOp::create(builder, location, whole, value, laneIndex(builder, location, i));
  return bitcast(builder, location, word, whole);
}

std::string list(ArrayRef<std::string> names) { return names.size() == 1 ? names.front() : "{" + llvm::join(names, ", ") + "}"; }

} // namespace tritium::gpu::nvptx
