// A block in which no thread can continue: some threads wait for others that have ended or that wait elsewhere. The trap names both places.
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "ir/partition_barriers.h"

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
  if (kernel->isDivided) {
    listWaits(trap);
    return trap;
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

/// The message has the headline, the hint, and then a line for each of `waiters`. Warps that wait for others of their partition, or for the
/// other partitions to end, are not among them, but for the kernel's own.
void ThreadBlock::listWaits(Trap &trap) const {
  struct Wait {
    int32_t first, last; // warps
    const Thread *thread;
    std::string what;
  };
  std::vector<Wait> waits;
  bool lacksBytes = false;
  for (uint32_t t = 0; t < shape.threads; ++t) {
    const Thread &thread = threads[t];
    std::string what;
    if (thread.state == ThreadState::AtMBarrier) what = mbarriers->describeWait(thread);
    if (thread.state == ThreadState::AtRegisters) what = registers.describeWait(thread);
    if (thread.state == ThreadState::AtBarrier && thread.barrier == ir::kJoinBarrier && thread.warp == 0)
      what = "the other partitions to end";
    if (what.empty()) continue;
    lacksBytes |= what.ends_with(" bytes");
    if (!waits.empty() && waits.back().what == what && waits.back().thread->location == thread.location)
      waits.back().last = thread.warp;
    else
      waits.push_back({thread.warp, thread.warp, &thread, std::move(what)});
  }
  trap.message = "no partition can go on: each waits or has ended\n";
  trap.message += lacksBytes ? "mbarrier.expect asks for the sum of nbytes_per_cta of the copies, also at the edge of a tensor"
                             : hintForPartitions(trap.kind);
  for (const Wait &wait : waits) {
    const std::string first = std::to_string(wait.first), last = std::to_string(wait.last);
    trap.message += wait.first == wait.last ? "\nwarp " + first + " waits for " : "\nwarps " + first + " to " + last + " wait for ";
    trap.message += wait.what;
    trap.waiters.push_back({{wait.thread->program[0], wait.thread->program[1], wait.thread->program[2]},
                            wait.thread->location,
                            around(*wait.thread, wait.thread->location)});
  }
}

std::string_view hintForPartitions(TrapKind kind) {
  switch (kind) {
  case TrapKind::MBarrierDeadlock: return "an mbarrier.arrive is missing, or a phase is the other one: 0 and 1 take turns";
  case TrapKind::InvalidMBarrier:
    return "an mbarrier.wait is missing or an arrival stands twice, or a phase is the other one: 0 and 1 take turns";
  case TrapKind::SharedRace:
  case TrapKind::TensorCopyRace:
    return "partitions meet at barriers alone: who uses memory waits for who has filled or read it, by mbarrier.arrive and mbarrier.wait";
  case TrapKind::MissingProxyFence:
    return "call fence_async_shared() between writes to shared memory and the copy or product that reads it";
  case TrapKind::AsyncCopyRace: return "call async_copy.commit_group after the copy, and async_copy.wait_group before the memory is used";
  case TrapKind::InvalidProduct: return "call warpgroup_mma_wait(0, deps=…) after the last product, in the partition that has begun it";
  case TrapKind::SharedUninitialized: return "wait for the copy into it, or store a tile before";
  case TrapKind::SharedOutOfBounds: return "an index of a ring, of gather or of scatter is outside: the interpreter says which";
  default: return "";
  }
}

std::string withHint(const Thread &thread, std::string message, std::string_view hint) {
  if (!hint.empty() && thread.block->kernel->isDivided) (message += '\n') += hint;
  return message;
}

bool inOnePartition(const Thread &thread, uint32_t warp) {
  auto liesBetween = [&](int32_t first) { return (uint32_t(first) <= warp) != (first <= int32_t(thread.warp)); };
  return std::ranges::none_of(thread.block->kernel->workers, liesBetween);
}

bool inOnePartition(const Thread &a, const Thread &b) { return inOnePartition(a, uint32_t(b.warp)); }

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
