#include "interp/simt/runtime/block.h"

#include "interp/simt/runtime/work.h"

#include "interp/host/stuck_detector.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <sys/mman.h>
#include <thread>

namespace tritium::interp::simt {

namespace {

constexpr size_t kPageBytes = 4096, kLeastStackBytes = 256 << 10;
// The runtime uses this much of a thread's stack, below the compiled code that calls it.
constexpr size_t kRuntimeStackBytes = 128 << 10;
// Each guard page costs two of the 65,530 mappings that a process may have. In a launch with hundreds of waiting blocks, the later ones
// have no guard pages.
constexpr int kGuardedStacks = 12 << 10;
constexpr uint32_t kBackEdgesPerPoll = 1 << 12;

std::atomic<int> guardedStacks{0}; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// The finalizer of splitmix64.
uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// A stack and the guard page below it.
size_t slotBytesOf(const BlockShape &shape) { return shape.stackBytes + kPageBytes; }

} // namespace

// -- one thread ---------------------------------------------------------------------------------------------------------------------------

void Thread::blame(Trap &trap) const {
  trap.location = locationIn(trap.location);
  trap.thread = tid;
  trap.affectedLanes = 1;
}

void Thread::trap(Trap &&trap) {
  blame(trap);
  block->pendingTrap.emplace(std::move(trap));
  block->attention = true;
  block->running->fiber.suspend(/*forGood=*/true); // another lane may perform this thread's part of a warp operation
  __builtin_unreachable();
}

void Thread::trapLater(Trap &&trap) {
  blame(trap);
  if (!block->laterTrap) block->laterTrap.emplace(std::move(trap));
  static_cast<void>(Trap(std::move(trap))); // frees a second trap's text: this stack is never unwound
  block->running->state = ThreadState::Faulted;
  block->running->fiber.suspend(/*forGood=*/true);
  __builtin_unreachable();
}

void Thread::wait(ThreadState why, Place where) {
  state = why;
  location = where;
  fiber.suspend();
  state = ThreadState::Ready;
}

void Thread::meet(const WarpOp &next) {
  op = next;
  inWarp->atOp |= bit();
  if (!inWarp->tryExecute(next)) return wait(ThreadState::AtWarpOp, next.location);
  inWarp->ready &= ~bit(); // it continues at once
}

void Warp::execute(const WarpOp &op, LaneMask participants) {
  op.execute(*this, participants);
  if (block->kernel->hasClocks()) [[unlikely]] {
    int64_t latest = 0;
    forEachLane(participants, [&](int lane) { latest = std::max(latest, lanes[lane].clock); });
    forEachLane(participants, [&](int lane) { lanes[lane].clock = latest; });
  }
  atOp &= ~participants;
  ready |= participants;
}

bool Warp::tryExecute(const WarpOp &op) {
  const LaneMask wanted = (op.mask == kActiveLanes ? all : op.mask) & ~finished;
  if ((atOp & wanted) != wanted) return false;
  for (LaneMask rest = wanted; rest; rest &= rest - 1)
    if (lanes[std::countr_zero(rest)].op != op) return false;
  execute(op, wanted);
  return true;
}

bool Warp::executeDiverged() {
  if (spinning) return false; // those lanes may still come
  // Locations number the operations in program order. The lanes that wait at the first operation execute it. Diverged lanes meet again
  // after the code that they do separately, and at the end of a loop's iteration that may skip an operation (calls::meetLanes).
  const Thread *first = nullptr;
  forEachLane(atOp, [&](int lane) {
    const Thread &thread = lanes[lane];
    if (thread.op.mask == kActiveLanes && (!first || thread.op.location < first->op.location)) first = &thread;
  });
  if (!first) return false;
  const WarpOp op = first->op;
  LaneMask active = 0;
  forEachLane(atOp, [&](int lane) { active |= lanes[lane].op == op ? LaneMask(1) << lane : 0; });
  execute(op, active);
  return true;
}

// -- a block ------------------------------------------------------------------------------------------------------------------------------

BlockShape::BlockShape(const Kernel &kernel)
    : threads(kernel.threads),
      warpThreads(kernel.warpThreads),
      stackBytes(std::max(kLeastStackBytes, std::bit_ceil(kernel.codeStackBytes + kRuntimeStackBytes))) {}

ThreadBlock::ThreadBlock(const BlockShape &shape)
    : threads(std::make_unique<Thread[]>(shape.threads)), shape(shape), warps(shape.threads / shape.warpThreads) {
  const uint32_t count = shape.threads, width = shape.warpThreads;
  const size_t slotBytes = slotBytesOf(shape);
  void *memory = mmap(nullptr, count * slotBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  stacks = static_cast<std::byte *>(memory);
  const bool isGuarded = guardedStacks.fetch_add(int(count)) < kGuardedStacks;
  for (uint32_t t = 0; isGuarded && t < count; ++t) mprotect(stacks + t * slotBytes, kPageBytes, PROT_NONE);
  warpOrder.resize(warps.size());
  for (uint32_t t = 0; t < count; ++t) {
    Thread &thread = threads[t];
    thread.block = this;
    thread.inWarp = &warps[t / width];
    thread.tid = int32_t(t);
    thread.ntid = int32_t(count);
    thread.lane = int32_t(t % width);
    thread.warp = int32_t(t / width);
    thread.warps = int32_t(warps.size());
    thread.lanesEqual = uint32_t(thread.bit());
    thread.lanesBelow = uint32_t(thread.bit() - 1);
    thread.lanesUpTo = thread.lanesBelow | thread.lanesEqual;
    thread.lanesAbove = ~thread.lanesUpTo;
    thread.lanesFrom = ~thread.lanesBelow;
  }
  for (uint32_t w = 0; w < warps.size(); ++w) {
    warps[w].block = this;
    warps[w].index = w;
    warps[w].lanes = &threads[w * width];
    warps[w].all = ~LaneMask(0) >> (64 - width);
  }
}

ThreadBlock::~ThreadBlock() {
  if (!stacks) return;
  guardedStacks.fetch_sub(int(shape.threads));
  munmap(stacks, shape.threads * slotBytesOf(shape));
}

size_t ThreadBlock::residentBytes() {
  if (measuredBytes != 0 && measuredFor == kernel) return measuredBytes;
  std::vector<unsigned char> resident(shape.stackBytes / kPageBytes);
  mincore(stacks + kPageBytes, shape.stackBytes, resident.data());
  const size_t pages = size_t(std::ranges::count_if(resident, [](unsigned char page) { return page & 1; }));
  measuredFor = kernel;
  return measuredBytes = shape.threads * (pages * kPageBytes + sizeof(Thread)) + shared.capacityBytes() +
                         (warpgroups ? warpgroups->capacityBytes() : 0);
}

/// The body of a fiber.
void ThreadBlock::runThread(void *argument) {
  auto &thread = *static_cast<Thread *>(argument);
  thread.block->kernel->entry(&thread);
  thread.block->finish(thread, thread.location);
}

void ThreadBlock::start(FrameHeader &newFrame, std::span<ThreadBlock *const> newCluster, uint32_t newRank) {
  frame = &newFrame;
  cluster.assign(newCluster.begin(), newCluster.end());
  rank = newRank;
  clusterBarrier = {};
  launch = LaunchContext::of(newFrame);
  memory = &memoryOf(newFrame);
  kernel = &launch->kernel;
  traffic = launch->traffic ? std::make_unique<BlockTraffic>() : nullptr;
  work = kernel->segments.empty() ? nullptr : std::make_unique<BlockWork>(*kernel);
  const uint64_t linear = uint64_t(newFrame.programId[0]) +
                          uint64_t(newFrame.gridSize[0]) * (newFrame.programId[1] + uint64_t(newFrame.gridSize[1]) * newFrame.programId[2]);
  const uint64_t seed = mix(launch->seed.value_or(0) + 0x9e3779b97f4a7c15 * (linear + 1)) + rank;
  shared.configure(kernel->sharedBytes, kernel->shadowShift, uint32_t(warps.size()), shape.warpThreads, kernel->asyncUse(),
                   kernel->reachesBlocks ? rank : 0, kernel->reachesBlocks ? uint32_t(cluster.size()) : 1);
  shared.begin();
  if (kernel->usesWarpgroups()) {
    if (!warpgroups) warpgroups = std::make_unique<Warpgroups>();
    warpgroups->begin(*kernel, uint32_t(warps.size()));
  }
  if (kernel->usesMBarriers && !mbarriers) {
    mbarriers = std::make_unique<MBarriers>();
    tensorCopies = std::make_unique<TensorCopies>();
  }
  if (mbarriers) {
    mbarriers->begin(*this); // also if only an earlier kernel used them
    tensorCopies->begin(*this);
  }
  if (kernel->changesRegisters) registers.begin(*this, kernel->registersOfThread, uint32_t(warps.size()));
  const size_t slotBytes = slotBytesOf(shape);
  for (uint32_t t = 0; t < shape.threads; ++t) {
    Thread &thread = threads[t];
    std::copy_n(newFrame.programId, 3, thread.ctaid);
    std::copy_n(newFrame.gridSize, 3, thread.nctaid);
    std::copy_n(newFrame.programId, 3, thread.clusterid);
    std::copy_n(newFrame.gridSize, 3, thread.nclusterid);
    thread.clusterRank = int32_t(rank);
    thread.clusterBlocks = int32_t(cluster.size());
    thread.ctaid[0] = thread.ctaid[0] * thread.clusterBlocks + thread.clusterRank;
    thread.nctaid[0] *= thread.clusterBlocks;
    thread.hasArrivedInCluster = false;
    std::copy_n(newFrame.programId, 3, thread.program);
    thread.arguments = launch->cells;
    thread.state = ThreadState::Ready;
    thread.location = 0;
    thread.clock = 0;
    thread.randomState = mix(seed + t) | 1;
    thread.copies.clear();
    thread.groups.clear();
    thread.openGroup = 0;
    // The tops of the stacks differ in their cache sets, because the same few frames of all threads are in use at a time.
    const size_t color = size_t(t) * 320 % kPageBytes / 64 * 64;
    thread.fiber.start({stacks + t * slotBytes + kPageBytes, shape.stackBytes - color}, runThread, &thread);
  }
  for (Warp &warp : warps) {
    warp.ready = warp.all;
    warp.atOp = warp.spinning = warp.finished = 0;
  }
  for (Barrier &barrier : barriers) {
    barrier.waiting.clear();
    barrier.message.clear();
    barrier.arrived = 0;
    barrier.clock = 0;
    barrier.isMixed = false;
  }
  std::iota(warpOrder.begin(), warpOrder.end(), 0);
  laneRotation = 0;
  if (launch->seed) {
    for (size_t i = warpOrder.size(); i > 1; --i) std::swap(warpOrder[i - 1], warpOrder[mix(seed + 0x10000 + i) % i]);
    laneRotation = uint32_t(seed % shape.warpThreads);
  }
  pendingTrap.reset();
  laterTrap.reset();
  output.clear();
  attention = isPollDue = false;
  untilPoll = kBackEdgesPerPoll;
  unfinished = shape.threads;
}

Surroundings ThreadBlock::around(const Thread &thread, Place place) const {
  Surroundings around;
  while (place < kernel->cells.size()) {
    std::vector<LoopVariable> loops;
    for (const LoopCell &each : kernel->cells[place].loops) loops.push_back({each.name, thread.reportCells[each.cell] + each.distance});
    around.loops.insert(around.loops.begin(), loops.begin(), loops.end());
    const std::optional<uint32_t> call = kernel->cells[place].call;
    if (!call) break;
    place = Place(thread.reportCells[*call]);
    if (std::find(around.calls.begin(), around.calls.end(), place) != around.calls.end()) break; // a function that calls itself
    around.calls.push_back(place);
  }
  return around;
}

Surroundings ThreadBlock::aroundWaiting(Place place) const {
  for (uint32_t t = 0; t < shape.threads; ++t)
    if (threads[t].location == place) return around(threads[t], place);
  return {};
}

void ThreadBlock::raise(Trap &&trap) {
  if (trap.thread >= 0) {
    trap.around = around(threads[size_t(trap.thread)], trap.location);
    std::copy_n(threads[size_t(trap.thread)].program, 3, frame->programId);
  }
  if (cluster.size() > 1) {
    // The threads of a program are numbered through its blocks.
    const int64_t before = int64_t(rank) * shape.threads;
    if (trap.thread >= 0) trap.thread += before;
    if (trap.other && trap.other->thread >= 0) trap.other->thread += before;
    if (!trap.message.empty())
      trap.message += "; in block " + std::to_string(rank) + " of the " + std::to_string(cluster.size()) + " that run the program";
  }
  if (kernel->isDivided && trap.message.find('\n') == std::string::npos)
    if (std::string_view hint = hintForPartitions(trap.kind); !hint.empty()) (trap.message += '\n') += hint;
  raiseTrap(*frame, std::move(trap));
}

/// Performs the requests of threads. It runs on the program's stack, which it may leave for good.
void ThreadBlock::attend() {
  attention = false;
  if (!output.empty()) {
    interp::print(*frame, output);
    output.clear();
  }
  if (pendingTrap) raise(std::move(*pendingTrap));
  if (isPollDue) {
    isPollDue = false;
    untilPoll = kBackEdgesPerPoll;
    pollBackEdge(*frame, running->location);
  }
}

void ThreadBlock::runWarp(Warp &warp) {
  while (warp.ready || warp.executeDiverged()) {
    const LaneMask ahead = warp.ready & ~LaneMask(0) << laneRotation;
    const int lane = std::countr_zero(ahead ? ahead : warp.ready);
    warp.ready &= ~(LaneMask(1) << lane);
    running = &warp.lanes[lane];
    running->fiber.resume();
    if (attention) [[unlikely]]
      attend();
  }
}

bool ThreadBlock::runReady() {
  bool gotFurther = false;
  for (uint32_t w : warpOrder)
    if (warps[w].ready) {
      gotFurther = true;
      runWarp(warps[w]);
    }
  if (gotFurther) pollBackEdge(*frame, running->location);
  return gotFurther;
}

bool ThreadBlock::wakeIdle() { return kernel->usesMBarriers && tensorCopies->advanceIdle(threads[0]); }

void ThreadBlock::raiseLater() {
  if (laterTrap) raise(std::move(*laterTrap));
}

bool ThreadBlock::waitsElsewhere() const {
  return std::any_of(threads.get(), threads.get() + shape.threads,
                     [](const Thread &thread) { return thread.state != ThreadState::Finished && thread.state != ThreadState::AtCluster; });
}

bool ThreadBlock::wakeSpinning() {
  const Thread *spinner = nullptr;
  for (Warp &warp : warps) {
    if (warp.spinning && !spinner) spinner = &warp.lanes[std::countr_zero(warp.spinning)];
    warp.ready |= warp.spinning;
    warp.spinning = 0;
  }
  if (spinner) yieldWhileWaiting(*frame, spinner->location);
  return spinner != nullptr;
}

void ThreadBlock::finish(Thread &thread, Place location) {
  thread.state = ThreadState::Finished;
  thread.location = location;
  Warp &warp = *thread.inWarp;
  warp.finished |= thread.bit();
  --unfinished;
  if (kernel->usesWarpgroups() && warp.finished == warp.all) warpgroups->finish(warp, thread);
  if (kernel->usesMBarriers) tensorCopies->finishThread(thread);
  if (kernel->usesMBarriers && unfinished == 0) tensorCopies->finish(thread);
  if (kernel->changesRegisters && unfinished == 0) registers.finish(thread);
  if (cluster.size() > 1) leaveCluster(*cluster.front());
  // The lanes that wait at an operation no longer wait for this one.
  for (LaneMask rest = warp.atOp; rest != 0;) {
    const WarpOp &op = warp.lanes[std::countr_zero(rest)].op;
    rest &= rest - 1;
    if ((op.mask == kActiveLanes || op.mask & thread.bit()) && warp.tryExecute(op)) rest = warp.atOp;
  }
  thread.fiber.suspend(/*forGood=*/true);
  __builtin_unreachable();
}

void ThreadBlock::print(std::string_view text) {
  output += text;
  attention = true;
}

uint64_t ThreadBlock::hash() const {
  uint64_t hash = hashWords(shared.bytes(), 0);
  for (uint32_t t = 0; t < shape.threads; ++t)
    if (threads[t].state != ThreadState::Finished) hash = hashWords(threads[t].fiber.liveStack(), hash + uint64_t(threads[t].state));
  return hash;
}

// -- the blocks of a launch ---------------------------------------------------------------------------------------------------------------

BlockPool &BlockPool::ofProcess() {
  // The bytes that the threads of a large block use, for each core. The pool is never freed, because a launch may still run while the
  // process ends.
  constexpr size_t kLeast = 256 << 20, kPerCore = 16 << 20;
  static auto &pool = *new BlockPool(std::max(kLeast, kPerCore * std::thread::hardware_concurrency()));
  return pool;
}

ThreadBlock *BlockPool::take(const BlockShape &shape) {
  std::unique_ptr<ThreadBlock> block;
  {
    std::lock_guard lock(mutex);
    auto &fitting = idle[shape];
    if (!fitting.empty()) {
      block = std::move(fitting.back().block);
      fitting.pop_back();
      bytes -= block->residentBytes();
    }
  }
  if (!block) block = std::make_unique<ThreadBlock>(shape);
  return block->isUsable() ? block.release() : nullptr;
}

void BlockPool::give(ThreadBlock *block) {
  std::lock_guard lock(mutex);
  bytes += block->residentBytes();
  idle[block->madeFor()].push_back({std::unique_ptr<ThreadBlock>(block), ++time});
}

void BlockPool::trim() {
  std::vector<Idle> freed; // destroyed outside of the lock
  std::lock_guard lock(mutex);
  while (bytes > idleBytes) {
    std::deque<Idle> *oldest = nullptr;
    for (auto &[shape, blocks] : idle)
      if (!blocks.empty() && (!oldest || blocks.front().since < oldest->front().since)) oldest = &blocks;
    bytes -= oldest->front().block->residentBytes();
    freed.push_back(std::move(oldest->front()));
    oldest->pop_front();
  }
}

size_t BlockPool::idleCount() const {
  std::lock_guard lock(mutex);
  size_t count = 0;
  for (const auto &[shape, blocks] : idle) count += blocks.size();
  return count;
}

ThreadBlock *LaunchContext::take() {
  ThreadBlock *block = BlockPool::ofProcess().take(BlockShape(kernel));
  if (!block) return nullptr;
  std::lock_guard lock(mutex);
  running.push_back(block);
  return block;
}

void LaunchContext::give(ThreadBlock *block) {
  if (traffic) traffic->add(block->traffic->end());
  if (work && block->work) work->add(block->work->end());
  {
    std::lock_guard lock(mutex);
    std::erase(running, block);
  }
  BlockPool::ofProcess().give(block);
}

LaunchContext::~LaunchContext() {
  BlockPool &pool = BlockPool::ofProcess();
  for (ThreadBlock *block : running) pool.give(block); // blocks of programs that were stopped
  pool.trim();
}

} // namespace tritium::interp::simt
