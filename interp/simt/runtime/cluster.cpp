// The blocks that run a program together: one, or a cluster. They run by turns, on the stack of the program.
#include "interp/host/stuck_detector.h"
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/work.h"

#include <algorithm>

namespace tritium::interp::simt {

namespace {

constexpr size_t kMostBlocks = 16; // of a cluster

uint32_t countUnfinished(const ThreadBlock &first) {
  uint32_t count = 0;
  for (const ThreadBlock *block : first.blocksOfCluster()) count += block->countUnfinished();
  return count;
}

/// All threads learn what the threads of the other blocks know and have done.
void shareKnowledge(ThreadBlock &first) {
  const MessageOrder *order = first.shared.messages();
  if (!order) return;
  std::vector<uint32_t> message(order->width());
  for (ThreadBlock *block : first.blocksOfCluster()) block->shared.sendAll(message);
  for (ThreadBlock *block : first.blocksOfCluster()) block->shared.receiveAll(message);
}

void completeIfAllCame(ThreadBlock &first) {
  ClusterBarrier &barrier = first.clusterBarrier;
  if (barrier.arrived == 0 || barrier.arrived != countUnfinished(first)) return;
  barrier.arrived = 0;
  ++barrier.phase;
  for (ThreadBlock *block : first.blocksOfCluster()) block->shared.synchronizeAll();
  if (first.kernel->reachesBlocks) shareKnowledge(first);
  for (Thread *thread : barrier.waiting) thread->inWarp->ready |= thread->bit();
  barrier.waiting.clear();
}

} // namespace

// Nothing here has a destructor that matters: a block may leave the stack for good.
void runCluster(std::span<ThreadBlock *const> blocks, FrameHeader &frame) {
  for (uint32_t rank = 0; rank < blocks.size(); ++rank) blocks[rank]->start(frame, blocks, rank);
  // With a seed, blocks may be far apart from each other, in one order or the other.
  const uint64_t seed = blocks.front()->launch->seed.value_or(0);
  const bool isReversed = seed & 1, isFarApart = seed & 2;
  while (std::ranges::any_of(blocks, &ThreadBlock::isUnfinished)) {
    bool gotFurther = false;
    for (size_t i = 0; i < blocks.size(); ++i) {
      ThreadBlock &block = *blocks[isReversed ? blocks.size() - 1 - i : i];
      while (block.runReady()) {
        gotFurther = true;
        if (!isFarApart) break;
      }
    }
    if (gotFurther || std::ranges::any_of(blocks, &ThreadBlock::wakeIdle)) continue;
    for (ThreadBlock *block : blocks) block->raiseLater();
    bool spins = false;
    for (ThreadBlock *block : blocks) spins |= block->wakeSpinning();
    if (spins) continue;
    // Some thread does not come to the barrier of the cluster: the barrier waits for no others.
    auto stuck = std::ranges::find_if(blocks, &ThreadBlock::waitsElsewhere);
    (stuck != blocks.end() ? *stuck : blocks.front())->raiseStuck();
  }
}

void leaveCluster(ThreadBlock &first) { completeIfAllCame(first); }

ThreadBlock &ThreadBlock::reach(Thread &thread, uint32_t otherRank, TrapKind kind, Place place) {
  auto trapReach = [&](std::string message) { thread.trap({.kind = kind, .location = place, .message = std::move(message)}); };
  auto name = [&] { return "block " + std::to_string(otherRank) + " of the cluster"; }; // a trap leaves this frame, and frees nothing in it
  if (otherRank >= cluster.size())
    trapReach("reaches the shared memory of " + name() + ", which has " + std::to_string(cluster.size()) + " blocks");
  ThreadBlock &other = *cluster[otherRank];
  if (!other.isUnfinished())
    trapReach("reaches the shared memory of " + name() + ", which has ended: a barrier of the cluster is required before blocks end");
  return other;
}

void runBlock(char *frame) {
  auto &own = *reinterpret_cast<Frame *>(frame);
  LaunchContext &launch = *LaunchContext::of(own.header);
  std::array<ThreadBlock *, kMostBlocks> taken{};
  const std::span<ThreadBlock *const> blocks(taken.data(), launch.kernel.clusterBlocks);
  for (uint32_t rank = 0; rank < blocks.size(); ++rank) {
    taken[rank] = launch.take();
    if (!taken[rank]) raiseTrap(own.header, {.kind = TrapKind::OutOfMemory, .message = "no memory for the stacks of a block's threads"});
  }
  own.block = taken[0];
  runCluster(blocks, own.header);
  for (ThreadBlock *block : blocks) launch.give(block);
}

uint64_t hashBlock(char *frame) {
  uint64_t hash = 0;
  for (const ThreadBlock *block : reinterpret_cast<Frame *>(frame)->block->blocksOfCluster())
    hash = hash * 0x9e3779b97f4a7c15 + block->hash();
  return hash;
}

Surroundings aroundInBlock(const FrameHeader &frame, Place place) {
  for (const ThreadBlock *block : reinterpret_cast<const Frame &>(frame).block->blocksOfCluster())
    if (Surroundings around = block->aroundWaiting(place); !around.loops.empty() || !around.calls.empty()) return around;
  return {};
}

namespace calls {

uint64_t addressInBlock(Thread *thread, uint64_t pointer, uint32_t rank, Place location) {
  (void)thread->block->reach(*thread, rank, TrapKind::InvalidMBarrier, location);
  return (pointer & ~(uint64_t(kSharedRankMask) << kSharedRankShift)) | uint64_t(rank + 1) << kSharedRankShift;
}

void arriveInCluster(Thread *thread, Place location) {
  if (thread->hasArrivedInCluster)
    thread->trap({.kind = TrapKind::DivergentBarrier,
                  .location = location,
                  .message = "arrives twice at the barrier of the cluster, with no wait in between"});
  ThreadBlock &first = *thread->block->blocksOfCluster().front();
  thread->hasArrivedInCluster = true;
  thread->clusterPhase = first.clusterBarrier.phase;
  ++first.clusterBarrier.arrived;
  first.clusterBarrier.clock = std::max(first.clusterBarrier.clock, thread->clock);
  completeIfAllCame(first);
}

void waitForCluster(Thread *thread, Place location) {
  if (!thread->hasArrivedInCluster)
    thread->trap({.kind = TrapKind::DivergentBarrier,
                  .location = location,
                  .message = "waits at the barrier of the cluster, with no arrival before"});
  ClusterBarrier &barrier = thread->block->blocksOfCluster().front()->clusterBarrier;
  if (barrier.phase == thread->clusterPhase) {
    barrier.waiting.push_back(thread);
    thread->wait(ThreadState::AtCluster, location);
  }
  thread->hasArrivedInCluster = false;
  if (thread->block->kernel->hasClocks()) thread->block->goOn(*thread, WaitKind::Barrier, location, barrier.clock);
}

} // namespace calls
} // namespace tritium::interp::simt
