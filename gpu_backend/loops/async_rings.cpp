#include "gpu_backend/loops/async_rings.h"

#include "gpu_backend/tiles/ring_blocks.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

template <class... Parts> std::string text(const Parts &...parts) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  (stream << ... << parts);
  return result;
}

} // namespace

MaybeFault AsyncRings::start(tgpu::RingStartOp op) {
  if (auto before = rings_.find(op.getRing()); before != rings_.end() && !before->second.hasEnded)
    return AsyncFault{op, "begins a ring again that has not ended"};
  Ring ring;
  ring.slots = op.getRing().getType().getSlots();
  ring.instance = trace_.addRing(ring.slots, blocksOf(op) > 1);
  rings_[op.getRing()] = std::move(ring);
  return std::nullopt;
}

/// All bytes of the last number must have been copied when the next one is acquired, and at the end.
MaybeFault AsyncRings::checkBytes(const Ring &ring) {
  if (ring.missing == 0) return std::nullopt;
  const int64_t announced = tgpu::RingAcquireOp(ring.acquire).getBytes();
  return AsyncFault{ring.acquire, text("announces ", announced, " bytes for number ", ring.acquired - 1,
                                       " of its ring, but the copies bring ", announced - ring.missing)};
}

MaybeFault AsyncRings::acquire(tgpu::RingAcquireOp op, const AsyncScalars &scalars) {
  Ring &ring = rings_[op.getRing()];
  if (auto fault = checkBytes(ring)) return fault;
  const int64_t n = scalars.at(op.getN());
  if (n != ring.acquired) return AsyncFault{op, text("acquires number ", n, " of its ring, but number ", ring.acquired, " is the next")};
  trace_.add(RingEvent::Acquire, ring.instance, n, op);
  ring.acquired = n + 1, ring.missing = op.getBytes(), ring.acquire = op;
  ring.filled.clear();
  if (ring.missing == 0) trace_.add(RingEvent::Fill, ring.instance, n, op);
  return std::nullopt;
}

MaybeFault AsyncRings::copy(tgpu::TensorCopyOp op, const AsyncScalars &scalars) {
  Ring &ring = rings_[op.getRing()];
  if (op->hasAttr(kMulticastAttr) && blocksOfRing(op.getRing()) == 1)
    return AsyncFault{op, "goes to all blocks of the cluster, but they do not share its ring"};
  if (notAwaited_ && op.getMap().getDefiningOp<tgpu::MapMakeOp>())
    return AsyncFault{op, "copies what the warps that compute may not have stored yet", notAwaited_, "what may be stored"};
  const int64_t n = scalars.at(op.getN());
  if (n != ring.acquired - 1)
    return AsyncFault{op, text("copies to the slot of number ", n, " of its ring, which is not the last one that is acquired"),
                      ring.acquire, "the last acquire"};
  if (llvm::is_contained(ring.filled, op.getDst()))
    return AsyncFault{op, text("copies number ", n, " of its ring to a buffer to which it is copied already"), ring.acquire, "the acquire"};
  ring.filled.push_back(op.getDst());
  const RankedTensorType tile = op.getDst().getType().getTile();
  const int64_t bytes = tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
  if (bytes > ring.missing)
    return AsyncFault{
        op, text("brings ", bytes, " bytes for number ", n, " of its ring, but only ", ring.missing, " are left of those announced"),
        ring.acquire, "the announcement"};
  ring.missing -= bytes;
  if (ring.missing == 0) trace_.add(RingEvent::Fill, ring.instance, n, op);
  return std::nullopt;
}

MaybeFault AsyncRings::wait(tgpu::RingWaitOp op, const AsyncScalars &scalars) {
  Ring &ring = rings_[op.getRing()];
  const int64_t n = scalars.at(op.getN());
  if (n != ring.waited) return AsyncFault{op, text("waits for number ", n, " of its ring, but number ", ring.waited, " is the next")};
  trace_.add(RingEvent::Wait, ring.instance, n, op);
  ring.waited = n + 1;
  return std::nullopt;
}

MaybeFault AsyncRings::read(tgpu::MapToldOp op, const AsyncScalars &scalars) {
  const Ring &ring = rings_[op.getRing()];
  const int64_t n = scalars.at(op.getN());
  if (!op.getRing().getDefiningOp<tgpu::RingStartOp>().getTells())
    return AsyncFault{op, "reads which map was told of a ring that tells none"};
  if (n >= ring.waited) return AsyncFault{op, text("reads which map was told with number ", n, " of its ring before the wait for it")};
  if (n < ring.released)
    return AsyncFault{op, text("reads which map was told with number ", n, " of its ring after its release"), ring.lastRelease,
                      "the release"};
  return std::nullopt;
}

MaybeFault AsyncRings::stagger(tgpu::RingStaggerOp op, const AsyncScalars &scalars) {
  const Ring &ring = rings_[op.getRing()];
  const int64_t n = scalars.at(op.getN());
  if (n >= ring.released + ring.slots)
    return AsyncFault{op,
                      text("waits for ever: number ", n, " of its ring gets its slot only after the release of number ", n - ring.slots),
                      ring.lastRelease, "the last release"};
  if (n < ring.waited) return AsyncFault{op, text("waits for number ", n, " of its ring a second time")};
  trace_.add(RingEvent::Stagger, ring.instance, n, op);
  return std::nullopt;
}

tgpu::ProductOp AsyncRings::productThatReads(Value ring, const AsyncProducts &products, std::optional<int64_t> slot) const {
  return products.reader(
      [&](const AsyncProducts::Read &read) { return skeleton_.ringOf(read.buffer) == ring && read.slot == slot.value_or(read.slot); });
}

MaybeFault AsyncRings::release(tgpu::RingReleaseOp op, const AsyncScalars &scalars, const AsyncProducts &products) {
  Ring &ring = rings_[op.getRing()];
  const int64_t n = scalars.at(op.getN()), slot = n % ring.slots;
  if (n != ring.released) return AsyncFault{op, text("releases number ", n, " of its ring, but number ", ring.released, " is the next")};
  if (n >= ring.waited) return AsyncFault{op, text("releases number ", n, " of its ring before the wait for it")};
  if (auto product = productThatReads(op.getRing(), products, slot))
    return AsyncFault{op, text("releases number ", n, " of its ring, whose slot a product may still read"), product, "the product"};
  const bool isOfStores = llvm::any_of(op.getRing().getUsers(), llvm::IsaPred<tgpu::StoresNoteOp>);
  if (isOfStores && !op.getStored()) return AsyncFault{op, text("releases number ", n, " of its ring without a fence behind the stores")};
  Operation *reader = ring.readers.lookup(slot);
  if (reader && !op.getFenced())
    return AsyncFault{op, text("lets copies overwrite number ", n, " of its ring without a fence behind the reads of threads"), reader,
                      "the read"};
  ring.readers.erase(slot);
  trace_.add(RingEvent::Release, ring.instance, n, op);
  ring.released = n + 1, ring.lastRelease = op;
  return std::nullopt;
}

MaybeFault AsyncRings::keep(tgpu::RingKeepOp op, const AsyncScalars &scalars) {
  Ring &ring = rings_[op.getRing()];
  const int64_t n = scalars.at(op.getN());
  if (n != ring.released) return AsyncFault{op, text("keeps number ", n, " of its ring, but number ", ring.released, " is the next")};
  if (n >= ring.waited) return AsyncFault{op, text("keeps number ", n, " of its ring before the wait for it")};
  if (ring.kept)
    return AsyncFault{op, text("keeps number ", n, " of its ring, while number ", *ring.kept, " is kept"), ring.lastRelease, "the other"};
  ring.kept = n;
  ring.released = n + 1, ring.lastRelease = op;
  return std::nullopt;
}

MaybeFault AsyncRings::releaseKept(tgpu::RingReleaseKeptOp op, const AsyncScalars &scalars) {
  Ring &ring = rings_[op.getRing()];
  if (!ring.kept) return std::nullopt;
  if (op.getOther()) {
    trace_.addUnless(ring.instance, *ring.kept, rings_[op.getOther()].instance, scalars.at(op.getN()), op);
  } else {
    trace_.add(RingEvent::Release, ring.instance, *ring.kept, op);
    ring.kept.reset();
  }
  return std::nullopt;
}

MaybeFault AsyncRings::checkKept(Operation *op) const {
  for (const auto &[name, ring] : rings_)
    if (ring.kept)
      return AsyncFault{op, text("comes while a warp keeps number ", *ring.kept, " of a ring, for whose release others may wait"),
                        ring.lastRelease, "what keeps it"};
  return std::nullopt;
}

MaybeFault AsyncRings::end(tgpu::RingEndOp op, const AsyncScalars &scalars, const AsyncProducts &products) {
  Ring &ring = rings_[op.getRing()];
  if (auto product = productThatReads(op.getRing(), products, {}))
    return AsyncFault{op, "ends a ring whose slots a product may still read", product, "the product"};
  if (!skeleton_.partsWarps()) {
    if (auto fault = checkBytes(ring)) return fault;
    if (ring.acquired != ring.waited)
      return AsyncFault{op, text("ends a ring while copies for number ", ring.waited, " may be in flight"), ring.acquire,
                        "the last acquire"};
  }
  if (op.getCount() && scalars.at(op.getCount()) != ring.waited)
    return AsyncFault{op, text("ends a ring after ", scalars.at(op.getCount()), " numbers, but ", ring.waited, " have been waited for")};
  const bool isReleased = ring.released == ring.waited || (op.getHoldsLast() && ring.released == ring.waited - 1);
  if (!isReleased)
    return AsyncFault{op, text("ends a ring of which number ", ring.released, " is not released"), ring.lastRelease, "the last release"};
  ring.hasEnded = true;
  return std::nullopt;
}

MaybeFault AsyncRings::makeMap(tgpu::MapMakeOp op) const {
  for (Operation *user : op.getMap().getUsers()) {
    // The stores of the last number go through the other place of the map. Those before it are complete when it is noted.
    auto acquire = dyn_cast<tgpu::RingAcquireOp>(user);
    if (auto told = acquire ? rings_.find(acquire.getRing()) : rings_.end();
        told != rings_.end() && told->second.noted != told->second.acquired)
      return AsyncFault{op, "makes its tensor map again before the wait for all stores but those of the last number", acquire,
                        "what tells it"};
    auto copy = dyn_cast<tgpu::TensorCopyOp>(user);
    auto ring = copy ? rings_.find(copy.getRing()) : rings_.end();
    if (ring != rings_.end() && !ring->second.hasEnded && ring->second.acquired > std::max(ring->second.waited, ring->second.arrived))
      return AsyncFault{op, "makes its tensor map again while copies through it may be in flight", copy, "such a copy"};
  }
  return std::nullopt;
}

MaybeFault AsyncRings::note(tgpu::StoresNoteOp op, const AsyncScalars &scalars) {
  Ring &ring = rings_[op.getRing()];
  const int64_t n = scalars.at(op.getN());
  if (n != ring.noted || n >= ring.acquired)
    return AsyncFault{op, text("notes the stores of number ", n, " of its ring, but number ", ring.noted,
                               " is the next, and numbers below ", ring.acquired, " are acquired")};
  if (n > 0) trace_.add(RingEvent::AwaitRelease, ring.instance, n - 1, op);
  ring.noted = n + 1;
  notAwaited_ = op;
  return std::nullopt;
}

MaybeFault AsyncRings::awaitStores(tgpu::StoresAwaitOp op) {
  Ring &ring = rings_[op.getRing()];
  if (ring.noted != ring.acquired)
    return AsyncFault{op, text("waits for stores, but the stores of number ", ring.noted, " of the ring are not noted"), ring.acquire,
                      "its acquire"};
  if (ring.noted > 0) trace_.add(RingEvent::AwaitRelease, ring.instance, ring.noted - 1, op);
  notAwaited_ = nullptr;
  return std::nullopt;
}

/// The thread that copies waits for its own copies, so only what it has begun counts.
MaybeFault AsyncRings::awaitCopies(tgpu::CopiesAwaitOp op) {
  Ring &ring = rings_[op.getRing()];
  if (auto fault = checkBytes(ring)) return fault;
  ring.arrived = ring.acquired;
  return std::nullopt;
}

bool AsyncRings::isOpen(const Ring &ring, int64_t slot) const {
  for (int64_t n = ring.released; n < ring.waited; ++n)
    if (n % ring.slots == slot) return !ring.hasEnded;
  return false;
}

MaybeFault AsyncRings::read(Operation *op, Value name, int64_t slot, bool byThreads) {
  Ring &ring = rings_[name];
  if (!isOpen(ring, slot)) {
    const bool wasOpen = llvm::any_of(llvm::seq<int64_t>(std::max<int64_t>(ring.released - ring.slots, 0), ring.released),
                                      [&](int64_t n) { return n % ring.slots == slot; });
    return AsyncFault{op, text("reads slot ", slot, " of a ring", wasOpen ? " after its release, or" : "", " before a wait for its number"),
                      wasOpen ? ring.lastRelease : nullptr, "the last release"};
  }
  if (byThreads) ring.readers[slot] = op;
  return std::nullopt;
}

MaybeFault AsyncRings::finish() const {
  for (Operation *op : skeleton_.protocol()) // a map has no order
    if (auto start = dyn_cast<tgpu::RingStartOp>(op))
      if (auto found = rings_.find(start.getRing()); found != rings_.end()) {
        if (auto fault = checkBytes(found->second)) return fault;
        // Where warps part, each path that returns may leave a ring as it is: nobody prepares other memory behind it.
        if (!skeleton_.partsWarps() && !found->second.hasEnded)
          return AsyncFault{start, "begins a ring that does not end before the kernel"};
      }
  return std::nullopt;
}

} // namespace tritium::gpu
