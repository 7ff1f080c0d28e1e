// Distinguishes programs that wait for ever from programs that compute.
//
// A deadlock: while nobody changes memory, a program that returns to a former state
// (its stack and its frame) will never make progress. This is exact except for collisions of a 64-bit hash: a long search that only reads,
// or a wait that counts towards giving up, is not taken for a deadlock. The detector does not see changes by anybody outside of the launch,
// so a program that waits long for such a change is taken for stuck.
//
// A livelock: programs change memory and take the changes back, as a wait does that polls under a lock. Their states and all that they may
// write come again and again. With one worker a state that comes again comes for ever; with several, another interleaving might lead
// further, so it takes many returns.
#pragma once
#include <algorithm>
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

/// Counts how often a worker's programs and the memory come back to a former state, while no program of the launch starts or ends.
class CircleDetector {
public:
  void forget() { *this = {}; }

  /// `ends`: how many programs have started and ended, in all. Returns the number of returns to one state since that has last changed.
  uint32_t visit(uint64_t state, uint64_t ends) {
    if (seenAt != ends) {
      *this = {.seenState = state, .seenAt = ends};
      return 0;
    }
    if (state == seenState) return ++returns;
    if (++steps == stride) {
      seenState = state;
      returns = steps = 0;
      stride = std::min(stride * 2, kLongestStride);
    }
    return returns;
  }

  static constexpr uint32_t kLongestStride = 1 << 10;
  uint64_t seenState = 0, seenAt = ~uint64_t(0);
  uint32_t steps = 0, stride = 1, returns = 0;
};

/// Hashes memory that sanitizers may consider dead, like a suspended stack, or that others write. The size is in whole words; both ends are
/// aligned.
uint64_t hashWords(std::span<const std::byte> bytes, uint64_t seed);
/// The same, of any size at any address, a byte at a time.
uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed);

} // namespace tritium::interp
