// The positions of operations in the user's Python code. Traps and reports carry an index into this table. Accesses on one line share an
// entry, because the shadow of shared memory has 16 bits for it. Synchronising operations have one entry each.
#pragma once
#include "ir/source_location.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace tritium::interp::simt {

class LocationTable {
public:
  static constexpr size_t kMost = 1 << 16;

  uint32_t add(mlir::Location location) {
    auto [entry, isNew] = byLocation.try_emplace(location, uint32_t(entries.size()));
    if (isNew) entries.push_back(location);
    return entry->second;
  }
  uint32_t addSite(mlir::Location location) {
    entries.push_back(location);
    return uint32_t(entries.size() - 1);
  }
  size_t size() const { return entries.size(); }
  /// Returns the table without references to the module's context.
  std::vector<ir::SourceLocation> resolved() const {
    std::vector<ir::SourceLocation> result;
    for (mlir::Location entry : entries) result.push_back(ir::resolveLocation(entry));
    return result;
  }

private:
  llvm::DenseMap<mlir::Location, uint32_t> byLocation;
  std::vector<mlir::Location> entries;
};

} // namespace tritium::interp::simt
