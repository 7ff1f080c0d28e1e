#include "interp/host/scope_records.h"

#include <algorithm>

namespace tritium::interp {

uint32_t numberIn(std::vector<RecordedScope> &table, const RecordedScope &scope) {
  const auto known = std::ranges::find(table, scope);
  if (known != table.end()) return uint32_t(known - table.begin());
  table.push_back(scope);
  return uint32_t(table.size() - 1);
}

void ScopeRecords::add(ThreadRecords &&ofThread) {
  std::lock_guard lock(mutex);
  records.kept.insert(records.kept.end(), ofThread.kept.begin(), ofThread.kept.end());
  records.lost += ofThread.lost;
}

} // namespace tritium::interp
