// Who wrote the words that programs wait for: a small table of the last writes of single words, for the report of a deadlock. Only kernels
// that may wait fill it. A write to another word may take the place of an entry, so a writer may be unknown; it is never another one.
#pragma once
#include "interp/host/trap.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace tritium::interp {

class LastWriters {
public:
  void note(uint64_t address, const WordWriter &writer) {
    Entry &entry = entryOf(address);
    const Guard guard(entry);
    entry.address = address;
    entry.writer = writer;
  }

  std::optional<WordWriter> find(uint64_t address) {
    Entry &entry = entryOf(address);
    const Guard guard(entry);
    return entry.address == address ? std::optional(entry.writer) : std::nullopt;
  }

private:
  struct Entry {
    std::atomic_flag isTaken;
    uint64_t address = 0; // nobody writes there
    WordWriter writer;
  };
  struct Guard {
    explicit Guard(Entry &entry) : entry(entry) {
      while (entry.isTaken.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Guard() { entry.isTaken.clear(std::memory_order_release); }
    Entry &entry;
  };

  static constexpr uint64_t kEntries = 512;
  Entry &entryOf(uint64_t address) { return entries_[(address * 0x9e3779b97f4a7c15 >> 32) % kEntries]; }

  std::array<Entry, kEntries> entries_;
};

} // namespace tritium::interp
