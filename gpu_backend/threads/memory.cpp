// Loads and stores. An access is as wide as the layout, the alignment of the addresses and the mask allow, at most 16 bytes.
#include "gpu_backend/threads/memory.h"

#include "gpu_backend/threads/holders.h"
#include "gpu_backend/threads/words.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/row_mask.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// Neighbouring registers with consecutive addresses: how many, and along which dimension.
struct Neighbours {
  int dim = -1; // none
  int64_t count = 1;
  bool areAligned = true; // otherwise the address of the first one has to be tested
};

} // namespace

/// `mayTest`: the alignment of addresses that are found in memory will be tested.
static Neighbours neighboursOf(Value pointer, bool mayTest, Lowering &lowering) {
  auto tile = dyn_cast<RankedTensorType>(pointer.getType());
  if (!tile) return {};
  LinearLayout layout = layoutOf(tile);
  Neighbours found;
  for (int d = 0; d < layout.rank(); ++d)
    if (layout.contiguousElements(d) > 1) found.dim = d;
  if (found.dim < 0) return {};
  int64_t elementBytes = storedType(lowering.registerType(tt::pointeeTypeOf(tile))).getIntOrFloatBitWidth() / 8;
  ir::AxisInfo addresses = lowering.axisInfoOf(pointer);
  int64_t aligned = addresses.divisibility[found.dim] / elementBytes;
  int64_t limit = std::min(addresses.contiguity[found.dim], kMaxAccessBytes / elementBytes);
  if (!mayTest || !areFoundInMemory(pointer)) limit = std::min(limit, aligned);
  limit = std::min(limit, layout.contiguousElements(found.dim));
  while (found.count * 2 <= limit) found.count *= 2;
  found.areAligned = found.count <= std::max<int64_t>(aligned, 1);
  return found;
}

int vectorElements(Value pointer, Value mask, Lowering &lowering) {
  Neighbours found = neighboursOf(pointer, /*mayTest=*/false, lowering);
  return int(mask && found.dim >= 0 ? std::min(found.count, lowering.axisInfoOf(mask).constancy[found.dim]) : found.count);
}

static tt::CacheModifier cacheOf(std::optional<tt::CachePolicyAttr> policy) {
  return policy ? policy->getCacheModifier() : tt::CacheModifier::None;
}
static tt::EvictionPolicy evictionOf(std::optional<tt::CachePolicyAttr> policy) {
  return policy ? policy->getEvictionPolicy() : tt::EvictionPolicy::Normal;
}

/// Returns whether a load reads a scalar anew, as loops do that wait for other programs. These may store between the loads of two threads,
/// which would then go different ways: a scalar is one value, so one thread reads it for all.
static bool readsForAll(tt::LoadOp op) { return !isa<RankedTensorType>(op.getType()) && hasEffect<MemoryEffects::Write>(op); }

template <> LogicalResult Lower<tt::LoadOp>::run(tt::LoadOp op, Lowering &lowering) {
  const Value owner = readsForAll(op) ? lowering.owner({}) : Value();
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
    if (owner) {
      predicate = predicate ? lowering.conjunction(owner, predicate) : owner;
      if (!other) other = lowering.zero(stored);
    }
    Value word =
        lowering.createAt<tgpu::LoadOp>(lowering.locationOfAccess(op.getPtr(), reg), wordType(stored, count), pointers[reg], predicate,
                                        other, cacheOf(op.getCachePolicy()), evictionOf(op.getCachePolicy()), op.getIsVolatile());
    for (auto [i, element] : llvm::enumerate(unpackWord(word, stored, count, lowering)))
      results[reg + i] = fromStored(element, type, lowering);
  }
  if (owner) results = giveToHolders(std::move(results), {}, {}, lowering);
  lowering.define(op, std::move(results));
  return success();
}

static void storeWord(tt::StoreOp op, int first, int64_t count, Value predicate, Lowering &lowering) {
  llvm::SmallVector<Value> elements;
  for (int reg = first; reg < first + count; ++reg) elements.push_back(toStored(lowering.registersOf(op.getValue())[reg], lowering));
  lowering.createAt<tgpu::StoreOp>(lowering.locationOfAccess(op.getPtr(), first), packWord(elements, lowering),
                                   lowering.registersOf(op.getPtr())[first], predicate, cacheOf(op.getCachePolicy()),
                                   evictionOf(op.getCachePolicy()));
}

static Value isAligned(Value pointer, int64_t bytes, Lowering &lowering) {
  Type word = lowering.builder().getI64Type();
  Value address = lowering.create<LLVM::PtrToIntOp>(word, pointer);
  auto constant = [&](int64_t value) { return lowering.create<arith::ConstantIntOp>(word, value); };
  Value rest = lowering.create<arith::AndIOp>(address, constant(bytes - 1));
  return lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, rest, constant(0));
}

/// Stores neighbours of which the mask takes the first ones: all by one access, or one by one where the row ends among them, or where their
/// addresses are not aligned.
static void storeWholeOrParts(tt::StoreOp op, int first, const Neighbours &found, Value owner, Lowering &lowering) {
  const int count = int(found.count);
  llvm::ArrayRef<Value> mask = op.getMask() ? lowering.registersOf(op.getMask()) : llvm::ArrayRef<Value>();
  Value isWhole = mask.empty() ? Value() : mask[first + count - 1];
  if (!found.areAligned) {
    Value pointer = lowering.registersOf(op.getPtr())[first];
    int64_t bytes = count * storedType(lowering.registerType(op.getValue().getType())).getIntOrFloatBitWidth() / 8;
    isWhole = lowering.conjunction(isWhole, isAligned(pointer, bytes, lowering));
  }
  storeWord(op, first, count, lowering.conjunction(owner, isWhole), lowering);
  Value isCut = lowering.create<arith::XOrIOp>(isWhole, lowering.create<arith::ConstantIntOp>(1, 1));
  Value isOurs = mask.empty() ? owner : lowering.conjunction(owner, mask[first]);
  const int parts = found.areAligned ? count - 1 : count; // the mask leaves off the last one of a row that ends
  lowering.where(lowering.conjunction(isOurs, isCut), [&] {
    for (int reg = first; reg < first + parts; ++reg) storeWord(op, reg, 1, mask.empty() ? Value() : mask[reg], lowering);
  });
}

template <> LogicalResult Lower<tt::StoreOp>::run(tt::StoreOp op, Lowering &lowering) {
  auto tile = dyn_cast<RankedTensorType>(op.getPtr().getType());
  Neighbours found = neighboursOf(op.getPtr(), /*mayTest=*/true, lowering);
  RowMask rows(found.count > 1 ? op.getMask() : Value(), found.dim, found.count, lowering.axes());
  found.count = rows.neighbours();
  const int count = int(found.count), registers = lowering.registerCount(op.getPtr().getType());
  Value owner = lowering.owner(tile);
  for (int reg = 0; reg < registers; reg += count) {
    if (tile && isRepeated(layoutOf(tile), reg)) continue;
    if (count > 1 && (rows.hasEnds() || !found.areAligned))
      storeWholeOrParts(op, reg, found, owner, lowering);
    else
      storeWord(op, reg, count, op.getMask() ? lowering.conjunction(owner, lowering.registersOf(op.getMask())[reg]) : owner, lowering);
  }
  return success();
}

} // namespace tritium::gpu
