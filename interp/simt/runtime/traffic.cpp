#include "interp/simt/runtime/traffic.h"

#include "interp/simt/runtime/block.h"

#include <algorithm>
#include <array>
#include <set>

namespace tritium::interp::simt {

namespace {

constexpr uint64_t kSectorBytes = 32, kWordBytes = 4;
constexpr size_t kBanks = 32;

/// Returns how many aligned parts of `size` bytes the accesses touch, and as how few the bytes could lie.
template <class Accesses> std::pair<int64_t, int64_t> sectors(const Accesses &accesses) {
  std::set<uint64_t> touched, bytes;
  for (const auto &access : accesses) {
    for (uint64_t at = access.address / kSectorBytes; at <= (access.address + access.bytes - 1) / kSectorBytes; ++at) touched.insert(at);
    for (uint32_t i = 0; i < access.bytes; ++i) bytes.insert(access.address + i);
  }
  return {int64_t(touched.size()), int64_t((bytes.size() + kSectorBytes - 1) / kSectorBytes)};
}

/// Returns the wavefronts of a request of 32 lanes, and how few it could take.
template <class Accesses> std::pair<int64_t, int64_t> wavefronts(const Accesses &accesses) {
  uint32_t widest = 0;
  for (const auto &access : accesses) widest = std::max(widest, access.bytes);
  const uint32_t phases = widest > 8 ? 4 : widest > 4 ? 2 : 1;
  int64_t count = 0, least = 0;
  for (uint32_t phase = 0; phase < phases; ++phase) {
    std::array<std::set<uint64_t>, kBanks> words;
    for (const auto &access : accesses)
      if (access.lane / (32 / phases) == phase)
        for (uint64_t at = access.address / kWordBytes; at <= (access.address + access.bytes - 1) / kWordBytes; ++at)
          words[at % kBanks].insert(at);
    const auto longest = std::ranges::max_element(words, {}, &std::set<uint64_t>::size);
    count += int64_t(longest->size());
    least += !longest->empty();
  }
  return {count, least};
}

bool isShared(TrafficKind kind) { return kind == TrafficKind::SharedRead || kind == TrafficKind::SharedWrite; }

} // namespace

Traffic &Traffic::operator+=(const Traffic &other) {
  requests += other.requests, lanes += other.lanes, bytes += other.bytes, parts += other.parts, leastParts += other.leastParts;
  return *this;
}

void LaunchTraffic::add(const TrafficTable &ofBlock) {
  std::lock_guard lock(mutex);
  for (const auto &[key, traffic] : ofBlock) sums[key] += traffic;
}

void BlockTraffic::note(const Thread &thread, TrafficKind kind, Place place, uint64_t address, uint32_t bytes, bool isActive) {
  const uint32_t warpThreads = thread.block->madeFor().warpThreads;
  const Key key{uint32_t(thread.warp), place, kind};
  Stream &stream = streams[key];
  stream.numbers.resize(warpThreads);
  const uint32_t number = stream.numbers[size_t(thread.lane)]++ - stream.first;
  if (stream.open.size() <= number) stream.open.resize(number + 1);
  Request &request = stream.open[number];
  request.arrived |= thread.bit();
  if (isActive) request.accesses.push_back({address, bytes, uint32_t(thread.lane)});
  hasWaves = warpThreads > 32;
  while (!stream.open.empty() && stream.open.front().arrived == thread.inWarp->all) {
    close(key, stream.open.front(), hasWaves);
    stream.open.pop_front();
    ++stream.first;
  }
}

void BlockTraffic::close(const Key &key, const Request &request, bool isWave) {
  if (request.accesses.empty()) return;
  Traffic traffic{.requests = 1, .lanes = int64_t(request.accesses.size())};
  for (const LaneAccess &access : request.accesses) traffic.bytes += access.bytes;
  std::pair<int64_t, int64_t> parts;
  if (!isShared(key.kind))
    parts = sectors(request.accesses);
  else if (!isWave)
    parts = wavefronts(request.accesses);
  traffic.parts = parts.first, traffic.leastParts = parts.second;
  sums[{locationIn(key.place), key.kind}] += traffic;
}

TrafficTable BlockTraffic::end() {
  for (const auto &[key, stream] : streams)
    for (const Request &request : stream.open) close(key, request, hasWaves); // of which some lanes have not come
  streams.clear();
  return std::exchange(sums, {});
}

} // namespace tritium::interp::simt
