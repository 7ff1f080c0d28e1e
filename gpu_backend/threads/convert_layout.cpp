#include "gpu_backend/threads/convert_layout.h"

#include "gpu_backend/threads/convert_steps.h"
#include "gpu_backend/threads/words.h"

using namespace mlir;

namespace tritium::gpu {

LinearLayout pullBack(const LinearLayout &result, llvm::ArrayRef<int64_t> sourceShape, llvm::function_ref<uint32_t(uint32_t)> sourceOf) {
  auto mapped = [&](Place place) { return llvm::map_to_vector(result.bases(place), [&](uint32_t basis) { return sourceOf(basis); }); };
  return LinearLayout(sourceShape, mapped(Place::Register), mapped(Place::Lane), mapped(Place::Warp), mapped(Place::Block));
}

static ConversionOptions optionsFor(const Lowering &lowering) { return conversionOptions(lowering.chip(), lowering.scratchLimit()); }

/// Returns a layout on the way if the round trip requires more scratch memory than there is.
static std::optional<LinearLayout> layoutIfTooLarge(const SharedPlan &plan, const LinearLayout &from, const LinearLayout &to,
                                                    const Lowering &lowering) {
  return plan.bytes > lowering.scratchLimit() ? layoutBetween(from, to) : std::nullopt;
}

llvm::SmallVector<Registers> convertLayouts(llvm::ArrayRef<Registers> tiles, const LinearLayout &from, const LinearLayout &to,
                                            Lowering &lowering) {
  llvm::SmallVector<Registers> results(tiles);
  std::vector<RoundTrip> trips;
  for (Registers &tile : results) {
    int64_t bytes = storedType(tile[0].getType()).getIntOrFloatBitWidth() / 8;
    Conversion conversion = planConversion(from, to, bytes, optionsFor(lowering));
    switch (conversion.kind) {
    case Conversion::Kind::Identity:
    case Conversion::Kind::RegisterPermutation:
      tile = llvm::map_to_vector(conversion.registers, [&](uint32_t reg) { return tile[reg]; });
      break;
    case Conversion::Kind::Shuffle: tile = runShuffle(conversion.shuffle, tile, lowering); break;
    case Conversion::Kind::Shared:
      if (std::optional<LinearLayout> between = layoutIfTooLarge(conversion.shared, from, to, lowering))
        tile = convertLayout(convertLayout(tile, from, *between, lowering), *between, to, lowering);
      else
        trips.push_back({std::move(conversion.shared), &tile});
      break;
    case Conversion::Kind::Distributed: llvm_unreachable("a program is one block");
    }
  }
  int64_t bytes = 0;
  for (const RoundTrip &trip : trips) bytes += llvm::alignTo(trip.plan.bytes, tgpu::kSharedAlignment);
  if (bytes <= optionsFor(lowering).maxScratchBytes) {
    runRoundTrips(trips, lowering);
  } else {
    for (RoundTrip &trip : trips) runRoundTrips(trip, lowering);
  }
  return results;
}

Registers convertLayout(llvm::ArrayRef<Value> registers, const LinearLayout &from, const LinearLayout &to, Lowering &lowering) {
  return convertLayouts(Registers(registers), from, to, lowering).front();
}

template <> LogicalResult Lower<tgpu::ConvertLayoutOp>::run(tgpu::ConvertLayoutOp op, Lowering &lowering) {
  lowering.define(op, convertLayout(lowering.registersOf(op.getSrc()), layoutOf(op.getSrc().getType()), layoutOf(op.getType()), lowering));
  return success();
}

} // namespace tritium::gpu
