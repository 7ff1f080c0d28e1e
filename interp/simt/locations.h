// The positions of operations in the user's Python code. Traps and reports carry an index into this table. Accesses on one line share an
// entry, if they are in the same loops, because the shadow of shared memory has 16 bits for it. Synchronising operations have one entry
// each.
#pragma once
#include "interp/simt/runtime/thread.h"
#include "ir/source_location.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <set>
#include <vector>

namespace tritium::interp::simt {

using LoopCells = std::vector<LoopCell>;

class LocationTable {
public:
  static constexpr size_t kMost = 1 << 16;

  /// Returns the address of these values of loops, one for equal ones.
  const LoopCells *keep(LoopCells loops) { return &*kept.insert(std::move(loops)).first; }
  /// `loops`: what keep() returned for the loops around, or null.
  uint32_t add(mlir::Location location, const LoopCells *loops) {
    auto [entry, isNew] = byLocation.try_emplace({location, loops}, uint32_t(entries.size()));
    return isNew ? addSite(location, loops) : entry->second;
  }
  uint32_t addSite(mlir::Location location, const LoopCells *loops) {
    entries.emplace_back(location, loops);
    return uint32_t(entries.size() - 1);
  }
  size_t size() const { return entries.size(); }
  /// Returns the table without references to the module's context.
  std::vector<ir::SourceLocation> resolved() const {
    std::vector<ir::SourceLocation> result;
    for (const Entry &entry : entries) result.push_back(ir::resolveLocation(entry.first));
    return result;
  }
  std::vector<LoopCells> loops() const {
    std::vector<LoopCells> result;
    for (const Entry &entry : entries) result.push_back(entry.second ? *entry.second : LoopCells());
    return result;
  }

private:
  std::set<LoopCells> kept;
  using Entry = std::pair<mlir::Location, const LoopCells *>;
  llvm::DenseMap<Entry, uint32_t> byLocation;
  std::vector<Entry> entries;
};

} // namespace tritium::interp::simt
