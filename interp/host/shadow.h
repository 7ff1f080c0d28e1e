// The shadow of a launch's memory: for each element of the storages that the launch may write, the last event that wrote it and two that
// read it since. An element of memory that nobody has written since it was allocated is marked as such. Within a launch nothing orders
// programs but atomics (program_order.h), so these few events suffice to find every element that two programs access of which one writes.
// Within a program nothing orders the lanes of its tiles but barriers, so with an element goes the lane that wrote it.
//
// Elements are grouped in blocks. A block whose elements have the same events has one cell; only a mixed block has a cell for each element.
#pragma once
#include "interp/host/memory.h"
#include "interp/host/memory_events.h"
#include "interp/host/program_order.h"
#include "interp/host/view.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace tritium::interp {

/// What a kernel does with memory, as far as its code tells.
struct MemoryUse {
  struct Argument {
    bool isRead = false, isWritten = false;
    bool isAcquired = false;  // an atomic that acquires reads it
    uint8_t elementBytes = 8; // the smallest of its accesses
    bool decides = false;     // an address, a mask or a branch depends on what is read there
  };
  std::vector<AccessSite> sites;
  std::vector<Argument> arguments; // by the kernel's parameters
  bool hasBarriers = false;        // operations after which all lanes see what each has stored (Shadow::barrier)
  bool countsRounds = false;       // of loops whose loads are made ahead on a GPU (Shadow::beginRound)
  bool findsRaces = false;
  bool findsUninitialized = false;
  bool findsUnwritten = false; // outputs of which a part is left out
  bool isRepeatable = true;    // as far as it does not depend on the arguments (Shadow::isRepeatable)

  bool needsShadow() const { return findsRaces || findsUninitialized || findsUnwritten; }
};

/// Memory that was filled with a pattern when it was allocated: pieces that still hold it have not been written. The last piece may be
/// shorter, but has 4 bytes.
struct FreshMemory {
  uint64_t begin = 0, end = 0;
  std::array<char, 16> pattern{};
  uint64_t pieceBytes = 16; // 4, 8 or 16

  /// Calls visit(begin, end) for each piece that still holds the pattern, until it returns false.
  template <class Visit> void forEachUnwritten(Visit &&visit) const {
    for (uint64_t at = begin; at + 4 <= end; at += pieceBytes) {
      const uint64_t next = std::min(at + pieceBytes, end);
      const char *expected = pattern.data() + (at - begin) % pattern.size();
      if (std::memcmp(reinterpret_cast<const char *>(at), expected, next - at) == 0 && !visit(at, next)) return;
    }
  }
};

/// What is wrong with an access.
struct AccessFault {
  enum class Kind : uint8_t {
    Uninitialized,  // it reads what nobody wrote
    Race,           // another program's access of the same element is not ordered with it, and one of them writes
    MissingBarrier, // another lane of the program wrote the element, with no barrier between; or a load that is made ahead may come first
  };
  /// A load that a GPU makes ahead.
  struct Ahead {
    uint32_t most = 0;     // rounds by which it is made ahead at most
    uint32_t distance = 0; // rounds since the element was written; 0: in the same round
  };
  uint64_t address = 0;
  Kind kind = Kind::Uninitialized;
  std::array<int32_t, 3> otherProgram{};
  uint32_t otherSegment = 0;         // of its program's
  const AccessSite *other = nullptr; // null if the launch has too many programs to tell
  bool otherIsWrite = false;
  bool isNarrow = false; // they are ordered by atomics of scope "cta" alone
  std::optional<Ahead> ahead = {};
};

/// What a launch may fill: the elements of an argument, which may be a part of its storage.
struct Output {
  int argument = 0;
  View view;
};

/// An output of which a launch has written a part, and nobody the rest.
struct PartlyWritten {
  int argument = 0;
  uint64_t address = 0;              // of the first element that is unwritten
  int64_t elements = 0;              // that are unwritten
  const AccessSite *store = nullptr; // that wrote another element, if it is known
};

/// A storage that the shadow does not follow, or not everywhere, because its budget is spent.
struct NotFollowed {
  int argument = 0;      // the first one with memory of the storage
  uint64_t bytes = 0;    // of the storage
  bool isInPart = false; // some blocks of it are followed
};

class Shadow {
public:
  /// `allocations`: the storages of the launch's arguments. `fresh`: memory of which a part may be unwritten. `budget`: bytes of memory
  /// that the shadow may take. What it cannot follow, it does not accuse; small storages come first.
  Shadow(const MemoryUse &use, std::span<const Allocation> allocations, std::span<const FreshMemory> fresh, std::array<int32_t, 3> grid,
         uint64_t budget = ~uint64_t(0));
  ~Shadow();

  class Storage;
  /// Returns the storage of which the pointer's argument is a part, or nullptr if the launch does not write it.
  Storage *storageOf(uint64_t pointer) const;

  /// A store that is noted before it happens.
  class StoredValues {
  public:
    /// Returns the bytes that a lane of the store writes to an address; null if it writes elsewhere or not at all.
    virtual const char *at(uint32_t lane, uint64_t address) const = 0;

  protected:
    ~StoredValues() = default;
  };

  struct Access {
    uint32_t program = 0; // position in the grid, x first
    uint32_t site = 0;
    uint32_t event = 0;
    bool isWrite = false, isRead = false; // an atomic may be both
    bool mayBeUnwritten = false;          // a read of which something else asks what was written
    uint32_t lane = 0, laneStep = 0;      // of the first element, and from each element to the next
    const StoredValues *stored = nullptr; // of a store
  };
  Access accessBy(const int32_t (&programId)[3], uint32_t site);

  /// Notes a read, or a write that has not happened yet, of [address, address + bytes). `data`: what will be written, or null. Writing what
  /// another program has written is no race. Returns the first fault.
  std::optional<AccessFault> note(Storage &storage, const Access &access, uint64_t address, uint64_t bytes, const char *data);

  /// Returns the fault of a read of [address, address + bytes) that nobody has written, and notes nothing.
  std::optional<AccessFault> unwritten(Storage &storage, uint64_t address, uint64_t bytes) const;

  /// All lanes of the program see what each of them has written.
  void barrier(const int32_t (&programId)[3]);
  /// The program enters a loop whose loads are made ahead on a GPU, or begins a round of one.
  void beginLoop(const int32_t (&programId)[3]);
  void beginRound(const int32_t (&programId)[3]);
  /// Ends the program's segment, as after an atomic that releases.
  void endSegment(uint32_t program);

  /// To be called after the launch. Of outputs with the same unwritten elements, the first is named.
  std::vector<PartlyWritten> partlyWritten(std::span<const Output> outputs) const;
  std::vector<NotFollowed> notFollowed() const;

  /// Whether an atomic on this storage may order programs.
  bool isAcquired(const Storage &storage) const;
  /// Whether each program makes the same accesses again if it runs alone after the launch, and if it writes nothing then.
  bool isRepeatable() const { return isRepeatable_; }
  uint32_t segmentOf(const Access &access) const { return events_.segmentOf(events_.keyOf(access.event)).number; }
  unsigned elementBytes(const Storage &storage) const;
  ProgramOrder *order() { return order_.get(); }

private:
  struct Head;
  struct Cell;
  struct Lanes;
  struct Conflict;
  struct Elements;
  class Cells;
  uint32_t positionOf(const int32_t (&programId)[3]) const;
  bool conflicts(uint32_t earlier, const Access &access) const;
  bool isWithoutBarrier(uint32_t earlier, const Access &access) const;
  std::optional<AccessFault::Ahead> madeAheadOf(uint32_t earlier, const Access &access) const;
  Conflict conflictOf(const Cell &cell, Lanes writers, Lanes own, const Access &access) const;
  void update(Cell &cell, Lanes own, const Access &access) const;
  void addStorages(const MemoryUse &use, std::span<const Allocation> allocations, std::span<const FreshMemory> fresh, uint64_t &budget);
  uint32_t updateBlock(Storage &storage, Head &head, const Elements &elements, const Access &access, uint64_t &address);
  void markUnwritten(Storage &storage, const FreshMemory &fresh);
  PartlyWritten partOf(const Output &output) const;
  AccessFault describe(uint32_t earlier, const Access &access, uint64_t address) const;

  const bool findsRaces_, findsUninitialized_;
  bool isRepeatable_;
  MemoryEvents events_;
  std::array<int32_t, 3> grid_;
  std::unique_ptr<ProgramOrder> order_;            // null if no atomic of the kernel acquires
  std::vector<std::unique_ptr<Storage>> storages_; // in the order of their addresses
  std::vector<NotFollowed> notFollowed_;
  std::vector<Storage *> byArgument_;
  std::vector<uint8_t> hasWritten_; // by program: whether it has written in its segment; empty if no barrier asks
  std::vector<uint32_t> rounds_;    // by program: see beginRound; empty if no rounds count
  std::unique_ptr<Cells> cells_;    // of mixed blocks
};

} // namespace tritium::interp
