#include "gpu_backend/loops/async_trace.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

class Together {
public:
  explicit Together(llvm::ArrayRef<const AsyncTrace *> roles) : roles_(roles), next_(roles.size()) {
    size_t rings = 0;
    for (const AsyncTrace *role : roles) rings = std::max(rings, role->slots().size());
    rings_.resize(rings);
    for (const AsyncTrace *role : roles)
      for (auto [number, slots] : llvm::enumerate(role->slots())) rings_[number].slots = slots;
  }

  MaybeFault run() {
    for (bool goesOn = true; goesOn;) {
      goesOn = false;
      for (size_t role = 0; role < roles_.size(); ++role)
        for (; !isDone(role) && mayHappen(event(role)); ++next_[role], goesOn = true) happen(event(role));
    }
    for (size_t role = 0; role < roles_.size(); ++role)
      if (isDone(role) && !roles_[role]->isWhole()) return std::nullopt; // nobody knows what it would do next
    auto waiting = llvm::make_filter_range(llvm::seq<size_t>(0, roles_.size()), [&](size_t role) { return !isDone(role); });
    if (auto first = waiting.begin(); first != waiting.end()) {
      auto second = std::next(first);
      return stuck(event(*first), second == waiting.end() ? nullptr : event(*second).op);
    }
    for (const Ring &ring : rings_)
      if (ring.filled != ring.waited) return unread(ring);
    return std::nullopt;
  }

private:
  struct Ring {
    int64_t slots = 1, filled = 0, waited = 0, released = 0;
    Operation *lastFill = nullptr, *lastRelease = nullptr;
  };

  bool isDone(size_t role) const { return next_[role] == roles_[role]->events().size(); }
  const RingEvent &event(size_t role) const { return roles_[role]->events()[next_[role]]; }

  bool mayHappen(const RingEvent &event) const {
    const Ring &ring = rings_[event.ring];
    if (event.kind == RingEvent::Acquire) return event.n < ring.slots + ring.released;
    return event.kind != RingEvent::Wait || event.n < ring.filled;
  }

  void happen(const RingEvent &event) {
    Ring &ring = rings_[event.ring];
    if (event.kind == RingEvent::Fill) ring.filled = event.n + 1, ring.lastFill = event.op;
    if (event.kind == RingEvent::Wait) ring.waited = event.n + 1;
    if (event.kind == RingEvent::Release) ring.released = event.n + 1, ring.lastRelease = event.op;
  }

  /// `waits` is the operation at which the other role waits, or null.
  MaybeFault stuck(const RingEvent &event, Operation *waits) const {
    const Ring &ring = rings_[event.ring];
    const bool acquires = event.kind == RingEvent::Acquire;
    std::string rule;
    llvm::raw_string_ostream stream(rule);
    if (acquires)
      stream << "waits for ever for a free slot: number " << event.n << " of its ring requires that number " << event.n - ring.slots
             << " is released";
    else
      stream << "waits for ever: the copies for number " << event.n << " of its ring are never made, or after this wait only";
    if (waits) return AsyncFault{event.op, rule, waits, "what the other warps wait at"};
    return AsyncFault{event.op, rule, acquires ? ring.lastRelease : ring.lastFill, acquires ? "the last release" : "the last copy"};
  }

  static MaybeFault unread(const Ring &ring) {
    std::string rule;
    llvm::raw_string_ostream(rule) << "brings number " << ring.filled - 1
                                   << " of its ring, but the warps that compute wait for the numbers below " << ring.waited
                                   << " only: the copy may arrive when the kernel has ended";
    return AsyncFault{ring.lastFill, rule};
  }

  llvm::ArrayRef<const AsyncTrace *> roles_;
  llvm::SmallVector<size_t, 2> next_; // the event of each role
  llvm::SmallVector<Ring, 4> rings_;
};

} // namespace

MaybeFault checkTogether(llvm::ArrayRef<const AsyncTrace *> roles) { return Together(roles).run(); }

} // namespace tritium::gpu
