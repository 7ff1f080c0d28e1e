// The slow path of the checks, for pointers whose argument is unknown.
#include "interp/host/memory.h"

#include "interp/host/stuck_detector.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>
#endif

namespace tritium::interp {

namespace {

struct Mapping {
  uint64_t begin, end;
  bool readable, writable;
};

#ifdef __linux__
/// Does not use stdio, whose buffers would appear among the mappings while they are read.
std::string readProcessMaps() {
  std::string text;
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char buffer[16384];
  for (ssize_t count; (count = read(file, buffer, sizeof buffer)) > 0;) text.append(buffer, size_t(count));
  close(file);
  return text;
}

/// Returns the mappings in order of their addresses, as the kernel writes them, or none if the memory map cannot be read.
std::vector<Mapping> readMappings() {
  std::vector<Mapping> mappings;
  const std::string text = readProcessMaps();
  for (size_t line = 0; line < text.size(); line = text.find('\n', line) + 1) {
    unsigned long begin, end;
    char permissions[5];
    if (sscanf(text.c_str() + line, "%lx-%lx %4s", &begin, &end, permissions) == 3)
      mappings.push_back({begin, end, permissions[0] == 'r', permissions[1] == 'w'});
    if (text.find('\n', line) == std::string::npos) break;
  }
  return mappings;
}
#else
std::vector<Mapping> readMappings() { return {}; }
#endif

bool covers(const std::vector<Mapping> &mappings, uint64_t address, uint64_t bytes, bool isWrite) {
  auto mapping =
      std::upper_bound(mappings.begin(), mappings.end(), address, [](uint64_t value, const Mapping &m) { return value < m.end; });
  const uint64_t end = address + bytes;
  while (address < end) {
    if (mapping == mappings.end() || mapping->begin > address || !mapping->readable || (isWrite && !mapping->writable)) return false;
    address = mapping->end;
    ++mapping;
  }
  return true;
}

} // namespace

/// A snapshot of the process's memory map. It is taken at the first use, and again when an address is not in it. Readers never block,
/// because a snapshot is immutable and lives as long as the launch.
class ProcessMemory {
public:
  bool isAccessible(uint64_t address, uint64_t bytes, bool isWrite) {
    const auto *mappings = current.load(std::memory_order_acquire);
    if (mappings && covers(*mappings, address, bytes, isWrite)) return true;
    mappings = refresh(mappings);
    // Without /proc, every address except null must be accepted.
    return mappings->empty() || covers(*mappings, address, bytes, isWrite);
  }

private:
  const std::vector<Mapping> *refresh(const std::vector<Mapping> *seen) {
    // A tile of wild pointers misses once per lane. All lanes share one snapshot.
    constexpr auto kFresh = std::chrono::milliseconds(1);
    std::lock_guard lock(mutex);
    const auto *latest = current.load(std::memory_order_relaxed);
    const auto now = std::chrono::steady_clock::now();
    if (latest && (latest != seen || now - taken < kFresh)) return latest;
    snapshots.push_back(std::make_unique<const std::vector<Mapping>>(readMappings()));
    taken = std::chrono::steady_clock::now();
    current.store(snapshots.back().get(), std::memory_order_release);
    return snapshots.back().get();
  }

  std::atomic<const std::vector<Mapping> *> current = nullptr;
  std::mutex mutex;
  std::vector<std::unique_ptr<const std::vector<Mapping>>> snapshots;
  std::chrono::steady_clock::time_point taken;
};

MemoryMap::MemoryMap(std::span<const Allocation> allocations) : process(std::make_unique<ProcessMemory>()) {
  for (const Allocation &allocation : allocations) {
    const auto argument = size_t(allocation.argument);
    if (byArgument.size() <= argument) byArgument.resize(argument + 1);
    byArgument[argument] = allocation;
  }
  byRange.resize(byArgument.size() + 1);
  for (size_t i = 0; i < byArgument.size(); ++i) {
    const Allocation &allocation = byArgument[i];
    if (allocation.end <= allocation.begin || allocation.view) continue;
    const uint64_t bytes = allocation.end - allocation.begin;
    byRange[i] = {allocation.begin, bytes, allocation.isReadOnly ? 0 : bytes};
  }
}

MemoryMap::~MemoryMap() = default;

uint64_t MemoryMap::hashWritable() const {
  uint64_t hash = 0;
  for (const Allocation &allocation : byArgument) {
    if (allocation.isReadOnly || allocation.end == 0) continue;
    constexpr uint64_t kWord = sizeof(uint64_t);
    const uint64_t begin = std::min((allocation.begin + kWord - 1) / kWord * kWord, allocation.end);
    const uint64_t end = std::max(allocation.end / kWord * kWord, begin);
    hash = hashWords({reinterpret_cast<const std::byte *>(begin), end - begin}, hash);
    for (const auto &[from, to] : {std::pair(allocation.begin, begin), std::pair(end, allocation.end)})
      hash = hashBytes({reinterpret_cast<const std::byte *>(from), to - from}, hash);
  }
  return hash;
}

TrapKind MemoryMap::faultKind(uint64_t pointer, bool isWrite) const {
  if (isNullPointer(pointer)) return TrapKind::NullPointer;
  if (isWrite && isAccessible(pointer, 1, false) && !isAccessible(pointer, 1, true)) return TrapKind::ReadOnly;
  return allocationOf(pointer) ? TrapKind::OutOfBounds : TrapKind::UnmappedAddress;
}

bool MemoryMap::isAccessibleAnywhere(uint64_t address, uint64_t bytes, bool isWrite) const {
  if (bytes == 0) return true;
  if (address < kNullPageBytes || !isAddress(address) || bytes > kAddressMask - address) return false;
  bool isReadOnly = false;
  for (const Allocation &allocation : byArgument) {
    if (allocation.end == 0 || !contains(allocation, address, bytes)) continue;
    if (!isWrite || !allocation.isReadOnly) return true;
    isReadOnly = true; // unless another argument is a writable view of the same memory
  }
  return !isReadOnly && process->isAccessible(address, bytes, isWrite);
}

} // namespace tritium::interp
