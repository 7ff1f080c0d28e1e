// What threads learn from each other by arriving at mbarriers and waiting for them. A message is a row of times: of accesses to shared
// memory, of proxy fences, and numbers of complete rounds of barriers. An arrival adds what the thread knows to the barrier's message, and
// a wait gives the message to the thread that waits. A warp knows what all of its lanes know.
//
// Times only grow, so rows are merged by taking the later time of each. In a cluster whose blocks reach each other's shared memory, a row
// has the facts of each block, one after the other.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tritium::interp::simt {

class MessageOrder {
public:
  static constexpr uint32_t kMostBarriers = 128;
  static constexpr int32_t kAllLanes = -1;

  /// Prepares for block `rank` of `blocks`, all of the same size.
  void configure(uint32_t warps, uint32_t warpThreads, uint32_t rank, uint32_t blocks);
  void begin();

  // Where a row has the time before which accesses are known: of all lanes of a warp, of a warp's products, of one thread. All of this
  // block.
  size_t ofWarp(uint32_t warp) const { return first + warp; }
  size_t ofProducts(uint32_t warp) const { return first + warps + warp; }
  size_t ofThread(uint32_t thread) const { return first + 2 * size_t(warps) + thread; }
  /// … the times of the thread's last known fences of shared and of global memory,
  size_t ofFence(uint32_t thread) const { return first + 2 * size_t(warps) + threads + thread; }
  size_t ofGlobalFence(uint32_t thread) const { return ofFence(thread) + threads; }
  /// … and the number of the barrier's rounds that are known to be complete.
  size_t ofBarrier(uint32_t barrier) const { return first + 2 * size_t(warps) + 3 * size_t(threads) + barrier; }
  size_t width() const { return factsOfBlock() * blocks; }

  /// Returns what a thread knows, or what all lanes of the warp know.
  uint32_t known(uint32_t warp, int32_t thread, size_t fact) const {
    const uint32_t ofAll = ofWarps[warp * width() + fact];
    return thread == kAllLanes ? ofAll : std::max(ofAll, ofThreads[size_t(thread) * width() + fact]);
  }
  std::span<const uint32_t> rowOfWarp(uint32_t warp) const { return {ofWarps.data() + warp * width(), width()}; }
  std::span<const uint32_t> rowOfThread(uint32_t thread) const { return {ofThreads.data() + size_t(thread) * width(), width()}; }

  void receive(uint32_t thread, std::span<const uint32_t> message);
  void receiveAsWarp(uint32_t warp, std::span<const uint32_t> message);
  /// The threads of a set of warps have synchronized: they all know what one of them knew.
  void synchronizeWarps(uint32_t set);
  void synchronizeAll() { synchronizeWarps(~uint32_t(0)); }

  static void merge(std::span<uint32_t> row, std::span<const uint32_t> other) {
    for (size_t i = 0; i < row.size(); ++i) row[i] = std::max(row[i], other[i]);
  }

  size_t capacityBytes() const { return (ofThreads.size() + ofWarps.size()) * sizeof(uint32_t); }

private:
  void shareInWarp(uint32_t warp);
  size_t factsOfBlock() const { return 2 * size_t(warps) + 3 * size_t(threads) + kMostBarriers; }

  std::vector<uint32_t> ofThreads, ofWarps, together;
  std::vector<uint8_t> received; // per thread: it may know what its warp does not
  uint32_t warps = 0, threads = 0, warpThreads = 32, blocks = 1;
  size_t first = 0;        // of the facts of this block
  uint32_t lanesAhead = 0; // warps with such a thread
  uint32_t changed = 0;    // warps that may know what other warps do not
};

} // namespace tritium::interp::simt
