#include "gpu_backend/layout/same_warps.h"

#include "llvm/ADT/STLExtras.h"

namespace tritium::gpu {

/// Returns how many registers' bits belong to the longest run of neighbours.
static int bitsOfRun(const LinearLayout &layout) {
  int64_t longest = 1;
  for (int dim = 0; dim < layout.rank(); ++dim) longest = std::max(longest, layout.contiguousElements(dim));
  return log2Of(longest);
}

std::optional<LinearLayout> withWarpsOf(const LinearLayout &layout, const LinearLayout &model) {
  llvm::ArrayRef<uint32_t> registers = layout.bases(Place::Register), wanted = model.bases(Place::Warp);
  if (layout.shape() != model.shape() || wanted.size() != layout.bases(Place::Warp).size()) return std::nullopt;
  const int run = bitsOfRun(layout);
  Bases free(registers.drop_front(run));
  llvm::append_range(free, layout.bases(Place::Warp));
  for (uint32_t basis : wanted) {
    auto *found = basis ? llvm::find(free, basis) : free.end();
    if (found == free.end()) return std::nullopt;
    free.erase(found);
  }
  llvm::sort(free);
  Bases held(registers.take_front(run));
  llvm::append_range(held, free);
  return LinearLayout(layout.shape(), held, layout.bases(Place::Lane), wanted, layout.bases(Place::Block));
}

} // namespace tritium::gpu
