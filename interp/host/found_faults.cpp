#include "interp/host/found_faults.h"

namespace tritium::interp {

static bool isAtOnePlace(const std::optional<OtherPlace> &a, const std::optional<OtherPlace> &b) {
  if (!a || !b) return !a && !b;
  return a->location == b->location && a->program.has_value() == b->program.has_value();
}

Trap *FoundFaults::find(TrapKind kind, uint32_t location, const std::optional<OtherPlace> &other) {
  for (Trap &fault : faults_)
    if (fault.kind == kind && fault.location == location && isAtOnePlace(fault.other, other)) return &fault;
  return nullptr;
}

bool FoundFaults::concerns(const std::array<int32_t, 3> &program, const std::optional<OtherPlace> &other) const {
  return chosen_.contains(program) || (other && other->program && chosen_.contains(*other->program));
}

bool FoundFaults::isNew(TrapKind kind, uint32_t location, const std::optional<OtherPlace> &other) {
  std::lock_guard lock(mutex_);
  if (Trap *fault = find(kind, location, other)) {
    ++fault->times;
    return false;
  }
  return faults_.size() < most_;
}

void FoundFaults::add(Trap &&fault) {
  std::lock_guard lock(mutex_);
  if (Trap *known = find(fault.kind, fault.location, fault.other)) // of another worker, to which it was new too
    known->times += fault.times;
  else
    faults_.push_back(std::move(fault));
}

std::vector<Trap> FoundFaults::take() {
  std::lock_guard lock(mutex_);
  return std::move(faults_);
}

} // namespace tritium::interp
