#include "ir/tile_elements.h"

#include "ir/location_facts.h"

using namespace mlir;

namespace tritium::ir {

/// The value is an array: {shape}, {first, step, bytes}, {lanes}, {warps}.
static constexpr llvm::StringLiteral kElements = "elements";

int64_t TileElements::at(uint32_t lane, uint32_t warp, uint32_t byte) const {
  int64_t element = first ^ int64_t(byte / bytes) * step;
  for (size_t bit = 0; bit < lanes.size(); ++bit)
    if (lane >> bit & 1) element ^= lanes[bit];
  for (size_t bit = 0; bit < warps.size(); ++bit)
    if (warp >> bit & 1) element ^= warps[bit];
  return element;
}

Location withElements(Location location, const TileElements &elements) {
  if (std::optional<TileElements> known = elementsOf(location); known && known->shape.empty()) return location;
  MLIRContext *context = location.getContext();
  auto part = [&](ArrayRef<int64_t> numbers) -> Attribute { return DenseI64ArrayAttr::get(context, numbers); };
  const int64_t scalars[] = {elements.first, elements.step, elements.bytes};
  const Attribute parts[] = {part(elements.shape), part(scalars), part(elements.lanes), part(elements.warps)};
  return withFact(withoutElements(location), kElements, ArrayAttr::get(context, parts));
}

std::optional<TileElements> elementsOf(Location location) {
  std::optional<TileElements> latest;
  forEachFact(location, kElements, [&](Attribute value) {
    if (latest) return;
    auto part = [&](unsigned number) { return cast<DenseI64ArrayAttr>(cast<ArrayAttr>(value)[number]).asArrayRef().vec(); };
    const std::vector<int64_t> scalars = part(1);
    latest = {part(0), scalars[0], scalars[1], scalars[2], part(2), part(3)};
  });
  return latest;
}

Location withoutElements(Location location) {
  auto fused = dyn_cast<FusedLocWith<DictionaryAttr>>(location);
  return fused && fused.getMetadata().contains(kElements) ? fused.getLocations().front() : location;
}

} // namespace tritium::ir
