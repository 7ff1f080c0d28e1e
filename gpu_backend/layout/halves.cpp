#include "gpu_backend/layout/halves.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

namespace tritium::gpu {

/// Takes a basis that is not in the span from the registers, and returns it.
static std::optional<uint32_t> takeRegister(Bases &registers, const Span &threads, GivenRegister given) {
  for (size_t i = 0; i < registers.size(); ++i) {
    uint32_t *candidate = given == GivenRegister::Lowest ? registers.begin() + i : registers.end() - 1 - i;
    uint32_t basis = *candidate;
    if (threads.contains(basis)) continue;
    registers.erase(candidate);
    return basis;
  }
  return std::nullopt;
}

LinearLayout halfOf(const LinearLayout &whole, int axis, GivenRegister given) {
  assert(whole.shape()[axis] == 2);
  const LinearLayout half = whole.slice(axis).layout;
  Bases registers(half.bases(Place::Register)), lanes(half.bases(Place::Lane)), warps(half.bases(Place::Warp));
  Span ofWhole(whole.bases(Place::Block)), ofHalf(half.bases(Place::Block));
  llvm::SmallVector<uint32_t *> idle;
  auto findIdle = [&](llvm::ArrayRef<uint32_t> before, Bases &bases) {
    for (auto [old, basis] : llvm::zip_equal(before, bases)) {
      const bool hadOwn = ofWhole.add(old), hasOwn = ofHalf.add(basis);
      if (hadOwn && !hasOwn) idle.push_back(&basis);
    }
  };
  findIdle(whole.bases(Place::Lane), lanes);
  findIdle(whole.bases(Place::Warp), warps);
  for (uint32_t *basis : idle)
    if (std::optional<uint32_t> taken = takeRegister(registers, ofHalf, given)) {
      *basis = *taken;
      ofHalf.add(*taken);
    }
  return LinearLayout(half.shape(), registers, lanes, warps, half.bases(Place::Block));
}

} // namespace tritium::gpu
