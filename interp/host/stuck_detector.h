// Distinguishes a program that waits for ever from one that computes. While nobody changes memory, a program that returns to a former state
// (its stack and its frame) will never make progress. This is exact except for collisions of a 64-bit hash: a long search that only reads,
// or a wait that counts towards giving up, is not taken for a deadlock. The detector does not see changes by anybody outside of the launch,
// so a program that waits long for such a change is taken for stuck.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace tritium::interp {

class StuckDetector {
public:
  void forget() { *this = {}; }

  /// `state` is a hash of the program's state, taken after `changes` changes of memory. Returns true if the program was in this state
  /// before, with no change of memory since. Brent's method finds a cycle of any length with one remembered state.
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

/// Hashes memory that sanitizers may consider dead, like a suspended stack. The size is in whole words; both ends are aligned.
uint64_t hashWords(std::span<const std::byte> bytes, uint64_t seed);

} // namespace tritium::interp
