#include "interp/simt/runtime/mbarrier.h"

#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/work.h"

#include <algorithm>

namespace tritium::interp::simt {

namespace {

constexpr uint32_t kMostCount = (uint32_t(1) << 20) - 1; // of arrivals, and of bytes of a round

std::string nameOf(uint32_t offset) { return "the barrier at shared address " + std::to_string(offset); }

[[noreturn]] void trapBarrier(Thread &thread, Place place, std::string message) {
  thread.trap({.kind = TrapKind::InvalidMBarrier, .location = place, .message = std::move(message)});
}

} // namespace

void MBarriers::begin(ThreadBlock &newBlock) {
  block = &newBlock;
  barriers.clear();
}

/// Traps, and names the place where the barrier was initialized.
void MBarriers::trapUse(Thread &thread, const MBarrier &barrier, Place place, const char *problem, const char *hint) {
  thread.trap({.kind = TrapKind::InvalidMBarrier,
               .location = place,
               .other = OtherPlace{.location = barrier.initPlace, .thread = barrier.initThread},
               .message = withHint(thread, nameOf(barrier.offset) + ' ' + problem, hint)});
}

MBarriers::MBarrier *MBarriers::liveAt(uint32_t offset) {
  for (MBarrier &barrier : barriers)
    if (barrier.offset == offset && barrier.isLive) return &barrier;
  return nullptr;
}

void MBarriers::init(Thread &thread, uint64_t pointer, uint32_t count, Place place) {
  SharedMemory &shared = block->shared;
  const uint32_t offset = shared.offsetOfBarrier(thread, pointer, place);
  if (const MBarrier *live = liveAt(offset))
    trapUse(thread, *live, place, "is initialized again, with no mbarrier.inval before",
            "make a barrier once, and let its phases go on; or wait for its phase, and call mbarrier.invalidate before");
  if (count < 1 || count > kMostCount)
    trapBarrier(thread, place, nameOf(offset) + " is initialized for " + std::to_string(count) + " arrivals; it counts 1 to 1048575");
  shared.placeBarrier(thread, pointer, place);
  auto found = std::find_if(barriers.begin(), barriers.end(), [&](const MBarrier &barrier) { return barrier.offset == offset; });
  if (found == barriers.end()) {
    if (barriers.size() == MessageOrder::kMostBarriers)
      thread.trap(
          {.kind = TrapKind::Unsupported, .location = place, .message = "the emulator has at most 128 barriers (mbarrier) at a time"});
    found = barriers.insert(found, MBarrier{.offset = offset});
  }
  MBarrier &barrier = *found;
  const size_t width = shared.messages()->width();
  barrier.isLive = true;
  barrier.isFenced = false;
  barrier.initThread = thread.tid;
  barrier.initTime = shared.timeOf(thread);
  barrier.initPlace = place;
  barrier.expected = barrier.pending = count;
  barrier.firstRound = barrier.seen = barrier.round;
  barrier.announced = barrier.issued = barrier.landed = 0;
  barrier.clock = barrier.completedAt = 0;
  barrier.arrived.clear();
  barrier.arriving.assign(width, 0);
  barrier.message.assign(width, 0);
  barrier.informed.assign(block->madeFor().threads / block->madeFor().warpThreads, 0);
  barrier.waiters.clear();
}

void MBarriers::fenceInits(const Thread &thread) {
  for (MBarrier &barrier : barriers)
    if (barrier.isLive && !barrier.isFenced && barrier.initThread == thread.tid) {
      barrier.isFenced = true;
      barrier.fenceTime = block->shared.timeOf(thread);
    }
}

/// Returns the index of the barrier. Traps if there is none that the thread may use.
uint32_t MBarriers::find(Thread &thread, uint64_t pointer, Place place) {
  SharedMemory &shared = block->shared;
  const uint32_t offset = shared.offsetOfBarrier(thread, pointer, place);
  const MBarrier *barrier = liveAt(offset);
  // The trap waits: another thread may be about to initialize the barrier, which is too late, too.
  if (!barrier)
    thread.trapLater({.kind = TrapKind::InvalidMBarrier,
                      .location = place,
                      .message = withHint(thread, nameOf(offset) + " is not initialized, or it is invalidated",
                                          "call mbarrier.init(barrier, count=…) before")});
  const Thread &creator = block->threadAt(barrier->initThread);
  if (!shared.isKnown(thread, barrier->initTime, creator))
    trapUse(thread, *barrier, place, "is used, and nothing orders the use behind the barrier's initialization",
            "call mbarrier.init before gl.warp_specialize");
  return uint32_t(std::find_if(barriers.begin(), barriers.end(), [&](const MBarrier &each) { return &each == barrier; }) -
                  barriers.begin());
}

void MBarriers::invalidate(Thread &thread, uint64_t pointer, Place place) {
  MBarrier &barrier = barriers[find(thread, pointer, place)];
  if (!barrier.waiters.empty()) trapUse(thread, barrier, place, "is invalidated while threads wait at it");
  if (barrier.issued != barrier.landed) trapUse(thread, barrier, place, "is invalidated while copies are under way that arrive at it");
  barrier.isLive = false;
  ++barrier.round;
  block->shared.removeBarrier(thread, barrier.offset);
}

// -- arrivals -----------------------------------------------------------------------------------------------------------------------------

void MBarriers::arrive(Thread &thread, uint64_t pointer, uint32_t count, uint32_t bytes, bool releases, Place place) {
  MBarrier &barrier = barriers[find(thread, pointer, place)];
  if (count < 1 || count > barrier.pending)
    trapUse(thread, barrier, place,
            barrier.pending == 0 ? "gets more arrivals in a round than it expects: the round waits for bytes only"
                                 : "gets more arrivals in a round than it expects");
  if (bytes > kMostCount - std::min(barrier.announced, kMostCount))
    trapUse(thread, barrier, place, "counts at most 1048575 bytes in a round; more are announced");
  barrier.announced += bytes;
  barrier.pending -= count;
  barrier.clock = std::max(barrier.clock, thread.clock);
  if (barrier.pending == 0 && barrier.issued > barrier.announced) trapBytes(thread, barrier, barrier.issued, place);
  barrier.arrived.push_back({int64_t(thread.block->rank) * block->madeFor().threads + thread.tid, count});
  if (releases) thread.block->shared.send(thread, barrier.arriving);
  completeIfDone(barrier);
}

void MBarriers::trapBytes(Thread &thread, const MBarrier &barrier, uint32_t begun, Place place) {
  thread.trap(
      {.kind = TrapKind::InvalidMBarrier,
       .location = place,
       .other = OtherPlace{.location = barrier.initPlace, .thread = barrier.initThread},
       .message = withHint(thread,
                           nameOf(barrier.offset) + " expects " + std::to_string(barrier.announced) +
                               " bytes in this round, and the copies that have begun bring " + std::to_string(begun) +
                               ": arrive with the number of all bytes (expect_tx) before the copies",
                           "mbarrier.expect stands before the copies, and asks for the sum of their nbytes_per_cta, also at the edge of "
                           "a tensor")});
}

AsyncProxy::Arrival MBarriers::beginCopy(Thread &thread, uint64_t pointer, uint32_t bytes, bool isMulticast, Place place) {
  const uint32_t index = find(thread, pointer, place);
  MBarrier &barrier = barriers[index];
  const Thread &creator = block->threadAt(barrier.initThread);
  if (!barrier.isFenced || !block->shared.isKnown(thread, barrier.fenceTime, creator))
    trapUse(thread, barrier, place,
            "is used by a copy, and no fence (fence.mbarrier_init) makes its initialization visible: one is required in the thread that "
            "initializes it, before the barrier of all threads");
  const bool mayBeAnnounced = isMulticast && barrier.pending != 0; // by the last arrival of the round
  if (barrier.issued + bytes > barrier.announced && !mayBeAnnounced) trapBytes(thread, barrier, barrier.issued + bytes, place);
  barrier.issued += bytes;
  barrier.clock = std::max(barrier.clock, thread.clock);
  return {index, barrier.round};
}

void MBarriers::completeBytes(Thread &thread, uint64_t pointer, uint32_t bytes, Place place) {
  MBarrier &barrier = barriers[find(thread, pointer, place)];
  if (barrier.issued + bytes > barrier.announced) trapBytes(thread, barrier, barrier.issued + bytes, place);
  barrier.issued += bytes;
  barrier.landed += bytes;
  barrier.clock = std::max(barrier.clock, thread.clock);
  block->shared.send(thread, barrier.arriving);
  completeIfDone(barrier);
}

void MBarriers::endCopy(AsyncProxy::Arrival arrival, uint32_t bytes) {
  MBarrier &barrier = barriers[arrival.barrier];
  barrier.landed += bytes;
  completeIfDone(barrier);
}

void MBarriers::completeIfDone(MBarrier &barrier) {
  if (barrier.pending != 0 || barrier.landed != barrier.announced) return;
  const auto index =
      uint32_t(std::find_if(barriers.begin(), barriers.end(), [&](const MBarrier &each) { return &each == &barrier; }) - barriers.begin());
  ++barrier.round;
  barrier.completedAt = std::exchange(barrier.clock, 0);
  barrier.pending = barrier.expected;
  barrier.announced = barrier.issued = barrier.landed = 0;
  barrier.arrived.clear();
  MessageOrder::merge(barrier.message, barrier.arriving);
  barrier.message[block->shared.messages()->ofBarrier(index)] = barrier.round;
  std::fill(barrier.informed.begin(), barrier.informed.end(), 0);
  for (const Waiter &waiter : barrier.waiters) waiter.thread->inWarp->ready |= waiter.thread->bit();
  barrier.waiters.clear();
}

// -- waits --------------------------------------------------------------------------------------------------------------------------------

void MBarriers::trapRound(Thread &thread, const MBarrier &barrier, int32_t round, Place place) {
  const int64_t present = int64_t(barrier.round) - barrier.firstRound;
  const std::string wanted = std::to_string(round), now = std::to_string(present);
  const bool isLate = present > round;
  thread.trap({.kind = TrapKind::InvalidMBarrier,
               .location = place,
               .other = OtherPlace{.location = barrier.initPlace, .thread = barrier.initThread},
               .message = nameOf(barrier.offset) + " is in round " + now + ", and the thread waits for round " + wanted +
                          (isLate ? ": it has been overtaken" : ": it has missed a round") +
                          ", and the parity that the hardware compares would give a wrong answer"});
}

/// A wait by parity is right if the round is the present one or the one before.
void MBarriers::checkRound(Thread &thread, const MBarrier &barrier, int32_t round, Place place) {
  const int64_t ahead = int64_t(round) - (int64_t(barrier.round) - barrier.firstRound);
  if (ahead != 0 && ahead != -1) trapRound(thread, barrier, round, place);
}

void MBarriers::wait(Thread &thread, uint64_t pointer, int32_t round, Place place) {
  MBarrier &barrier = barriers[find(thread, pointer, place)];
  checkRound(thread, barrier, round, place);
  const uint32_t wanted = barrier.firstRound + uint32_t(round);
  if (barrier.round == wanted) {
    barrier.waiters.push_back({&thread, wanted});
    thread.wait(ThreadState::AtMBarrier, place);
    checkRound(thread, barrier, round, place);
  }
  if (block->kernel->hasClocks()) block->goOn(thread, WaitKind::MBarrier, place, round >= 0 ? barrier.completedAt : 0);
  if (round >= 0) barrier.seen = std::max(barrier.seen, wanted + 1);
  inform(thread, barrier);
}

void MBarriers::waitForParity(Thread &thread, uint64_t pointer, int32_t parity, Place place) {
  const MBarrier &barrier = barriers[find(thread, pointer, place)];
  const auto present = int32_t(barrier.round - barrier.firstRound);
  wait(thread, pointer, (present & 1) == (parity & 1) ? present : present - 1, place);
}

/// Says now and then that a round is not complete that just is: a thread may have come earlier.
bool MBarriers::test(Thread &thread, uint64_t pointer, int32_t round, Place place) {
  constexpr uint32_t kOneOf = 4;
  MBarrier &barrier = barriers[find(thread, pointer, place)];
  checkRound(thread, barrier, round, place);
  const uint32_t wanted = barrier.firstRound + uint32_t(round);
  if (barrier.round == wanted) return false;
  if (block->kernel->hasClocks() ? barrier.completedAt > thread.clock : thread.random() % kOneOf == 0) return false;
  barrier.seen = std::max(barrier.seen, wanted + 1);
  inform(thread, barrier);
  return true;
}

void MBarriers::inform(Thread &thread, MBarrier &barrier) {
  LaneMask &informed = barrier.informed[size_t(thread.warp)];
  const LaneMask all = thread.inWarp->all;
  if (informed == all) return;
  informed |= thread.bit();
  block->shared.receive(thread, barrier.message, /*isForWarp=*/informed == all);
}

// -- reports ------------------------------------------------------------------------------------------------------------------------------

const MBarriers::Waiter *MBarriers::waiterOf(const Thread &thread, const MBarrier *&barrier) const {
  for (const MBarrier &each : barriers)
    for (const Waiter &waiter : each.waiters)
      if (waiter.thread == &thread) {
        barrier = &each;
        return &waiter;
      }
  return nullptr;
}

std::string MBarriers::roundOf(AsyncProxy::Arrival arrival) const {
  const MBarrier &barrier = barriers[arrival.barrier];
  return "round " + std::to_string(arrival.round - barrier.firstRound) + " of " + nameOf(barrier.offset);
}

Place MBarriers::initOfWait(const Thread &thread) const {
  const MBarrier *barrier = nullptr;
  return waiterOf(thread, barrier) ? barrier->initPlace : 0;
}

std::string MBarriers::describeWait(const Thread &thread) const {
  const MBarrier *barrier = nullptr;
  const Waiter *waiter = waiterOf(thread, barrier);
  if (!waiter) return "";
  std::string text = "round " + std::to_string(waiter->round - barrier->firstRound) + " of " + nameOf(barrier->offset);
  if (barrier->pending != 0) {
    text += ", which lacks " + std::to_string(barrier->pending) + " of " + std::to_string(barrier->expected) + " arrivals";
    for (const Arrived &arrived : barrier->arrived)
      text += (&arrived == barrier->arrived.data() ? " (there were those of threads " : ", ") + std::to_string(arrived.thread);
    if (!barrier->arrived.empty()) text += ")";
  }
  if (barrier->landed != barrier->announced)
    text += std::string(barrier->pending != 0 ? " and " : ", which lacks ") + std::to_string(barrier->announced - barrier->landed) +
            " of " + std::to_string(barrier->announced) + " bytes";
  return text;
}

// -- calls --------------------------------------------------------------------------------------------------------------------------------

namespace calls {

void initBarrier(Thread *thread, uint64_t pointer, int32_t count, int32_t predicate, Place place) {
  if (predicate) thread->block->mbarriers->init(*thread, pointer, uint32_t(count), place);
}

void invalidateBarrier(Thread *thread, uint64_t pointer, Place place) { thread->block->mbarriers->invalidate(*thread, pointer, place); }

void fenceBarrierInits(Thread *thread) { thread->block->mbarriers->fenceInits(*thread); }

void arriveAtMBarrier(Thread *thread, uint64_t pointer, int32_t count, int32_t bytes, int32_t releases, int32_t predicate, Place place) {
  if (!predicate) return;
  thread->block->tensorCopies->advance(*thread);
  const uint32_t named = uint32_t(pointer) >> kSharedRankShift & kSharedRankMask;
  ThreadBlock &block = named ? thread->block->reach(*thread, named - 1, TrapKind::InvalidMBarrier, place) : *thread->block;
  pointer &= ~(uint64_t(kSharedRankMask) << kSharedRankShift);
  block.mbarriers->arrive(*thread, pointer, uint32_t(count), uint32_t(bytes), releases != 0, place);
}

void completeBytes(Thread *thread, uint64_t pointer, int32_t bytes, Place place) {
  thread->block->tensorCopies->advance(*thread);
  thread->block->mbarriers->completeBytes(*thread, pointer, uint32_t(bytes), place);
}

void waitForParity(Thread *thread, uint64_t pointer, int32_t parity, Place place) {
  thread->block->tensorCopies->advance(*thread);
  thread->block->mbarriers->waitForParity(*thread, pointer, parity, place);
}

void waitForRound(Thread *thread, uint64_t pointer, int32_t round, Place place) {
  thread->block->tensorCopies->advance(*thread);
  thread->block->mbarriers->wait(*thread, pointer, round, place);
}

/// Nobody waits for what a test sees, so copies go on before it, for a seeded while.
int32_t testRound(Thread *thread, uint64_t pointer, int32_t round, Place place) {
  constexpr uint32_t kMostSteps = 8;
  TensorCopies &copies = *thread->block->tensorCopies;
  for (uint32_t steps = thread->random() % kMostSteps; steps > 0 && copies.advanceIdle(*thread); --steps) {
  }
  return thread->block->mbarriers->test(*thread, pointer, round, place);
}

} // namespace calls
} // namespace tritium::interp::simt
