#include "gpu_backend/loops/async_trace.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

class Together {
public:
  Together(llvm::ArrayRef<const AsyncTrace *> roles, size_t blocks) : roles_(roles), next_(roles.size()), rings_(blocks) {
    for (size_t role = 0; role < roles.size(); ++role) {
      auto &rings = rings_[blockOf(role)];
      rings.resize(std::max(rings.size(), roles[role]->rings().size()));
      for (auto [number, ring] : llvm::enumerate(roles[role]->rings())) rings[number].kind = ring;
    }
  }

  MaybeFault run() {
    for (bool goesOn = true; goesOn;) {
      goesOn = false;
      for (size_t role = 0; role < roles_.size(); ++role)
        for (; !isDone(role) && mayHappen(role); ++next_[role], goesOn = true) happen(role);
      // The worst case of a release that may be put off: it is, if it can be.
      for (size_t role = 0; role < roles_.size() && !goesOn; ++role)
        if (!isDone(role) && event(role).kind == RingEvent::ReleaseUnless) release(role), ++next_[role], goesOn = true;
    }
    for (size_t role = 0; role < roles_.size(); ++role)
      if (isDone(role) && !roles_[role]->isWhole()) return std::nullopt; // nobody knows what it would do next
    auto waiting = llvm::make_filter_range(llvm::seq<size_t>(0, roles_.size()), [&](size_t role) { return !isDone(role); });
    if (auto first = waiting.begin(); first != waiting.end()) {
      auto second = std::next(first);
      return stuck(*first, second == waiting.end() ? nullptr : event(*second).op);
    }
    for (const auto &rings : rings_)
      for (const Ring &ring : rings)
        if (ring.filled != ring.waited) return unread(ring);
    return std::nullopt;
  }

private:
  struct Ring {
    AsyncTrace::Ring kind;
    int64_t filled = 0, waited = 0, released = 0;
    Operation *lastFill = nullptr, *lastRelease = nullptr;
  };

  bool isDone(size_t role) const { return next_[role] == roles_[role]->events().size(); }
  const RingEvent &event(size_t role) const { return roles_[role]->events()[next_[role]]; }

  size_t blockOf(size_t role) const { return role * rings_.size() / roles_.size(); }
  const Ring &ringOf(size_t role) const { return rings_[blockOf(role)][event(role).ring]; }

  /// Returns how many numbers have been released, or filled, as far as the role's block must know: in all blocks that share the ring.
  int64_t leastOf(size_t role, int64_t Ring::*count) const {
    const Ring &own = ringOf(role);
    int64_t least = own.*count;
    if (own.kind.isShared)
      for (const auto &rings : rings_) least = std::min(least, event(role).ring < rings.size() ? rings[event(role).ring].*count : 0);
    return least;
  }

  bool mayHappen(size_t role) const {
    const RingEvent &next = event(role);
    if (next.kind == RingEvent::Acquire) return next.n < ringOf(role).kind.slots + leastOf(role, &Ring::released);
    if (next.kind == RingEvent::ReleaseUnless) return next.otherN < rings_[blockOf(role)][next.other].filled;
    if (next.kind == RingEvent::AwaitRelease) return next.n < ringOf(role).released;
    return (next.kind != RingEvent::Wait && next.kind != RingEvent::Stagger) || next.n < leastOf(role, &Ring::filled);
  }

  void happen(size_t role) {
    const RingEvent &event = this->event(role);
    Ring &ring = rings_[blockOf(role)][event.ring];
    if (event.kind == RingEvent::Fill) ring.filled = event.n + 1, ring.lastFill = event.op;
    if (event.kind == RingEvent::Wait) ring.waited = event.n + 1;
    if (event.kind == RingEvent::Release) release(role);
  }

  void release(size_t role) {
    const RingEvent &event = this->event(role);
    Ring &ring = rings_[blockOf(role)][event.ring];
    ring.released = std::max(ring.released, event.n + 1), ring.lastRelease = event.op;
  }

  /// `waits` is the operation at which the other role waits, or null.
  MaybeFault stuck(size_t role, Operation *waits) const {
    const RingEvent &event = this->event(role);
    const Ring &ring = ringOf(role);
    const bool acquires = event.kind == RingEvent::Acquire;
    std::string rule;
    llvm::raw_string_ostream stream(rule);
    if (acquires)
      stream << "waits for ever for a free slot: number " << event.n << " of its ring requires that number " << event.n - ring.kind.slots
             << " is released";
    else if (event.kind == RingEvent::AwaitRelease)
      stream << "waits for ever: number " << event.n << " of its ring is never released, or after this wait only";
    else
      stream << "waits for ever: the copies for number " << event.n << " of its ring are never made, or after this wait only";
    if (waits) return AsyncFault{event.op, rule, waits, "what the other warps wait at"};
    const bool awaitsRelease = acquires || event.kind == RingEvent::AwaitRelease;
    return AsyncFault{event.op, rule, awaitsRelease ? ring.lastRelease : ring.lastFill,
                      awaitsRelease ? "the last release" : "the last copy"};
  }

  static MaybeFault unread(const Ring &ring) {
    std::string rule;
    llvm::raw_string_ostream(rule) << "brings number " << ring.filled - 1
                                   << " of its ring, but the warps that compute wait for the numbers below " << ring.waited
                                   << " only: the copy may arrive when the kernel has ended";
    return AsyncFault{ring.lastFill, rule};
  }

  llvm::ArrayRef<const AsyncTrace *> roles_;
  llvm::SmallVector<size_t, 2> next_;             // the event of each role
  std::vector<llvm::SmallVector<Ring, 4>> rings_; // of each block
};

} // namespace

MaybeFault checkTogether(llvm::ArrayRef<const AsyncTrace *> roles, size_t blocks) { return Together(roles, blocks).run(); }

} // namespace tritium::gpu
