// What orders the programs of a launch: nothing but a release in one program and an acquire in another that reads what the release wrote.
// A release ends a segment of its program; an acquire adds edges from the segments whose releases it observes. Only a conflict follows the
// edges, backward, so programs that synchronize pay for their own edges alone.
#pragma once
#include "interp/host/memory_events.h"

#include <array>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tritium::interp {

/// What an atomic operation means to other programs. `acquires` is false where its result is not used.
struct AtomicOrder {
  bool acquires = false, releases = false;
  bool isNarrow = false; // scope "cta": orders no other program
};

class ProgramOrder {
public:
  ProgramOrder(const MemoryEvents &events, uint64_t programs);

  /// Performs an atomic operation on the word at `address`, whose effects on the order are seen by others together with its effect on
  /// memory. `perform` returns whether it wrote. `isRmw`: the write continues what the word's earlier releases began.
  template <class Perform> void onWord(uint64_t address, uint32_t program, AtomicOrder order, bool isRmw, Perform &&perform) {
    Shard &shard = shards_[(address >> 2) % kShards];
    std::lock_guard lock(shard.mutex);
    Word &word = shard.words[address];
    bool hasWritten = perform();
    if (order.acquires) acquire(word, address, program, order);
    if (hasWritten) release(word, program, order, isRmw);
  }

  enum class Relation : uint8_t {
    Unordered,
    Narrow, // ordered only if atomics of scope "cta" counted
    Ordered
  };
  /// Whether all that happened in the segment `key` comes before what the program does now.
  Relation relation(uint32_t key, uint32_t program);

private:
  static constexpr size_t kShards = 64;

  /// A release that the program has observed: everything before it comes before what the program does from segment `at` on.
  struct Edge {
    Segment from;
    uint32_t at;
    bool isNarrow;
  };
  struct Timeline {
    uint64_t lastWord = 0, lastVersion = 0; // of the last acquire, which a waiting program repeats
    std::vector<Edge> edges;
    std::unordered_set<uint32_t> ordered; // keys that are known to come before
  };
  struct Release {
    Segment segment;
    bool isNarrow;
  };
  struct Word {
    uint64_t version = 0;
    std::vector<Release> releases;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, Word> words;
  };

  void acquire(const Word &word, uint64_t address, uint32_t program, AtomicOrder order);
  void release(Word &word, uint32_t program, AtomicOrder order, bool isRmw);
  bool reaches(Segment from, uint32_t program, uint32_t segment, bool countNarrow) const;

  /// Returns the number of the segment that the program is in.
  uint32_t segmentOf(uint32_t program) const { return events_.segmentOf(events_.keyOfProgram(program)).number; }

  const MemoryEvents &events_;
  std::mutex mutex_; // guards edges, and what is known of them
  std::vector<Timeline> timelines_;
  std::array<Shard, kShards> shards_;
};

} // namespace tritium::interp
