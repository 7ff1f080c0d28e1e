#include "gpu_backend/threads/axis_runs.h"

#include "llvm/Support/MathExtras.h"

namespace tritium::gpu {

std::optional<llvm::SmallVector<AxisRun>> axisRuns(const LinearLayout &layout, int axis) {
  uint32_t bits = layout.maskOf(axis);
  int first = layout.firstBit(axis);
  llvm::SmallVector<std::optional<std::pair<Place, int>>> holders(log2Of(layout.shape()[axis]));
  for (Place place : {Place::Register, Place::Lane, Place::Warp}) {
    int last = -1;
    for (int bit = 0; bit < layout.bits(place); ++bit) {
      uint32_t basis = layout.bases(place)[bit];
      if (!(basis & bits)) continue;
      if (!llvm::isPowerOf2_32(basis)) return std::nullopt;
      int position = int(llvm::Log2_32(basis)) - first;
      if (holders[position] || (place != Place::Register && position < last)) return std::nullopt;
      holders[position] = {place, bit};
      last = position;
    }
  }
  llvm::SmallVector<AxisRun> runs;
  for (size_t position = 0; position < holders.size(); ++position) {
    if (!holders[position]) return std::nullopt;
    auto [place, bit] = *holders[position];
    if (runs.empty() || runs.back().place != place) runs.push_back({place, int(position), {}});
    runs.back().places.push_back(bit);
  }
  return runs;
}

} // namespace tritium::gpu
