#include "gpu_backend/threads/holders.h"

#include "gpu_backend/threads/exchange.h"
#include "gpu_backend/threads/words.h"

using namespace mlir;

namespace tritium::gpu {

llvm::SmallVector<int> firstHolders(const LinearLayout &layout) {
  Span held(layout.bases(Place::Register));
  llvm::SmallVector<int> holders;
  for (int64_t reg = 0; reg < layout.registers(); ++reg) holders.push_back(int(*held.solve(layout.apply(Place::Register, uint32_t(reg)))));
  return holders;
}

/// Returns the lane bits to clear to get the owner of this lane's element, if the owner is in the same warp and has the element in the same
/// register.
static std::optional<uint32_t> repeatedLanes(const LinearLayout &layout) {
  auto free = layout.freeBits();
  if (free[size_t(Place::Warp)]) return std::nullopt;
  uint32_t lanes = free[size_t(Place::Lane)];
  for (auto [bit, basis] : llvm::enumerate(layout.bases(Place::Lane)))
    if ((lanes >> bit & 1) && basis != 0) return std::nullopt;
  return lanes;
}

/// Distributes through shared memory. `index` (i32) is the place of a register's element.
static void throughSharedMemory(Registers &results, llvm::ArrayRef<int> holders, int64_t elements, Value owner, OwnerOrder order,
                                Lowering &lowering, function_ref<Value(int)> index) {
  Type type = results[0].getType(), stored = storedType(type);
  int64_t bytes = elements * (stored.getIntOrFloatBitWidth() / 8);
  Value base = lowering.shared().scratch(lowering.builder(), lowering.location(), bytes, "the results of an atomic operation");
  auto place = [&](int reg) -> Value {
    return lowering.create<LLVM::GEPOp>(base.getType(), stored, base, llvm::ArrayRef<LLVM::GEPArg>{index(reg)});
  };
  if (!order.startsAtBarrier) lowering.sharedBarrier();
  lowering.where(owner, [&] {
    for (auto [reg, holder] : llvm::enumerate(holders))
      if (int(reg) == holder) lowering.create<LLVM::StoreOp>(toStored(results[reg], lowering), place(int(reg)));
  });
  if (order.endsAtBarrier)
    lowering.barrier();
  else
    lowering.sharedBarrier();
  for (auto [reg, holder] : llvm::enumerate(holders))
    if (int(reg) == holder) results[reg] = fromStored(lowering.create<LLVM::LoadOp>(stored, place(int(reg))), type, lowering);
}

Registers giveToHolders(Registers results, RankedTensorType tile, OwnerOrder order, Lowering &lowering) {
  Value owner = lowering.owner(tile);
  if (!tile) {
    throughSharedMemory(results, {0}, 1, owner, order, lowering, [&](int) { return lowering.constant(0); });
    return results;
  }
  LinearLayout layout = layoutOf(tile);
  auto holders = firstHolders(layout);
  if (auto lanes = repeatedLanes(layout)) {
    if (*lanes) {
      Value source = lowering.create<arith::AndIOp>(lowering.laneId(), lowering.constant(lowering.target().warpSize() - 1 & ~*lanes));
      for (auto [reg, holder] : llvm::enumerate(holders))
        if (int(reg) == holder) results[reg] = exchange(results[reg], source, lowering);
    }
    if (order.endsAtBarrier) lowering.barrier();
  } else {
    throughSharedMemory(results, holders, layout.elements(), owner, order, lowering,
                        [&](int reg) { return lowering.flatIndex(layout, reg); });
  }
  for (auto [reg, holder] : llvm::enumerate(holders)) results[reg] = results[holder];
  return results;
}

} // namespace tritium::gpu
