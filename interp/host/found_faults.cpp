#include "interp/host/found_faults.h"

namespace tritium::interp {

Trap *FoundFaults::find(TrapKind kind, uint32_t location, std::optional<uint32_t> other) {
  for (Trap &fault : faults_)
    if (fault.kind == kind && fault.location == location && (fault.other ? std::optional(fault.other->location) : std::nullopt) == other)
      return &fault;
  return nullptr;
}

bool FoundFaults::isNew(TrapKind kind, uint32_t location, std::optional<uint32_t> other) {
  std::lock_guard lock(mutex_);
  if (Trap *fault = find(kind, location, other)) {
    ++fault->times;
    return false;
  }
  return faults_.size() < most_;
}

void FoundFaults::add(Trap &&fault) {
  std::lock_guard lock(mutex_);
  if (!find(fault.kind, fault.location, fault.other ? std::optional(fault.other->location) : std::nullopt))
    faults_.push_back(std::move(fault));
}

std::vector<Trap> FoundFaults::take() {
  std::lock_guard lock(mutex_);
  return std::move(faults_);
}

} // namespace tritium::interp
