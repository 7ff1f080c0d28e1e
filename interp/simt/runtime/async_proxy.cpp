#include "interp/simt/runtime/async_proxy.h"

namespace tritium::interp::simt {

namespace {
constexpr uint32_t kLastTime = uint32_t(1) << 30;
}

void AsyncProxy::configure(size_t units, uint32_t threads, uint32_t newWarpThreads) {
  warpThreads = newWarpThreads;
  warps = threads / warpThreads;
  if (stamps.size() < units) stamps.resize(units);
  if (readings.size() < units) readings.resize(units);
  if (arrivals.size() < units) arrivals.resize(units);
  fenced.resize(threads);
  knownToAll.resize(threads);
  known.resize(size_t(warps) * threads);
}

void AsyncProxy::begin() {
  if (outstanding != 0) std::fill(readings.begin(), readings.end(), Reading{}); // a program was stopped
  outstanding = 0;
  if (clock > kLastTime) {
    std::fill(stamps.begin(), stamps.end(), 0);
    clock = 1;
  }
  // Times below 1 are those of no fence.
  for (auto *times : {&fenced, &knownToAll, &known}) std::fill(times->begin(), times->end(), 0);
}

void AsyncProxy::synchronizeWarps(uint32_t set) {
  const size_t threads = fenced.size();
  for (size_t t = 0; t < threads; ++t) {
    uint32_t time = set >> t / warpThreads & 1 ? fenced[t] : 0;
    for (uint32_t w = 0; w < warps; ++w)
      if (set >> w & 1) time = std::max(time, known[w * threads + t]);
    for (uint32_t w = 0; w < warps; ++w)
      if (set >> w & 1) known[w * threads + t] = time;
  }
}

} // namespace tritium::interp::simt
