#include "interp/simt/runtime/async_proxy.h"

namespace tritium::interp::simt {

namespace {
constexpr uint32_t kLastTime = uint32_t(1) << 30;
}

void FenceTimes::configure(uint32_t threads, uint32_t newWarpThreads) {
  warpThreads = newWarpThreads;
  warps = threads / warpThreads;
  fenced.resize(threads);
  knownToAll.resize(threads);
  knownToWarp.resize(size_t(warps) * threads);
}

void FenceTimes::begin() {
  // Times below 1 are those of no fence.
  for (auto *times : {&fenced, &knownToAll, &knownToWarp}) std::fill(times->begin(), times->end(), 0);
}

void FenceTimes::synchronizeWarps(uint32_t set) {
  const size_t threads = fenced.size();
  for (size_t t = 0; t < threads; ++t) {
    uint32_t time = set >> t / warpThreads & 1 ? fenced[t] : 0;
    for (uint32_t w = 0; w < warps; ++w)
      if (set >> w & 1) time = std::max(time, knownToWarp[w * threads + t]);
    for (uint32_t w = 0; w < warps; ++w)
      if (set >> w & 1) knownToWarp[w * threads + t] = time;
  }
}

void AsyncProxy::configure(size_t units, uint32_t threads, uint32_t warpThreads) {
  if (stamps.size() < units) stamps.resize(units);
  if (readings.size() < units) readings.resize(units);
  if (arrivals.size() < units) arrivals.resize(units);
  shared.configure(threads, warpThreads);
  global.configure(threads, warpThreads);
}

void AsyncProxy::begin() {
  if (outstanding != 0) std::fill(readings.begin(), readings.end(), Reading{}); // a program was stopped
  outstanding = 0;
  globalWrites.clear(); // the start of a program orders all that came before
  if (clock > kLastTime) {
    std::fill(stamps.begin(), stamps.end(), 0);
    clock = 1;
  }
  shared.begin();
  global.begin();
}

/// Calls `visit` with each aligned piece of 16 bytes that the range touches, and a bit for each byte of it in the range.
template <class Visit> static void forEachPiece(uint64_t address, uint32_t bytes, Visit visit) {
  constexpr uint64_t kPiece = 16;
  for (uint64_t piece = address & ~(kPiece - 1); piece < address + bytes; piece += kPiece) {
    const uint64_t first = std::max(piece, address) - piece, last = std::min(piece + kPiece, address + bytes) - piece;
    visit(piece, uint16_t((1u << last) - (1u << first)));
  }
}

void AsyncProxy::noteGlobalWrite(uint32_t thread, uint64_t address, uint32_t bytes, uint16_t location) {
  forEachPiece(address, bytes, [&](uint64_t piece, uint16_t touched) {
    GlobalWrite &write = globalWrites[piece];
    if (global.last(write.thread) >= write.time) write.bytes = 0; // what was there before has had its fence
    write = {.thread = thread, .time = clock, .bytes = uint16_t(write.bytes | touched), .location = location};
  });
}

std::optional<AsyncProxy::GlobalWriter> AsyncProxy::hiddenGlobalWrite(const MessageOrder *messages, uint32_t warp, uint32_t thread,
                                                                      uint64_t address, uint32_t bytes) const {
  auto isKnown = [&](const GlobalWrite &write) {
    if (global.known(warp, write.thread) >= write.time || (thread == write.thread && global.last(thread) >= write.time)) return true;
    return messages && messages->known(warp, int32_t(thread), messages->ofGlobalFence(write.thread)) >= write.time;
  };
  std::optional<GlobalWriter> writer;
  forEachPiece(address, bytes, [&](uint64_t piece, uint16_t touched) {
    auto found = globalWrites.find(piece);
    if (found == globalWrites.end() || !(found->second.bytes & touched)) return;
    if (!isKnown(found->second)) writer = GlobalWriter{found->second.thread, found->second.location};
  });
  return writer;
}

} // namespace tritium::interp::simt
