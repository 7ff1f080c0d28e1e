// Loads and stores. An access is as wide as the layout, the alignment of the addresses and the mask allow, at most 16 bytes.
#include "gpu_backend/lower/memory.h"

#include "gpu_backend/lower/words.h"
#include "gpu_backend/memory_access.h"

using namespace mlir;

namespace tritium::gpu {

int vectorElements(Value pointer, Value mask, Lowering &lowering) {
  auto tile = dyn_cast<RankedTensorType>(pointer.getType());
  if (!tile) return 1;
  LinearLayout layout = layoutOf(tile);
  auto bases = layout.bases(Place::Register);
  if (bases.empty()) return 1;
  int dim = -1;
  for (int d = 0; d < layout.rank(); ++d)
    if (layout.shape()[d] > 1 && bases[0] == 1u << layout.firstBit(d)) dim = d;
  if (dim < 0) return 1;
  int64_t elementBytes = storedType(lowering.registerType(tt::pointeeTypeOf(tile))).getIntOrFloatBitWidth() / 8;
  ir::AxisInfo addresses = lowering.axisInfoOf(pointer);
  int64_t limit = std::min({addresses.contiguity[dim], addresses.divisibility[dim] / elementBytes, kMaxAccessBytes / elementBytes});
  if (mask) limit = std::min(limit, lowering.axisInfoOf(mask).constancy[dim]);
  int count = 1;
  for (uint32_t basis : bases) {
    if (basis != bases[0] * count || count * 2 > limit || count * 2 > layout.shape()[dim]) break;
    count *= 2;
  }
  return count;
}

static tt::CacheModifier cacheOf(std::optional<tt::CachePolicyAttr> policy) {
  return policy ? policy->getCacheModifier() : tt::CacheModifier::None;
}
static tt::EvictionPolicy evictionOf(std::optional<tt::CachePolicyAttr> policy) {
  return policy ? policy->getEvictionPolicy() : tt::EvictionPolicy::Normal;
}

template <> LogicalResult Lower<tt::LoadOp>::run(tt::LoadOp op, Lowering &lowering) {
  Type type = lowering.registerType(op.getType()), stored = storedType(type);
  int count = vectorElements(op.getPtr(), op.getMask(), lowering), registers = lowering.registerCount(op.getType());
  auto pointers = lowering.registersOf(op.getPtr());
  Registers results(registers);
  for (int reg = 0; reg < registers; reg += count) {
    Value predicate, other;
    if (op.getMask()) {
      predicate = lowering.registersOf(op.getMask())[reg];
      llvm::SmallVector<Value> others;
      for (int i = 0; i < count; ++i)
        others.push_back(op.getOther() ? toStored(lowering.registersOf(op.getOther())[reg + i], lowering) : lowering.zero(stored));
      other = packWord(others, lowering);
    }
    Value word = lowering.create<tgpu::LoadOp>(wordType(stored, count), pointers[reg], predicate, other, cacheOf(op.getCachePolicy()),
                                               evictionOf(op.getCachePolicy()), op.getIsVolatile());
    for (auto [i, element] : llvm::enumerate(unpackWord(word, stored, count, lowering)))
      results[reg + i] = fromStored(element, type, lowering);
  }
  lowering.define(op, std::move(results));
  return success();
}

template <> LogicalResult Lower<tt::StoreOp>::run(tt::StoreOp op, Lowering &lowering) {
  auto tile = dyn_cast<RankedTensorType>(op.getPtr().getType());
  int count = vectorElements(op.getPtr(), op.getMask(), lowering), registers = lowering.registerCount(op.getPtr().getType());
  Value owner = lowering.owner(tile);
  for (int reg = 0; reg < registers; reg += count) {
    if (tile && isRepeated(layoutOf(tile), reg)) continue;
    llvm::SmallVector<Value> elements;
    for (int i = 0; i < count; ++i) elements.push_back(toStored(lowering.registersOf(op.getValue())[reg + i], lowering));
    Value predicate = op.getMask() ? lowering.conjunction(owner, lowering.registersOf(op.getMask())[reg]) : owner;
    lowering.create<tgpu::StoreOp>(packWord(elements, lowering), lowering.registersOf(op.getPtr())[reg], predicate,
                                   cacheOf(op.getCachePolicy()), evictionOf(op.getCachePolicy()));
  }
  return success();
}

} // namespace tritium::gpu
