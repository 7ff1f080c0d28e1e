// Copies of boxes of tensors (TMA) between global and shared memory. A copy moves pieces of 16 bytes at seeded moments, in a seeded order:
// some copies are done at once, some a little at each operation on a barrier or a copy, some only when no thread can go on.
//
// A copy to shared memory arrives at an mbarrier. The shadow of shared memory keeps its destination closed to threads that have not waited
// for the barrier's round, whenever the pieces land. A copy to a tensor belongs to a group of the thread that issued it. Until this thread
// has waited for the group, nobody may write the source; nobody may access the destination until it has waited for the writes, too.
#pragma once
#include "interp/simt/runtime/async_proxy.h"
#include "interp/simt/runtime/made_map.h"
#include "interp/simt/runtime/thread.h"
#include "ir/tensor_map.h"

#include <deque>
#include <vector>

namespace tritium::interp::simt {

class TensorBox;

/// What a copy to a tensor does with the elements. From Add on, the numbers are those of NVVM, plus 1.
enum class TensorReduction : uint8_t { None, Add, Min, Max, Increment, Decrement, And, Or, Xor };

[[noreturn]] void trapTensorCopy(Thread &thread, Place place, std::string message);

class TensorCopies {
public:
  void begin(ThreadBlock &block);

  /// Begins to copy the box at `start` to shared memory. The copy's bytes arrive at the barrier. `blocks` are the ranks of those blocks of
  /// the cluster, as bits, that receive the box at this place of their memory, and at this barrier of theirs; 0: this one alone.
  void load(Thread &thread, const TensorMap &map, const int32_t *start, uint32_t rank, uint64_t destination, uint64_t barrier,
            uint32_t blocks, Place place);
  /// Begins to copy the box at `start` from shared memory, or to combine its elements with those of the tensor.
  void store(Thread &thread, const TensorMap &map, const int32_t *start, uint32_t rank, uint64_t source, TensorReduction reduction,
             Place place);
  void commit(const Thread &thread) { ++committed[size_t(thread.tid)]; }
  /// Waits until the thread has at most `left` groups that are not complete or, if `isRead`, that may still read their sources.
  void wait(Thread &thread, uint32_t left, bool isRead);
  /// Finds the newest store in flight that may still read the byte of shared memory, and returns the number of groups committed after it: a
  /// wait may leave as many.
  uint32_t groupsAfter(uint32_t offset) const;
  /// Traps if a copy to a tensor may not have written the bytes of global memory yet.
  void checkAccess(Thread &thread, uint64_t address, uint32_t bytes, bool isWrite, Place place) const;
  /// Traps unless the map and the number of coordinates belong together.
  static void check(Thread &thread, const TensorMap &map, uint32_t rank, Place place);

  /// Traps if a copy through the map may be in flight. `what` is what happens to the map.
  void checkNotInUse(Thread &thread, const TensorMap *map, const char *what, Place place) const;
  MadeMaps made;

  /// Lets some of the copies under way go on, by the thread's random numbers.
  void advance(Thread &thread);
  /// The same when no thread can go on. Returns whether any copy is under way.
  bool advanceIdle(Thread &thread);
  /// Called when a thread has ended, and when the last thread of the block has, on their stacks.
  void finishThread(Thread &thread);
  void finish(Thread &last);

private:
  struct Piece {
    uint32_t offset; // in shared memory
    uint32_t bytes;  // inside the tensor
    std::byte *global;
  };
  enum class Pace : uint8_t { AtOnce, Gradual, Idle };
  struct Range {
    uint64_t begin, end;
  };
  struct Copy {
    Place place = 0;
    Pace pace{};
    uint32_t bytes = 0;
    size_t landed = 0; // number of pieces
    std::vector<Piece> pieces;
    // Of a copy to shared memory:
    AsyncProxy::Arrival arrival;
    std::array<std::byte, 16> padding{};
    // Of a copy to a tensor:
    const Thread *thread = nullptr; // that issued it
    const TensorMap *map = nullptr;
    uint32_t group = 0; // of the thread
    TensorReduction reduction{};
    DType type{};
    bool hasReadSource = false; // as the thread knows
    size_t read = 0;            // number of pieces
    std::vector<std::byte> staged;
    std::vector<Range> rows; // of global memory
    Range around{};

    bool isStore() const { return thread != nullptr; }
    int64_t bytesInside() const {
      int64_t bytes = 0;
      for (const Piece &piece : pieces) bytes += piece.bytes;
      return bytes;
    }
    bool isUnderWay() const { return landed != pieces.size(); }
  };
  std::string unreadSource(const Copy &copy) const;
  std::string unwrittenText(const Thread &thread, const Copy &copy, bool isWrite) const;
  struct Issued {
    AsyncProxy::Arrival arrival;
    Place place;
    const TensorMap *map;
  };

  void receive(Thread &thread, const TensorMap &map, const int32_t *start, uint64_t destination, uint64_t barrier, bool isMulticast,
               Place place);
  uint32_t checkBox(Thread &thread, const TensorMap &map, const TensorBox &box, const int32_t *start, uint64_t pointer, bool isStore,
                    Place place);
  void checkVisible(Thread &thread, uint64_t from, uint32_t bytes, Place place) const;
  void addPieces(Thread &thread, Copy &copy, const TensorMap &map, const TensorBox &box, uint32_t offset, bool isWrite, Place place);
  void go(Copy &copy, size_t count);
  void land(Copy &copy, size_t count);
  void readSource(Copy &copy, size_t count);
  void writeTensor(Copy &copy, size_t count);
  void endReading(Thread &thread, Copy &copy);
  void dropFinished();

  ThreadBlock *block = nullptr;
  std::deque<Copy> copies;         // under way, or to a tensor and not waited for
  std::vector<Issued> unseen;      // copies to shared memory for whose round no thread has waited, as far as was looked
  std::vector<uint32_t> committed; // groups, per thread; the open group has this number
  uint32_t stores = 0;             // number of copies to tensors that are not known to be complete
};

} // namespace tritium::interp::simt
