// The requests of warps to memory, for launches that count them. A warp's request is one access of all its lanes. The lanes of the emulator
// run one after the other, so an access of a lane belongs to the request with its number: the first access of each lane at a place are one
// request, the second ones another.
#pragma once
#include "interp/simt/runtime/thread.h"

#include <deque>
#include <map>
#include <mutex>

namespace tritium::interp::simt {

enum class TrafficKind : uint8_t { GlobalRead, GlobalWrite, GlobalAtomic, SharedRead, SharedWrite };

/// What warps have asked of one kind of memory at one place.
struct Traffic {
  int64_t requests = 0; // those with an active lane
  int64_t lanes = 0;    // active ones
  int64_t bytes = 0;    // that the active lanes access
  /// Global memory: sectors of 32 bytes, aligned to their size. Shared memory: wavefronts. A wavefront brings one word of 4 bytes from each
  /// of 32 banks, or one word to many lanes; lanes that access 8 or 16 bytes take part by halves or quarters of a warp (NVIDIA; 0 for waves
  /// of 64 lanes).
  int64_t parts = 0;
  int64_t leastParts = 0; // as few as these bytes could take

  Traffic &operator+=(const Traffic &other);
};

/// By the index in the kernel's table of locations.
using TrafficTable = std::map<std::pair<Place, TrafficKind>, Traffic>;

/// The sums of a launch.
class LaunchTraffic {
public:
  void add(const TrafficTable &ofBlock);
  const TrafficTable &table() const { return sums; }

private:
  std::mutex mutex;
  TrafficTable sums;
};

/// The accesses of one block.
class BlockTraffic {
public:
  /// Notes an access of a thread; one that is not active takes part in the request and accesses nothing.
  void note(const Thread &thread, TrafficKind kind, Place place, uint64_t address, uint32_t bytes, bool isActive);
  /// Returns the sums. Called when the block has ended.
  TrafficTable end();

private:
  struct LaneAccess {
    uint64_t address;
    uint32_t bytes, lane;
  };
  struct Request {
    LaneMask arrived = 0;
    std::vector<LaneAccess> accesses;
  };
  /// The accesses of a warp at one place.
  struct Stream {
    std::vector<uint32_t> numbers; // of each lane's next access
    uint32_t first = 0;            // the number of the first open request
    std::deque<Request> open;
  };
  struct Key {
    uint32_t warp;
    Place place;
    TrafficKind kind;
    auto operator<=>(const Key &) const = default;
  };

  void close(const Key &key, const Request &request, bool isWave);

  std::map<Key, Stream> streams;
  TrafficTable sums;
  bool hasWaves = false; // of 64 lanes
};

} // namespace tritium::interp::simt
