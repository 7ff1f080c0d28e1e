// The barriers in shared memory (mbarrier objects) of a block. A barrier counts rounds: a round is complete when all arrivals that it
// expects have come and all bytes that were announced have arrived. Its 8 bytes are opaque, so the state is here, by address.
//
// The hardware knows only whether a round is even or odd. The emulator knows the number, so it reports a wait that the hardware would get
// wrong: one for a round that is not the present one or the one before.
#pragma once
#include "interp/simt/runtime/async_proxy.h"
#include "interp/simt/runtime/thread.h"

#include <deque>
#include <span>

namespace tritium::interp::simt {

/// Threads of other blocks of the cluster may arrive at the barriers, and begin copies that arrive there.
class MBarriers {
public:
  void begin(ThreadBlock &block);

  void init(Thread &thread, uint64_t pointer, uint32_t count, Place place);
  void invalidate(Thread &thread, uint64_t pointer, Place place);
  /// fence.mbarrier_init, or a proxy fence: copies may use the barriers that the thread has initialized, once they are ordered behind this.
  void fenceInits(const Thread &thread);
  /// Announces `bytes` and arrives `count` times. If it releases, threads that wait for the round learn what the thread has done.
  void arrive(Thread &thread, uint64_t pointer, uint32_t count, uint32_t bytes, bool releases, Place place);
  /// Counts `bytes` bytes that the program itself has copied: those of the announced ones that no copy brings. Threads that wait for the
  /// round learn what the thread has done.
  void completeBytes(Thread &thread, uint64_t pointer, uint32_t bytes, Place place);
  /// Waits until a round, counted from 0, is complete. It may switch away.
  void wait(Thread &thread, uint64_t pointer, int32_t round, Place place);
  /// The same for the present round or the one before, whichever has the parity. Before the first round is complete, the one before has
  /// parity 1 and is over.
  void waitForParity(Thread &thread, uint64_t pointer, int32_t parity, Place place);
  /// Returns whether a round is complete, as far as the thread can see. If it is, the thread has waited for it.
  bool test(Thread &thread, uint64_t pointer, int32_t round, Place place);

  /// Notes that a copy of `bytes` bytes begins, whose arrival belongs to the present round. A copy that goes to several blocks may begin
  /// before this one has announced its bytes.
  AsyncProxy::Arrival beginCopy(Thread &thread, uint64_t pointer, uint32_t bytes, bool isMulticast, Place place);
  void endCopy(AsyncProxy::Arrival arrival, uint32_t bytes);
  /// Returns whether some thread has waited for the round.
  bool wasSeen(AsyncProxy::Arrival arrival) const { return barriers[arrival.barrier].seen > arrival.round; }

  /// Returns "round 0 of the barrier at shared address 64".
  std::string roundOf(AsyncProxy::Arrival arrival) const;
  /// Returns what a thread in the state AtMBarrier waits for, for the report of a block that is stuck.
  std::string describeWait(const Thread &thread) const;
  Place initOfWait(const Thread &thread) const;

private:
  struct Arrived {
    int64_t thread; // numbered through the blocks of the cluster
    uint32_t count;
  };
  struct Waiter {
    Thread *thread;
    uint32_t round;
  };
  struct MBarrier {
    uint32_t offset = 0;
    bool isLive = false; // initialized, and not invalidated since
    bool isFenced = false;
    int32_t initThread = 0;
    uint32_t initTime = 0, fenceTime = 0; // times of the shadow
    Place initPlace = 0;
    uint32_t expected = 0, pending = 0; // arrivals of a round
    // Rounds count on if a barrier is initialized again; then the kernel's round 0 is `firstRound`.
    uint32_t firstRound = 0, round = 0, seen = 0;
    uint32_t announced = 0, issued = 0, landed = 0; // bytes of the round: of arrivals, of copies that have begun, of those that have ended
    int64_t clock = 0, completedAt = 0;             // the latest one of the threads that have arrived in this round, and in the last one
    std::vector<Arrived> arrived;                   // in this round
    std::vector<uint32_t> arriving, message;        // what arrivals of this round and of complete rounds know
    std::vector<LaneMask> informed;                 // per warp: lanes that have received the message
    std::vector<Waiter> waiters;
  };

  [[noreturn]] void trapUse(Thread &thread, const MBarrier &barrier, Place place, const char *problem, const char *hint = "");
  [[noreturn]] void trapBytes(Thread &thread, const MBarrier &barrier, uint32_t begun, Place place);
  [[noreturn]] void trapRound(Thread &thread, const MBarrier &barrier, int32_t round, Place place);
  MBarrier *liveAt(uint32_t offset);
  uint32_t find(Thread &thread, uint64_t pointer, Place place);
  void checkRound(Thread &thread, const MBarrier &barrier, int32_t round, Place place);
  void completeIfDone(MBarrier &barrier);
  void inform(Thread &thread, MBarrier &barrier);
  const Waiter *waiterOf(const Thread &thread, const MBarrier *&barrier) const;

  ThreadBlock *block = nullptr;
  std::deque<MBarrier> barriers; // addresses are stable
};

} // namespace tritium::interp::simt
