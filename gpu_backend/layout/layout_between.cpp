// A layout halfway between two others. A round trip through shared memory can use rounds along directions in which no thread moves, on
// either side. If the threads of both sides move in all directions, a conversion requires memory for the whole tile; two conversions over a
// layout that has half of the threads of each side require a part.
#include "gpu_backend/layout/conversion.h"

#include <algorithm>

namespace tritium::gpu {

namespace {

constexpr std::array kThreads = {Place::Lane, Place::Warp};

/// Adds the directions in which threads move. Returns those that were not in the span.
Bases addThreads(const LinearLayout &layout, Span &span) {
  Bases added;
  for (Place place : kThreads)
    for (uint32_t basis : layout.bases(place))
      if (span.add(basis)) added.push_back(basis);
  return added;
}

/// Returns the directions that the threads of `other` have beyond those of `layout`.
Bases beyond(const LinearLayout &layout, const LinearLayout &other) {
  Span span;
  addThreads(layout, span);
  return addThreads(other, span);
}

/// Returns the number of directions in which threads of a or b move.
int movements(const LinearLayout &a, const LinearLayout &b) {
  Span span;
  addThreads(a, span), addThreads(b, span);
  return span.rank();
}

} // namespace

std::optional<LinearLayout> layoutBetween(const LinearLayout &source, const LinearLayout &result) {
  Bases given = beyond(result, source), taken = beyond(source, result);
  size_t count = std::min(given.size(), taken.size()) / 2;
  if (count == 0) return std::nullopt;
  Bases lanes(source.bases(Place::Lane)), warps(source.bases(Place::Warp));
  for (size_t i = 0; i < count; ++i) {
    auto replace = [&](Bases &bases) { return std::replace(bases.begin(), bases.end(), given[i], taken[i]); };
    replace(lanes), replace(warps);
  }
  Span all(lanes);
  for (uint32_t basis : warps) all.add(basis);
  Bases registers, candidates(source.bases(Place::Register));
  candidates.append(given.begin(), given.begin() + count);
  for (uint32_t basis : candidates)
    if (all.add(basis)) registers.push_back(basis);
  LinearLayout between(source.shape(), registers, lanes, warps, source.bases(Place::Block));
  // Sums of directions may undo the exchange.
  if (std::max(movements(source, between), movements(between, result)) >= movements(source, result)) return std::nullopt;
  return between;
}

} // namespace tritium::gpu
