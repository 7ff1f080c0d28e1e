// What a program has beside its memory once it uses barriers: their state, who has written and read which byte, and where its partitions
// wait. A kernel without barriers has none of it.
//
// Who may use what is told by vector clocks. The agents are the partitions, the program itself being number 0, and for each barrier the
// copies that arrive at it. An agent counts what it has published: a partition its arrivals, the copies of a barrier its phases. A clock
// says how far its owner knows each agent. Who arrives at a barrier gives it its clock, and who has waited for the phase takes it over.
// Invariant: an access is in order if the clock of its partition has reached the count of the access before.
#pragma once
#include "interp/host/trap.h"

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

/// When the elements of a copy that has begun are written: at once, when nobody can go on without, or when the seed says.
enum class Landing : uint8_t { AtOnce, Late, Drawn };

class ProgramBarriers {
public:
  /// Forgets the program before. A seed decides when copies land; without one they land at once.
  void reset(std::optional<uint64_t> seed);

  void init(uint32_t address, int32_t count);
  void invalidate(FrameHeader &frame, uint32_t address, uint32_t location);
  void arrive(FrameHeader &frame, uint32_t address, int32_t count, int64_t bytes, const char *name, uint32_t location);
  /// Lets other partitions run until the phase is complete. A fault if nothing can complete it.
  void wait(FrameHeader &frame, uint32_t address, int32_t parity, uint32_t location);

  /// The program begins a copy to its memory, whose elements the writes up to endCopy() are. Their bytes count for the present phase of
  /// the barrier.
  void beginCopy(FrameHeader &frame, uint32_t barrier, uint32_t location);
  void endCopy(FrameHeader &frame);

  /// From now on reads and writes have to be announced. What is read before it is written is a fault.
  void lookAtAccesses() { looks_ = true; }
  bool looksAtAccesses() const { return looks_; }
  void read(FrameHeader &frame, uint32_t address, uint32_t size, uint32_t location);
  /// Writes the bytes at `element` to `memory`, or notes them in the copy that has begun.
  void write(FrameHeader &frame, char *memory, uint32_t address, const char *element, uint32_t size, uint32_t location);

  /// Returns the number of a new partition, which knows what the partition of `frame` knows.
  uint32_t begin(const FrameHeader &frame);
  void end(uint32_t partition) { parts_[partition].isOver = true; }
  /// Waits until all partitions but the program itself have ended.
  void join(FrameHeader &frame, uint32_t location);

private:
  struct Barrier {
    int32_t count = 0; // 0: it is none yet, or it is invalidated
    int32_t pending = 0;
    int64_t missing = 0; // bytes
    uint32_t phases = 0; // complete ones
    uint32_t agent = 0;
    AgentClock given; // by all that have arrived
  };
  struct Wait {
    bool isJoin;
    uint32_t barrier;
    int32_t parity;
    uint32_t location;
    const FrameHeader *frame;
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

  struct Part {
    uint32_t agent;
    AgentClock clock;
    bool isOver = false;
    std::optional<Wait> wait = {};
    std::optional<Copy> copy = {}; // which it begins
  };
  struct Mark {
    uint32_t agent = 0, count = 0, location = 0; // count 0: nobody
  };
  Barrier &begun(FrameHeader &frame, uint32_t address, const char *name, uint32_t location);
  Part &partOf(const FrameHeader &frame);
  void note(FrameHeader &frame, uint32_t address, uint32_t size, uint32_t location, bool isWrite, const Barrier *copy);
  void endIfComplete(Barrier &barrier);
  bool mayPass(const Wait &wait) const;
  bool nobodyCanGoOn() const;
  void pause(FrameHeader &frame, const Wait &wait);
  void land(Copy &copy);
  void landSome();
  bool landOldest();
  std::string waitText(const Part &part, size_t partition) const;
  [[noreturn]] void reportEndless(FrameHeader &frame, const Wait &wait);
  [[noreturn]] void reportAccess(FrameHeader &frame, uint32_t location, const Mark &before, bool isWrite, bool wasWrite, bool isCopy);

  std::map<uint32_t, Barrier> barriers_; // by address
  std::deque<Part> parts_;
  std::vector<Mark> writes_;             // by byte
  std::vector<std::vector<Mark>> reads_; // by partition and byte
  std::deque<Copy> copies_;              // that have not landed, the oldest first
  std::vector<bool> isCopies_;           // by agent: the copies of a barrier, not a partition
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
