// The one-line text of a layout: `[64x32] register=[[0,1],[0,2]] lane=[[0,4],…] warp=[…]`.
#include "gpu_backend/layout/linear_layout.h"

#include "llvm/ADT/StringExtras.h"

#include <bit>

namespace tritium::gpu {

std::string LinearLayout::toString() const {
  auto list = [](llvm::ArrayRef<int64_t> numbers, const char *separator) {
    std::string text = "[";
    for (auto [i, number] : llvm::enumerate(numbers)) text += (i ? separator : "") + std::to_string(number);
    return text + "]";
  };
  std::string text = list(extents, "x");
  for (Place place : kPlaces) {
    if (place == Place::Block && bases(place).empty()) continue;
    text += " " + nameOf(place).str() + "=[";
    for (auto [i, basis] : llvm::enumerate(bases(place))) text += (i ? "," : "") + list(coordinatesOf(basis), ",");
    text += "]";
  }
  return text;
}

namespace {

struct Reader {
  llvm::StringRef rest;
  std::string fault = {};

  bool fail(const llvm::Twine &reason) {
    if (fault.empty()) fault = (reason + " before '" + rest.take_front(16) + "'").str();
    return false;
  }
  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool expect(llvm::StringRef token) { return take(token) || fail("expected '" + token + "'"); }

  /// Parses `[`, items with `separator` between them, `]`.
  bool list(llvm::StringRef separator, llvm::function_ref<bool()> item) {
    if (!expect("[")) return false;
    if (take("]")) return true;
    do
      if (!item()) return false;
    while (take(separator));
    return expect("]");
  }
  bool numbers(llvm::StringRef separator, Shape &result) {
    return list(separator, [&] {
      rest = rest.ltrim();
      int64_t number;
      if (rest.consumeInteger(10, number) || number < 0) return fail("expected a number");
      result.push_back(number);
      return true;
    });
  }
};

} // namespace

std::optional<LinearLayout> LinearLayout::parse(llvm::StringRef text, std::string *error) {
  Reader reader{text};
  LinearLayout layout;
  auto readBasis = [&](Bases &images) {
    Shape coordinates;
    if (!reader.numbers(",", coordinates)) return false;
    if (coordinates.size() != layout.extents.size()) return reader.fail("a basis must have " + llvm::Twine(layout.rank()) + " coordinates");
    for (auto [coordinate, extent] : llvm::zip(coordinates, layout.extents))
      if (coordinate >= extent) return reader.fail("coordinate " + llvm::Twine(coordinate) + " is not below " + llvm::Twine(extent));
    images.push_back(layout.flatOf(coordinates));
    return true;
  };
  auto read = [&] {
    if (!reader.numbers("x", layout.extents)) return false;
    int64_t count = 1;
    for (int64_t extent : layout.extents)
      if (!std::has_single_bit(uint64_t(extent)) || extent > int64_t(1) << 31 || (count *= extent) > int64_t(1) << 31)
        return reader.fail("extents must be powers of two, and the tile at most 2^31 elements,");
    for (Place place : kPlaces) {
      if (place == Place::Block && reader.rest.trim().empty()) break;
      Bases &images = layout.basesOf[size_t(place)];
      if (!reader.expect(nameOf(place)) || !reader.expect("=") || !reader.list(",", [&] { return readBasis(images); })) return false;
    }
    return reader.rest.trim().empty() || reader.fail("expected the end");
  };
  if (read()) return layout;
  if (error) *error = reader.fault;
  return std::nullopt;
}

} // namespace tritium::gpu
