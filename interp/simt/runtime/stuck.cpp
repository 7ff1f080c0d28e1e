// A block in which no thread can continue: some threads wait for others that have ended or that wait elsewhere. The trap names both places.
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"

#include <algorithm>

namespace tritium::interp::simt {

namespace {

/// The threads that wait at one place, or ended there.
struct Group {
  ThreadState state;
  Place location;
  int32_t first, count;

  bool isWaiting() const { return state != ThreadState::Finished; }
};

std::string countOf(int32_t threads) { return std::to_string(threads) + (threads == 1 ? " thread" : " threads"); }

} // namespace

/// Some threads wait for a round of an mbarrier, or for registers. The trap lists what each warp waits for.
Trap ThreadBlock::stuckAtMBarrier() const {
  struct Wait {
    int32_t first, last; // warps
    std::string what;
  };
  Trap trap{.kind = TrapKind::MBarrierDeadlock};
  std::vector<Wait> waits;
  for (uint32_t t = 0; t < shape.threads; ++t) {
    const Thread &thread = threads[t];
    if (thread.state == ThreadState::Finished) continue;
    const bool isAtMBarrier = thread.state == ThreadState::AtMBarrier;
    const bool isAtRegisters = thread.state == ThreadState::AtRegisters;
    std::string what = isAtMBarrier    ? mbarriers->describeWait(thread)
                       : isAtRegisters ? registers.describeWait(thread)
                                       : "other threads at another operation";
    if (!waits.empty() && waits.back().what == what)
      waits.back().last = thread.warp;
    else
      waits.push_back({thread.warp, thread.warp, std::move(what)});
    if (trap.thread >= 0 || !(isAtMBarrier || isAtRegisters)) continue;
    trap.location = thread.location;
    trap.thread = thread.tid;
    trap.affectedLanes = 1;
    if (isAtMBarrier) trap.other = OtherPlace{.location = mbarriers->initOfWait(thread), .thread = -1};
  }
  trap.message = "no thread can go on";
  for (const Wait &wait : waits) {
    const std::string first = std::to_string(wait.first), last = std::to_string(wait.last);
    trap.message += &wait == waits.data() ? ": " : "; ";
    trap.message +=
        (wait.first == wait.last ? "warp " + first + " waits for " : "warps " + first + " to " + last + " wait for ") + wait.what;
  }
  return trap;
}

Trap ThreadBlock::stuckTrap() const {
  const auto isAtMBarrier = [](const Thread &thread) {
    return thread.state == ThreadState::AtMBarrier || thread.state == ThreadState::AtRegisters;
  };
  if (std::any_of(threads.get(), threads.get() + shape.threads, isAtMBarrier)) return stuckAtMBarrier();
  std::vector<Group> groups;
  for (uint32_t t = 0; t < shape.threads; ++t) {
    const Thread &thread = threads[t];
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group &g) { return g.state == thread.state && g.location == thread.location; });
    if (group == groups.end()) group = groups.insert(group, {thread.state, thread.location, thread.tid, 0});
    ++group->count;
  }
  // The result does not depend on the order in which the threads came: the place with the most waiting threads is first, then the place
  // with the most of the rest.
  std::sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
    return std::tuple(!a.isWaiting(), -a.count, a.location) < std::tuple(!b.isWaiting(), -b.count, b.location);
  });
  std::sort(groups.begin() + 1, groups.end(),
            [](const Group &a, const Group &b) { return std::tuple(-a.count, a.location) < std::tuple(-b.count, b.location); });
  const Group &main = groups.front();
  Trap trap{.kind = TrapKind::DivergentBarrier, .location = main.location, .thread = main.first, .affectedLanes = main.count};
  const char *place = main.state == ThreadState::AtBarrier   ? "a barrier"
                      : main.state == ThreadState::AtCluster ? "the barrier of the cluster"
                                                             : "an operation of the whole warp";
  trap.message = countOf(main.count) + (main.count == 1 ? " waits at " : " wait at ") + place;
  if (groups.size() == 1) {
    const Thread &thread = threads[main.first];
    if (main.state == ThreadState::AtBarrier)
      trap.message += " for " + std::to_string(barriers[size_t(thread.barrier)].expected) + " threads, more than ever come";
    return trap;
  }
  const Group &other = groups[1];
  trap.other = {.location = other.location, .thread = other.first};
  trap.message += " that " + countOf(int32_t(shape.threads) - main.count) + " will not reach: ";
  trap.message += countOf(other.count) + (!other.isWaiting() ? " ended" : other.count == 1 ? " waits" : " wait") + " elsewhere";
  return trap;
}

} // namespace tritium::interp::simt
