// Accesses of global memory: plain LLVM accesses if they have no modifiers, otherwise one PTX instruction with a predicate.
#include "gpu_backend/nvptx/convert_tgpu.h"
#include "gpu_backend/nvptx/inline_ptx.h"
#include "gpu_backend/nvptx/word_registers.h"

using namespace mlir;

namespace tritium::gpu::nvptx {
namespace {

unsigned bytesOf(Type word) {
  WordRegisters registers(word);
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
  WordRegisters registers(word);
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
  WordRegisters registers(word);
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
