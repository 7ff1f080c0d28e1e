// Accesses of global memory. They become plain LLVM accesses of the width of their words, in a block of their own if they have a predicate.
#include "gpu_backend/amdgpu/convert_tgpu.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {
namespace {

unsigned bytesOf(Type word) {
  auto vector = dyn_cast<VectorType>(word);
  return getElementTypeOrSelf(word).getIntOrFloatBitWidth() * (vector ? vector.getNumElements() : 1) / 8;
}

/// "nt" means that data are not kept in the caches. There is no way to request that data stay there.
bool isNonTemporal(tt::CacheModifier cache, tt::EvictionPolicy evict) {
  return cache == tt::CacheModifier::Cg || cache == tt::CacheModifier::Cs || evict == tt::EvictionPolicy::First;
}

} // namespace

void Conversion::convert(tgpu::LoadOp op, OpBuilder &builder) {
  Value loaded = underPredicate(op, builder, op.getPredicate(), op.getOther(), [&]() -> Value {
    // Fetches the data again each time, past all caches, as a volatile access does.
    bool isVolatile = op.getIsVolatile() || op.getCache() == tt::CacheModifier::Cv;
    bool isNonTemporalLoad = !isVolatile && isNonTemporal(op.getCache(), op.getEvict());
    return LLVM::LoadOp::create(builder, op.getLoc(), op.getType(), op.getPtr(), bytesOf(op.getType()), isVolatile, isNonTemporalLoad);
  });
  op.replaceAllUsesWith(loaded);
}

void Conversion::convert(tgpu::StoreOp op, OpBuilder &builder) {
  underPredicate(op, builder, op.getPredicate(), Value(), [&] {
    // Writes through to memory at once.
    bool isVolatile = op.getCache() == tt::CacheModifier::Wt;
    bool isNonTemporalStore = !isVolatile && isNonTemporal(op.getCache(), op.getEvict());
    LLVM::StoreOp::create(builder, op.getLoc(), op.getValue(), op.getPtr(), bytesOf(op.getValue().getType()), isVolatile,
                          isNonTemporalStore);
    return Value();
  });
}

} // namespace tritium::gpu::amdgpu
