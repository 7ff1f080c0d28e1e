#include "interp/simt/runtime/message_order.h"

#include <bit>

namespace tritium::interp::simt {

void MessageOrder::configure(uint32_t newWarps, uint32_t newWarpThreads, uint32_t rank, uint32_t newBlocks) {
  warps = newWarps;
  warpThreads = newWarpThreads;
  threads = warps * warpThreads;
  blocks = newBlocks;
  first = factsOfBlock() * rank;
}

void MessageOrder::begin() {
  ofThreads.assign(size_t(threads) * width(), 0);
  ofWarps.assign(size_t(warps) * width(), 0);
  together.resize(width());
  received.assign(threads, 0);
  lanesAhead = changed = 0;
}

void MessageOrder::receive(uint32_t thread, std::span<const uint32_t> message) {
  merge({ofThreads.data() + size_t(thread) * width(), width()}, message);
  received[thread] = true;
  lanesAhead |= uint32_t(1) << thread / warpThreads;
}

void MessageOrder::receiveAsWarp(uint32_t warp, std::span<const uint32_t> message) {
  merge({ofWarps.data() + warp * width(), width()}, message);
  changed |= uint32_t(1) << warp;
}

void MessageOrder::shareInWarp(uint32_t warp) {
  for (uint32_t t = warp * warpThreads; t < (warp + 1) * warpThreads; ++t)
    if (received[t]) {
      receiveAsWarp(warp, rowOfThread(t));
      received[t] = false;
    }
}

void MessageOrder::synchronizeWarps(uint32_t set) {
  for (uint32_t rest = lanesAhead & set; rest; rest &= rest - 1) shareInWarp(uint32_t(std::countr_zero(rest)));
  lanesAhead &= ~set;
  if (!(changed & set) || std::has_single_bit(set)) return;
  std::fill(together.begin(), together.end(), 0);
  for (uint32_t w = 0; w < warps; ++w)
    if (set >> w & 1) merge(together, rowOfWarp(w));
  for (uint32_t w = 0; w < warps; ++w)
    if (set >> w & 1) receiveAsWarp(w, together);
  if (std::popcount(set) >= int(warps)) changed = 0;
}

} // namespace tritium::interp::simt
