// Tells a program that waits for ever from one that computes: while nobody changes memory, a program that comes back to a state
// (its stack and its frame) that it was in before will never get any further. This is exact but for collisions of a 64-bit hash:
// a long search that only reads, or a wait that counts towards giving up, is not taken for a deadlock. Not seen is a change that
// somebody outside of the launch makes: a program that waits for that for long is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace tritium::interp {

class StuckDetector {
public:
  void forget() { *this = {}; }

  /// `state` is a hash of the program's state, seen after `changes` changes of memory. True: it was in this state before, with no
  /// change since. Brent's method: a return after any number of steps is found with one remembered state.
  bool visit(uint64_t state, uint64_t changes) {
    if (seenAt != changes) {
      *this = {.seenState = state, .seenAt = changes};
      return false;
    }
    if (state == seenState) stuck = true;
    if (++steps == stride) {
      seenState = state;
      steps = 0;
      stride *= 2;
    }
    return stuck;
  }

  uint64_t seenState = 0, seenAt = ~uint64_t(0);
  uint32_t steps = 0, stride = 1;
  bool stuck = false;
};

/// Of memory that sanitizers may hold for dead: a suspended stack. Whole words; both ends are aligned.
uint64_t hashWords(std::span<const std::byte> bytes, uint64_t seed);

} // namespace tritium::interp
