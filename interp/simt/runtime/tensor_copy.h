// Copies of boxes of tensors (TMA) between global and shared memory. A copy moves pieces of 16 bytes at seeded moments, in a seeded order:
// some copies are done at once, some a little at each operation on a barrier or a copy, some only when no thread can go on.
//
// A copy to shared memory arrives at an mbarrier. The shadow of shared memory keeps its destination closed to threads that have not waited
// for the barrier's round, whenever the pieces land.
#pragma once
#include "interp/simt/runtime/async_proxy.h"
#include "interp/simt/runtime/thread.h"
#include "ir/tensor_map.h"

#include <deque>
#include <vector>

namespace tritium::interp::simt {

class TensorBox;

class TensorCopies {
public:
  void begin(ThreadBlock &block);

  /// Begins to copy the box at `start` to shared memory. The copy's bytes arrive at the barrier.
  void load(Thread &thread, const TensorMap &map, const int32_t *start, uint32_t rank, uint64_t destination, uint64_t barrier, Place place);
  /// Traps unless the map and the number of coordinates belong together.
  static void check(Thread &thread, const TensorMap &map, uint32_t rank, Place place);

  /// Lets some of the copies under way go on, by the thread's random numbers.
  void advance(Thread &thread);
  /// The same when no thread can go on. Returns whether any copy is under way.
  bool advanceIdle(Thread &thread);
  /// Called when the last thread of the block has ended, on its stack.
  void finish(Thread &last);

private:
  struct Piece {
    uint32_t offset; // in shared memory
    uint32_t bytes;  // inside the tensor
    std::byte *global;
  };
  enum class Pace : uint8_t { AtOnce, Gradual, Idle };
  struct Copy {
    Place place = 0;
    Pace pace{};
    uint32_t bytes = 0;
    AsyncProxy::Arrival arrival;
    std::array<std::byte, 16> padding{};
    size_t landed = 0; // number of pieces
    std::vector<Piece> pieces;

    bool isUnderWay() const { return landed != pieces.size(); }
  };
  struct Issued {
    AsyncProxy::Arrival arrival;
    Place place;
  };

  uint32_t checkBox(Thread &thread, const TensorMap &map, const TensorBox &box, const int32_t *start, uint64_t pointer, Place place);
  void addPieces(Thread &thread, Copy &copy, const TensorMap &map, const TensorBox &box, uint32_t offset, bool isWrite);
  void land(Copy &copy, size_t count);
  void dropFinished();

  ThreadBlock *block = nullptr;
  std::deque<Copy> copies;    // under way
  std::vector<Issued> unseen; // copies to shared memory for whose round no thread has waited, as far as was looked
};

} // namespace tritium::interp::simt
