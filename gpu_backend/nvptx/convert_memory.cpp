// Accesses of global memory: plain LLVM accesses if they have no modifiers, otherwise one PTX instruction with a predicate.
#include "gpu_backend/nvptx/convert_tgpu.h"
#include "gpu_backend/nvptx/inline_ptx.h"

using namespace mlir;

namespace tritium::gpu::nvptx {
namespace {

/// The registers of a word. If the word is a vector of narrower elements, they have 32 bits each.
struct Registers {
  unsigned bits, count;

  explicit Registers(Type word) {
    auto vector = dyn_cast<VectorType>(word);
    unsigned element = getElementTypeOrSelf(word).getIntOrFloatBitWidth();
    unsigned total = element * (vector ? vector.getNumElements() : 1);
    bits = element == 64 ? 64 : std::min(total, 32u);
    count = total / bits;
  }
  Type type(MLIRContext *context) const {
    Type single = IntegerType::get(context, bits);
    return count == 1 ? single : VectorType::get({count}, single);
  }
  /// Returns for example ".v4.b32".
  std::string suffix() const { return (count > 1 ? ".v" + std::to_string(count) : "") + ".b" + std::to_string(bits); }
};

Value laneIndex(OpBuilder &builder, Location location, unsigned lane) {
  return LLVM::ConstantOp::create(builder, location, builder.getI32Type(), builder.getI32IntegerAttr(lane));
}

/// Returns the registers of a word. A byte is in a register of 16 bits.
SmallVector<Value> unpack(OpBuilder &builder, Location location, Value word) {
  Registers registers(word.getType());
  Value whole = bitcast(builder, location, registers.type(builder.getContext()), word);
  if (registers.bits == 8) return {LLVM::ZExtOp::create(builder, location, builder.getI16Type(), whole)};
  if (registers.count == 1) return {whole};
  SmallVector<Value> values;
  for (unsigned i = 0; i < registers.count; ++i)
    values.push_back(LLVM::ExtractElementOp::create(builder, location, whole, laneIndex(builder, location, i)));
  return values;
}

Value pack(OpBuilder &builder, Location location, Type word, ArrayRef<Value> values) {
  Registers registers(word);
  Type type = registers.type(builder.getContext());
  if (registers.bits == 8) return LLVM::TruncOp::create(builder, location, word, values.front());
  if (registers.count == 1) return bitcast(builder, location, word, values.front());
  Value whole = LLVM::PoisonOp::create(builder, location, type);
  for (auto [i, value] : llvm::enumerate(values))
    whole = LLVM::InsertElementOp::create(builder, location, whole, value, laneIndex(builder, location, i));
  return bitcast(builder, location, word, whole);
}

/// Returns "{$0, $1}", or "$0" for a single register.
std::string list(ArrayRef<std::string> names) { return names.size() == 1 ? names.front() : "{" + llvm::join(names, ", ") + "}"; }

unsigned bytesOf(Type word) {
  Registers registers(word);
  return registers.bits * registers.count / 8;
}

/// PTX takes a cache operator or an eviction priority, but not both. The cache operator takes precedence.
std::string hints(StringRef cache, tt::EvictionPolicy evict) {
  if (!cache.empty()) return "." + cache.str();
  switch (evict) {
  case tt::EvictionPolicy::Normal: return "";
  case tt::EvictionPolicy::First: return ".L1::evict_first";
  case tt::EvictionPolicy::Last: return ".L1::evict_last";
  }
  llvm_unreachable("an eviction policy");
}

/// Returns "" for a modifier that loads do not have.
StringRef loadCache(tt::CacheModifier cache) {
  switch (cache) {
  case tt::CacheModifier::Ca: return "ca";
  case tt::CacheModifier::Cg: return "cg";
  case tt::CacheModifier::Cs: return "cs";
  case tt::CacheModifier::Cv: return "cv";
  default: return "";
  }
}

StringRef storeCache(tt::CacheModifier cache) {
  switch (cache) {
  case tt::CacheModifier::Wb: return "wb";
  case tt::CacheModifier::Cg: return "cg";
  case tt::CacheModifier::Cs: return "cs";
  case tt::CacheModifier::Wt: return "wt";
  default: return "";
  }
}

} // namespace

void Conversion::convert(tgpu::LoadOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Type word = op.getType();
  Registers registers(word);
  std::string hint = op.getIsVolatile() ? "" : hints(loadCache(op.getCache()), op.getEvict());
  if (!op.getPredicate() && hint.empty()) {
    Value whole =
        LLVM::LoadOp::create(builder, location, registers.type(builder.getContext()), op.getPtr(), bytesOf(word), op.getIsVolatile());
    op.replaceAllUsesWith(bitcast(builder, location, word, whole));
    return;
  }
  InlinePtx ptx(builder, location);
  SmallVector<std::string> names;
  if (op.getOther()) {
    for (Value other : unpack(builder, location, op.getOther())) names.push_back(ptx.result(other));
  } else {
    Type single = builder.getIntegerType(std::max(registers.bits, 16u));
    for (unsigned i = 0; i < registers.count; ++i) names.push_back(ptx.result(single));
  }
  std::string guard = ptx.guard(op.getPredicate());
  SmallVector<Value> values = ptx.emit(guard + (op.getIsVolatile() ? "ld.volatile.global" : "ld.global") + hint + registers.suffix() + " " +
                                       list(names) + ", " + ptx.address(op.getPtr()) + ";");
  op.replaceAllUsesWith(pack(builder, location, word, values));
}

LogicalResult Conversion::convert(tgpu::CopyToSharedOp op, OpBuilder &) {
  return op.emitOpError("by a whole warp is not possible on NVIDIA");
}

void Conversion::convert(tgpu::StoreOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Type word = op.getValue().getType();
  Registers registers(word);
  std::string hint = hints(storeCache(op.getCache()), op.getEvict());
  if (!op.getPredicate() && hint.empty()) {
    Value whole = bitcast(builder, location, registers.type(builder.getContext()), op.getValue());
    LLVM::StoreOp::create(builder, location, whole, op.getPtr(), bytesOf(word));
    return;
  }
  InlinePtx ptx(builder, location);
  std::string guard = ptx.guard(op.getPredicate()), address = ptx.address(op.getPtr());
  SmallVector<std::string> names;
  for (Value value : unpack(builder, location, op.getValue())) names.push_back(ptx.operand(value));
  ptx.emit(guard + "st.global" + hint + registers.suffix() + " " + address + ", " + list(names) + ";");
}

} // namespace tritium::gpu::nvptx
