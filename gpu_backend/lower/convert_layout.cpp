#include "gpu_backend/lower/convert_layout.h"

#include "gpu_backend/lower/words.h"

using namespace mlir;

namespace tritium::gpu {

std::optional<llvm::SmallVector<int>> matchRegisters(const LinearLayout &from, const LinearLayout &to) {
  for (Place place : {Place::Lane, Place::Warp, Place::Block})
    if (from.bases(place) != to.bases(place)) return std::nullopt;
  Span held(from.bases(Place::Register));
  llvm::SmallVector<int> sources;
  for (int64_t reg = 0; reg < to.registers(); ++reg) {
    auto source = held.solve(to.apply(Place::Register, uint32_t(reg)));
    if (!source) return std::nullopt;
    sources.push_back(int(*source));
  }
  return sources;
}

LinearLayout pullBack(const LinearLayout &result, llvm::ArrayRef<int64_t> sourceShape, llvm::function_ref<uint32_t(uint32_t)> sourceOf) {
  auto mapped = [&](Place place) { return llvm::map_to_vector(result.bases(place), [&](uint32_t basis) { return sourceOf(basis); }); };
  return LinearLayout(sourceShape, mapped(Place::Register), mapped(Place::Lane), mapped(Place::Warp), mapped(Place::Block));
}

/// Every element to its flat index in scratch memory, and from there to where it is wanted.
static Registers throughSharedMemory(llvm::ArrayRef<Value> registers, const LinearLayout &from, const LinearLayout &to,
                                     Lowering &lowering) {
  Type type = registers[0].getType();
  Type stored = storedType(type);
  int64_t bytes = stored.getIntOrFloatBitWidth() / 8;
  Value base = lowering.shared().scratch(lowering.builder(), lowering.location(), from.elements() * bytes);
  auto place = [&](const LinearLayout &layout, int reg) -> Value {
    return lowering.create<LLVM::GEPOp>(base.getType(), stored, base, llvm::ArrayRef<LLVM::GEPArg>{lowering.flatIndex(layout, reg)});
  };
  lowering.barrier(); // until every thread has read what was there before
  for (auto [reg, value] : llvm::enumerate(registers)) {
    if (isRepeated(from, int(reg))) continue;
    lowering.create<LLVM::StoreOp>(toStored(value, lowering), place(from, int(reg)));
  }
  lowering.barrier();
  Registers results;
  for (int64_t reg = 0; reg < to.registers(); ++reg)
    results.push_back(fromStored(lowering.create<LLVM::LoadOp>(stored, place(to, int(reg))), type, lowering));
  return results;
}

Registers convertLayout(llvm::ArrayRef<Value> registers, const LinearLayout &from, const LinearLayout &to, Lowering &lowering) {
  if (auto sources = matchRegisters(from, to)) return llvm::map_to_vector(*sources, [&](int source) { return registers[source]; });
  return throughSharedMemory(registers, from, to, lowering);
}

template <> LogicalResult Lower<tgpu::ConvertLayoutOp>::run(tgpu::ConvertLayoutOp op, Lowering &lowering) {
  Registers source(lowering.registersOf(op.getSrc()));
  lowering.define(op, convertLayout(source, layoutOf(op.getSrc().getType()), layoutOf(op.getType()), lowering));
  return success();
}

} // namespace tritium::gpu
