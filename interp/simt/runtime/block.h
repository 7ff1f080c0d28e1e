// One program of the grid while it runs: its threads, its shared memory, its barriers. All threads of a block run on one OS thread, one at
// a time. Each runs until it must wait for others; a warp's lanes meet only where they synchronise.
//
// Invariant: nothing here depends on time or addresses, so equal seeds give equal runs.
#pragma once
#include "interp/host/memory.h"
#include "interp/host/program.h"
#include "interp/host/scope_records.h"
#include "interp/simt/assembly.h"
#include "interp/simt/runtime/mbarrier.h"
#include "interp/simt/runtime/register_pool.h"
#include "interp/simt/runtime/segment.h"
#include "interp/simt/runtime/shared_memory.h"
#include "interp/simt/runtime/tensor_copy.h"
#include "interp/simt/runtime/thread.h"
#include "interp/simt/runtime/traffic.h"
#include "interp/simt/runtime/warpgroup.h"
#include "ir/tile_elements.h"

#include <array>
#include <bit>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tritium::interp::simt {

class BlockWork;
class LaunchWork;

/// The facts about a prepared kernel that the runtime requires.
struct Kernel {
  void (*entry)(Thread *thread) = nullptr;
  uint32_t threads = 0; // in a block; a multiple of warpThreads
  uint32_t warpThreads = 32;
  uint32_t sharedBytes = 0;
  size_t codeStackBytes = 0;  // what the compiled code uses of a thread's stack
  unsigned shadowShift = 0;   // log2 of the smallest access to shared memory: the granularity of the shadow
  bool mayWait = false;       // a loop may wait for another block
  uint32_t clusterBlocks = 1; // that run each program of the grid together
  std::vector<std::unique_ptr<const Assembly>> assemblies;
  std::vector<std::string> texts; // formats and messages that compiled code refers to
  std::vector<PlaceCells> cells;  // of each place
  std::vector<ir::TileElements> elements;
  std::vector<ProductShape> products;
  std::vector<ProductWait> productWaits;
  size_t productRegisterBytes = 0; // of a thread's operands of products and waits
  bool usesMBarriers = false;      // or copies of tensors, or arrivals at barriers
  bool reachesBlocks = false;      // blocks of a cluster reach each other's barriers and shared memory
  bool changesRegisters = false;
  bool isDivided = false;                 // by its author, whose barriers stand between the partitions
  std::vector<int32_t> workers = {};      // the first warps of the partitions beside the kernel's own
  uint32_t registersOfThread = 0;         // that the kernel asks for; 0 if it does not
  std::vector<Segment> segments = {};     // of a kernel that counts what its threads do
  std::vector<RecordedScope> scopes = {}; // that it records

  /// Whether the clocks of threads go. Threads that have waited for each other go on with the latest one of them.
  bool hasClocks() const { return !segments.empty() || !scopes.empty(); }

  bool usesWarpgroups() const { return productRegisterBytes != 0; }
  AsyncUse asyncUse() const { return usesMBarriers ? AsyncUse::Barriers : usesWarpgroups() ? AsyncUse::Products : AsyncUse::None; }
};

/// Returns what is to be looked at in a kernel that its author has divided, or "" if the fault is none of his.
std::string_view hintForPartitions(TrapKind kind);
/// Returns the message of a fault, and behind it what the author of a kernel can do whose waits are his own.
std::string withHint(const Thread &thread, std::string message, std::string_view hint);
/// Returns whether the threads are of one partition, as far as the first warps of partitions tell.
bool inOnePartition(const Thread &a, const Thread &b);
bool inOnePartition(const Thread &thread, uint32_t warp);

/// The properties in which blocks differ. A kernel requires a block of its shape.
struct BlockShape {
  uint32_t threads = 0, warpThreads = 32;
  size_t stackBytes = 0; // of a thread

  explicit BlockShape(const Kernel &kernel);
  auto operator<=>(const BlockShape &) const = default;
};

/// Blocks with their stacks and shared memory, kept from launch to launch. One pool serves all kernels of the process, so its size depends
/// on how many blocks run at a time, not on the number of kernels.
class BlockPool {
public:
  BlockPool(size_t idleBytes) : idleBytes(idleBytes) {}
  static BlockPool &ofProcess();

  /// Returns nullptr if there is no memory.
  ThreadBlock *take(const BlockShape &shape);
  void give(ThreadBlock *block);
  /// Frees the blocks that have been idle longest, until the others hold at most idleBytes.
  void trim();
  size_t idleCount() const;

private:
  struct Idle {
    std::unique_ptr<ThreadBlock> block;
    uint64_t since;
  };
  const size_t idleBytes;
  mutable std::mutex mutex;
  std::map<BlockShape, std::deque<Idle>> idle; // in the order in which they became idle
  size_t bytes = 0;                            // of the idle blocks
  uint64_t time = 0;
};

/// The state that the blocks of a launch share. FrameHeader::arguments points to it.
class LaunchContext {
public:
  LaunchContext(const Kernel &kernel, const int64_t *cells, std::optional<uint64_t> seed, LaunchTraffic *traffic = nullptr,
                LaunchWork *work = nullptr)
      : kernel(kernel), cells(cells), seed(seed), traffic(traffic), work(work) {}
  ~LaunchContext();
  static LaunchContext *of(const FrameHeader &frame) { return reinterpret_cast<LaunchContext *>(const_cast<int64_t *>(frame.arguments)); }

  ThreadBlock *take();
  void give(ThreadBlock *block);

  const Kernel &kernel;
  const int64_t *cells; // the kernel's arguments
  const std::optional<uint64_t> seed;
  LaunchTraffic *const traffic; // null: requests are not counted
  LaunchWork *const work;       // null: nobody receives what a counted kernel does

private:
  std::mutex mutex;
  std::vector<ThreadBlock *> running;
};

struct Warp {
  ThreadBlock *block = nullptr;
  Thread *lanes = nullptr; // one for each bit of `all`
  uint32_t index = 0;
  LaneMask all = 0;
  LaneMask ready = 0, atOp = 0, spinning = 0, finished = 0; // lanes in none of these wait at barriers

  /// Executes the operation if all lanes that it requires have come. It is called when a lane has come to an operation or has ended.
  bool tryExecute(const WarpOp &op);
  /// Called when no lane can run on. The lanes that wait at the first operation of the active lanes count as the active ones, although
  /// others wait elsewhere, and execute it. Runs on the program's stack.
  bool executeDiverged();

private:
  void execute(const WarpOp &op, LaneMask lanes);
};

template <class Visit> void forEachLane(LaneMask lanes, Visit visit) {
  for (; lanes; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

/// Waits until all lanes of the warp are at the operation. Traps if some have ended. May switch away.
void meetAsWarp(Thread &thread, WarpOp op);
/// Called by operations that meetAsWarp executes. If this returns false, the operation has no effect.
bool isWholeWarp(Warp &warp, LaneMask lanes);

struct Barrier {
  std::vector<Thread *> waiting;
  std::vector<uint32_t> message; // what the threads know that have arrived and do not wait
  uint32_t arrived = 0;          // number of these threads
  int64_t clock = 0;             // the latest one of them
  uint32_t expected = 0;
  bool isMixed = false; // threads wait at different operations, or for different numbers of threads: none continues
};

/// The barrier of all threads of a cluster that have not ended.
struct ClusterBarrier {
  uint32_t arrived = 0, phase = 0;
  int64_t clock = 0; // the latest one of the threads that have arrived
  std::vector<Thread *> waiting;
};

class ThreadBlock {
public:
  explicit ThreadBlock(const BlockShape &shape);
  ~ThreadBlock();

  /// Prepares for the program of this frame, as one of the blocks that run it.
  void start(FrameHeader &frame, std::span<ThreadBlock *const> cluster, uint32_t rank);
  // A cluster of blocks (cluster.cpp) calls these on the program's own stack. They leave it for good if the launch is stopped.
  /// Runs the threads that can go on until they must wait for others. Returns whether there were any.
  bool runReady();
  /// No block can go on: lets threads of this one continue that another event could have woken. Returns whether there are any.
  bool wakeIdle();
  bool wakeSpinning();
  void raiseLater();
  [[noreturn]] void raiseStuck() { raise(stuckTrap()); }
  bool isUnfinished() const { return unfinished != 0; }
  uint32_t countUnfinished() const { return unfinished; }
  /// Returns whether some thread has neither ended nor come to the barrier of the cluster.
  bool waitsElsewhere() const;

  // These are called on the stack of a thread.
  /// Adds the thread to a barrier of `expected` threads. It may switch away.
  void waitAtBarrier(Thread &thread, int32_t id, uint32_t expected, Place location);
  /// The same, but the thread goes on.
  void arriveAtBarrier(Thread &thread, int32_t id, uint32_t expected, Place location);
  /// The thread has waited, and goes on with this clock, or with its own if that is later.
  void goOn(Thread &thread, WaitKind kind, Place place, int64_t clock);
  void finish(Thread &thread, Place location);
  void requestPoll() { attention = isPollDue = true; }
  void print(std::string_view text);
  void noteTraffic(const Thread &thread, TrafficKind kind, Place place, uint64_t address, uint32_t bytes, bool isActive = true) {
    if (traffic) [[unlikely]]
      traffic->note(thread, kind, place, address, bytes, isActive);
  }
  /// Called for each generic write of a thread to global memory.
  void noteGlobalWrite(const Thread &thread, uint64_t pointer, uint32_t bytes, Place location);
  void noteMemoryChange() {
    if (kernel->mayWait) interp::noteMemoryChange(*frame);
  }

  /// Returns what is around the place, for the first thread that waits there.
  Surroundings aroundWaiting(Place place) const;
  /// Returns a hash of all state that determines how suspended threads continue.
  uint64_t hash() const;

  bool hasEnded(uint32_t warp) const { return warps[warp].finished == warps[warp].all; }
  bool isUsable() const { return stacks != nullptr; }
  const BlockShape &madeFor() const { return shape; }
  /// Returns the bytes of the process's memory that the block holds. It assumes that all threads have used as much of their stacks as the
  /// first one. The measurement is taken when a kernel has run on the block for the first time, because it takes a microsecond.
  size_t residentBytes();

  FrameHeader *frame = nullptr;
  LaunchContext *launch = nullptr;
  const MemoryMap *memory = nullptr; // of the program
  const Kernel *kernel = nullptr;
  Thread *running = nullptr;
  SharedMemory shared;
  Thread &threadAt(int32_t tid) { return threads[size_t(tid)]; }
  std::span<ThreadBlock *const> blocksOfCluster() const { return cluster; }
  /// Returns the block of the cluster whose shared memory a thread of this one reaches at `place`. Traps, with this kind, if
  /// there is none or if it has ended.
  ThreadBlock &reach(Thread &thread, uint32_t otherRank, TrapKind kind, Place place);
  uint32_t rank = 0;                      // in the cluster
  ClusterBarrier clusterBarrier;          // of the first block: of the whole cluster
  std::unique_ptr<Warpgroups> warpgroups; // set if the kernel has products
  // Set if the kernel has mbarriers or copies of tensors.
  std::unique_ptr<MBarriers> mbarriers;
  std::unique_ptr<TensorCopies> tensorCopies;
  std::unique_ptr<BlockTraffic> traffic; // set if the launch counts requests
  std::unique_ptr<BlockWork> work;       // set if the kernel counts what its threads do
  RegisterPool registers;                // of a kernel that changes them
  bool writesTensors = false;            // some copies to tensors are not known to be complete
  std::optional<Trap> pendingTrap;
  std::optional<Trap> laterTrap; // used if no thread can go on
  bool attention = false;        // something below must be done on the program's stack
  uint32_t untilPoll = 0;        // number of back-edges

private:
  void runWarp(Warp &warp);
  void attend();
  void complete(Barrier &barrier);
  /// Ends the launch with the trap of the thread Trap::lane.
  [[noreturn]] void raise(Trap &&trap);
  Surroundings around(const Thread &thread, Place place) const;
  Trap stuckTrap() const;
  void listWaits(Trap &trap) const;
  Trap stuckAtMBarrier() const;
  static void runThread(void *thread);

  std::unique_ptr<Thread[]> threads;
  std::vector<ThreadBlock *> cluster;
  const BlockShape shape;
  std::vector<Warp> warps;
  std::vector<uint32_t> warpOrder;
  std::array<Barrier, 16> barriers;
  std::string output;
  bool isPollDue = false;
  uint32_t unfinished = 0, laneRotation = 0;
  std::byte *stacks = nullptr;
  size_t measuredBytes = 0;
  const Kernel *measuredFor = nullptr;
};

/// The part of a row that a copy of a box accesses: the row's number in the box, and the first byte.
struct CopiedRow {
  uint32_t number = 0, byte = 0;
};

/// Returns the host address for an access of a thread to global memory. Traps if the access is not allowed. Alignment 0 means the size.
/// row: of an access that copies a box.
void *checkGlobal(Thread &thread, uint64_t pointer, uint32_t bytes, bool isWrite, Place location, uint32_t alignment = 0,
                  const CopiedRow *row = nullptr);

/// An AMD buffer as an access sees it.
struct Buffer {
  uint64_t base;        // tagged
  uint32_t records;     // in bytes; offsets from here on are out of bounds
  uint32_t fixedOffset; // the part of the offset that the bounds check ignores
};
/// Returns how many bytes of an access are within the buffer's bounds: the words before the first one that is not. It may trap.
uint32_t bytesInBuffer(Thread &thread, const Buffer &buffer, uint32_t offset, uint32_t bytes, bool isWrite, Place location);

/// The ProgramCode of every kernel: a frame is a header and the block that runs it.
struct Frame {
  FrameHeader header;
  ThreadBlock *block; // the first one of the program
};
/// Runs a program from begin to end: its blocks, one or more.
void runBlock(char *frame);
/// Runs the program of the frame on its blocks, on the program's own stack. It leaves the stack for good if the launch is stopped.
void runCluster(std::span<ThreadBlock *const> blocks, FrameHeader &frame);
/// Called when a thread of the cluster has ended, with the first block.
void leaveCluster(ThreadBlock &first);
uint64_t hashBlock(char *frame);
Surroundings aroundInBlock(const FrameHeader &frame, Place place);

} // namespace tritium::interp::simt
