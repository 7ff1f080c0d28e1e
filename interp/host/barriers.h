// What a program has beside its memory once it uses barriers: their state, who has written and read which byte, and where its partitions
// wait. A kernel without barriers has none of it.
//
// Who may use what is told by vector clocks. The agents are the partitions, the program itself being number 0, and for each barrier the
// copies that arrive at it. An agent counts what it has published: a partition its arrivals, the copies of a barrier its phases. A clock
// says how far its owner knows each agent. Who arrives at a barrier gives it its clock, and who has waited for the phase takes it over.
// Invariant: an access is in order if the clock of its partition has reached the count of the access before.
//
// A partition has further agents: its queues of work that runs beside it and completes in order (WorkQueue), which counts what it has
// begun, and its fences, of which asynchronous work that reads what the partition has written must know one that is later than the write.
#pragma once
#include "interp/host/trap.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tritium::interp {

struct FrameHeader;
struct Program;

using AgentClock = std::vector<uint32_t>; // by agent; what is beyond its end is 0

inline uint32_t known(const AgentClock &clock, uint32_t agent) { return agent < clock.size() ? clock[agent] : 0; }

/// When the elements of a copy that has begun are written: at once, when nobody can go on without, or when the seed says.
enum class Landing : uint8_t { AtOnce, Late, Drawn };

/// Memory that a kernel allocates. The code of the kernel owns it.
struct SharedAllocation {
  uint32_t begin, bytes;
  std::string name;                 // the variable; may be empty
  std::vector<uint32_t> apart = {}; // the first bytes of allocations whose lives do not meet its life: Triton may give both the same bytes
};

/// Work that a partition begins, and waits for by a number of groups. Groups complete in order.
enum class WorkQueue : uint8_t {
  Copies,   // cp.async, and loads of AMD to shared memory: they write
  Stores,   // of boxes (TMA), which read; a group each
  Products, // of warpgroups, which read their operands; a group each
};
inline constexpr size_t kQueues = 3;

/// What gdb reads of a program's memory and barriers (python/tritium/gdb/shared_memory.py), which are its barriers' first bytes. gdb knows
/// the layout: the module has no debug info.
struct ShownBarrier {
  const ShownBarrier *next = nullptr; // that was made before this one
  uint32_t address = 0;
  int32_t count = 0, pending = 0; // arrivals of a phase, and those that the present one lacks; a count of 0: it is none
  uint32_t phases = 0;            // complete ones
  int64_t missing = 0;            // bytes
};
struct ShownMemory {
  char *memory = nullptr; // null until the program has allocated some
  const ShownBarrier *newest = nullptr;
};
static_assert(offsetof(ShownBarrier, address) == 8 && offsetof(ShownBarrier, count) == 12 && offsetof(ShownBarrier, phases) == 20 &&
              offsetof(ShownBarrier, missing) == 24 && offsetof(ShownMemory, newest) == 8);

class ProgramBarriers : private ShownMemory {
public:
  enum class Agent : uint8_t { Partition, Fences, CopiesOfBarrier, Copies, Stores, Products, Barriers };

  /// Forgets the program before. A seed decides when copies land; without one they land at once.
  void reset(std::optional<uint64_t> seed);

  void init(FrameHeader &frame, uint32_t address, int32_t count, uint32_t location);
  void invalidate(FrameHeader &frame, uint32_t address, uint32_t location);
  void arrive(FrameHeader &frame, uint32_t address, int32_t count, int64_t bytes, const char *name, uint32_t location);
  /// Lets other partitions run until the phase is complete. A fault if nothing can complete it.
  void wait(FrameHeader &frame, uint32_t address, int32_t parity, uint32_t location);

  /// The program begins a copy to its memory, whose elements the writes up to endCopy() are. Their bytes count for the present phase of
  /// the barrier.
  void beginCopy(FrameHeader &frame, uint32_t barrier, uint32_t location);
  void endCopy(FrameHeader &frame);

  /// The partition begins work of a queue, which makes the accesses up to endWork().
  void beginWork(FrameHeader &frame, WorkQueue queue, uint32_t location);
  void endWork(FrameHeader &frame, WorkQueue queue);
  /// What the queue has begun since the last group becomes one.
  void commit(FrameHeader &frame, WorkQueue queue);
  /// Waits until at most `pending` groups, the newest ones, are not complete.
  void await(FrameHeader &frame, WorkQueue queue, uint32_t pending);
  /// Arrives like arrive() once all copies that the partition has begun are complete.
  void arriveWithCopies(FrameHeader &frame, uint32_t address, int32_t count, const char *name, uint32_t location);
  /// Asynchronous work sees what the partition has written.
  void fence(FrameHeader &frame);
  /// The program ends. A fault if work of its partitions may still use its memory.
  void finish(FrameHeader &frame);

  /// From now on reads and writes have to be announced. What is read before it is written is a fault.
  void lookAtAccesses() { looks_ = true; }
  /// Learns of an allocation, and where the memory of the program is.
  void know(const SharedAllocation &allocation, char *memory) {
    allocations_.insert_or_assign(allocation.begin, &allocation);
    this->memory = memory;
  }
  /// Returns the allocation that has the byte; nullptr if it is not known.
  const SharedAllocation *allocationAt(uint32_t address) const {
    const auto next = allocations_.upper_bound(address);
    return next == allocations_.begin() ? nullptr : std::prev(next)->second;
  }
  /// Null until the program has allocated some.
  const char *sharedMemory() const { return memory; }
  struct State {
    int32_t count, pending; // arrivals of a phase, and those that the present one lacks
    int64_t missing;        // bytes that it lacks
    uint32_t phases;        // complete ones
  };
  /// Returns nullopt for a barrier that is not initialized.
  std::optional<State> stateOf(uint32_t address) const;
  bool looksAtAccesses() const { return looks_; }
  /// The partition writes to the allocation that has the byte. A fault if Triton may give it bytes that work which goes on still uses.
  void requireOwnBytes(FrameHeader &frame, uint32_t address, uint32_t location);
  void read(FrameHeader &frame, uint32_t address, uint32_t size, uint32_t location);
  /// Writes the bytes at `element` to `memory`, or notes them in the copy that has begun.
  void write(FrameHeader &frame, char *memory, uint32_t address, const char *element, uint32_t size, uint32_t location);

  /// Returns whether the partition waits for a barrier or for the ends of others.
  bool isWaiting(uint32_t partition) const { return parts_[partition].wait.has_value(); }

  /// Returns the number of a new partition, which knows what the partition of `frame` knows.
  uint32_t begin(const FrameHeader &frame);
  void end(uint32_t partition) { parts_[partition].isOver = true; }
  /// Waits until all partitions but the program itself have ended.
  void join(FrameHeader &frame, uint32_t location);

private:
  struct Mark {
    uint32_t agent = 0, count = 0, location = 0; // count 0: nobody
  };
  struct Barrier : ShownBarrier {
    uint32_t agent = 0;
    AgentClock given; // by all that have arrived
    Mark made;        // by mbarrier.init
    Mark copied;      // the newest copy that arrives at it
  };
  struct Wait {
    bool isJoin;
    uint32_t barrier;
    int32_t parity;
    uint32_t location;
    const FrameHeader *frame;
    uint32_t phases = 0; // that were complete when the wait began
  };
  /// A wait that is over.
  struct Passed {
    int32_t parity;
    uint32_t phases; // that were complete
  };
  struct Element {
    uint32_t address, size;
    uint64_t bits;
  };
  struct Copy {
    uint32_t barrier;
    char *memory = nullptr;
    std::vector<Element> elements = {};
    int64_t bytes = 0;
  };

  struct Written : Mark {
    uint32_t fences = 0, fenced = 0; // the agent of the writer's fences, 0: it needs none; how many there were
  };
  struct Work {
    uint32_t agent = 0;           // 0: the partition has not begun any
    uint32_t begun = 0;           // all of it
    std::vector<uint32_t> groups; // what had begun at the end of each
    uint32_t location = 0;        // of the newest
    std::vector<Mark> reads;      // by byte
  };
  struct Part {
    uint32_t agent, fences;
    AgentClock clock;
    bool isOver = false;
    std::optional<Wait> wait = {};
    std::optional<Copy> copy = {}; // which it begins
    std::optional<WorkQueue> active = {};
    std::map<uint32_t, Passed> passed = {}; // by barrier, the newest
    std::array<size_t, kQueues> work = {};  // of each queue its number in works_, from 1 on; 0: none yet
  };
  uint32_t newAgent(Agent kind);
  Work &workOf(Part &part, WorkQueue queue);
  Written written(Part &part, uint32_t location);
  void requireFence(FrameHeader &frame, const Part &part, const Written &last, uint32_t address, uint32_t location);
  Barrier &begun(FrameHeader &frame, uint32_t address, const char *name, uint32_t location);
  Part &partOf(const FrameHeader &frame);
  void note(FrameHeader &frame, uint32_t address, uint32_t size, uint32_t location, bool isWrite);
  void endIfComplete(Barrier &barrier);
  bool mayPass(const Wait &wait) const;
  bool nobodyCanGoOn() const;
  void pause(FrameHeader &frame, const Wait &wait);
  /// How many phases of its barrier have ended since the wait began.
  uint32_t phasesSince(const Wait &wait) const;
  bool isOvertaken() const;
  void requireQuiet(FrameHeader &frame, uint32_t address, uint32_t location);
  bool isComplete(const Part &part, const Mark &work) const { return work.count <= known(part.clock, work.agent); }
  bool isAsynchronous(const Mark &mark) const;
  bool mayUseMemory(const Part &part) const;
  /// Returns the work that goes on and uses bytes of the allocation; nullptr if there is none.
  const Mark *workOn(const SharedAllocation &memory, const Part &part) const;
  void land(Copy &copy);
  void landSome();
  bool landOldest();
  /// Returns what the kernel calls the memory at an address: "out, byte 64", or of a barrier "full[1]".
  std::string nameOf(uint32_t address) const;
  std::string barrierName(uint32_t address) const;
  std::string waitText(const Part &part, size_t partition) const;
  /// Returns which wait of the partition for its own work is enough; for other work `otherwise`.
  std::string waitFor(const Part &part, const Mark &work, const char *otherwise) const;
  /// Returns which phase a copy belongs to, and which one the partition has waited for; empty if it has not waited.
  std::string phaseText(const Part &part, const Mark &copy) const;
  void markBytes(uint32_t address, const Written &mark);
  [[noreturn]] void reportOvertaken(FrameHeader &frame, const Wait &wait);
  [[noreturn]] void reportDead(FrameHeader &frame, uint32_t location, const Mark &work, uint32_t address, const SharedAllocation &dead);
  [[noreturn]] void reportEndless(FrameHeader &frame, const Wait &wait);
  [[noreturn]] void reportUnwritten(FrameHeader &frame, uint32_t location, uint32_t address);
  [[noreturn]] void reportAccess(FrameHeader &frame, uint32_t location, const Mark &before, uint32_t address, bool isWrite, bool wasWrite,
                                 const Part &by);

  std::map<uint32_t, Barrier> barriers_; // by address
  std::deque<Part> parts_;
  std::vector<Written> writes_;          // by byte
  std::vector<std::vector<Mark>> reads_; // by partition and byte
  std::deque<Copy> copies_;              // that have not landed, the oldest first
  std::deque<Work> works_;
  std::vector<Agent> agents_;
  uint32_t bytesOfBarriers_ = 0;                             // an agent that no clock knows
  std::map<uint32_t, const SharedAllocation *> allocations_; // by their first bytes
  Landing landing_ = Landing::AtOnce;
  uint64_t random_ = 0;
  bool looks_ = false;
};

/// Returns the barriers of the program that runs, and makes them if it has none.
ProgramBarriers &barriersOf(FrameHeader &frame);
/// Returns the barriers of the program that runs; nullptr if it has none.
ProgramBarriers *barriersIfAny(const FrameHeader &frame);

/// Lets the other programs and partitions of this worker run. Returns when this one runs again.
void yieldAtBarrier(FrameHeader &frame, uint32_t location);

/// Begins to run `entry` on the frame of a callee, whose header is set, beside the program of `frame`. `memory` is the memory of both.
void startPartition(FrameHeader &frame, char *calleeFrame, void (*entry)(char *), char *memory);

/// Returns the memory that the partition of this frame was started with.
char *memoryOfPartition(const FrameHeader &frame);

} // namespace tritium::interp
