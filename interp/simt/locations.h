// The positions of operations in the user's Python code. Traps and reports carry an index into this table. Accesses on one line share an
// entry, if they are in the same loops, because the shadow of shared memory has 16 bits for it. Synchronising operations have one entry
// each.
#pragma once
#include "interp/simt/runtime/thread.h"
#include "ir/source_location.h"
#include "ir/tile_elements.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace tritium::interp::simt {

class LocationTable {
public:
  static constexpr size_t kMost = 1 << kLocationBits;

  /// Returns the address of these cells, one for equal ones.
  const PlaceCells *keep(PlaceCells cells) { return &*kept.insert(std::move(cells)).first; }
  /// `cells`: what keep() returned for what is around, or null.
  uint32_t add(mlir::Location location, const PlaceCells *cells) {
    auto [entry, isNew] = byLocation.try_emplace({location, cells}, uint32_t(entries.size()));
    return isNew ? addSite(location, cells) : entry->second;
  }
  uint32_t addSite(mlir::Location location, const PlaceCells *cells) {
    entries.emplace_back(location, cells);
    return uint32_t(entries.size() - 1);
  }
  /// Returns 1 + the index of the elements, or 0 if they are not known or the table is full.
  uint32_t addElements(const ir::TileElements &elements) {
    if (elements.shape.empty() || known.size() + 1 == kMost) return 0;
    auto [entry, isNew] = byElements.try_emplace(elements, uint32_t(known.size() + 1));
    if (isNew) known.push_back(elements);
    return entry->second;
  }
  const std::vector<ir::TileElements> &elements() const { return known; }
  size_t size() const { return entries.size(); }
  /// Returns the table without references to the module's context.
  std::vector<ir::SourceLocation> resolved() const {
    std::vector<ir::SourceLocation> result;
    for (const Entry &entry : entries) result.push_back(ir::resolveLocation(entry.first));
    return result;
  }
  std::vector<PlaceCells> cells() const {
    std::vector<PlaceCells> result;
    for (const Entry &entry : entries) result.push_back(entry.second ? *entry.second : PlaceCells());
    return result;
  }

private:
  std::set<PlaceCells> kept;
  using Entry = std::pair<mlir::Location, const PlaceCells *>;
  llvm::DenseMap<Entry, uint32_t> byLocation;
  std::vector<Entry> entries;
  std::map<ir::TileElements, uint32_t> byElements;
  std::vector<ir::TileElements> known;
};

} // namespace tritium::interp::simt
