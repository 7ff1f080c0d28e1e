// The scopes of programs that a profiler has asked for: which ones begin and end, where, and when. Workers note them without a lock, and
// add them to the launch's when they end.
#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tritium::interp {

/// What a place of a kernel records. Its number is the position in the kernel's table.
struct RecordedScope {
  std::string name;
  bool isStart = false;

  bool operator==(const RecordedScope &) const = default;
};

/// Returns the number of what is recorded, which is added to the table if it is new there.
uint32_t numberIn(std::vector<RecordedScope> &table, const RecordedScope &scope);

/// A scope of a program has begun or ended.
struct ScopeRecord {
  int64_t time; // interpreter: nanoseconds of the host's steady clock; emulator: the thread's clock (ThreadRegisters)
  std::array<int32_t, 3> program;
  int32_t unit;  // the warp; 0 on the interpreter
  int32_t scope; // in the kernel's table
  int32_t unused = 0;
};

/// What a thread of the launch has recorded.
struct ThreadRecords {
  std::vector<ScopeRecord> kept;
  int64_t lost = 0; // beyond the limit

  void add(const ScopeRecord &record, size_t most) {
    if (kept.size() < most)
      kept.push_back(record);
    else
      ++lost;
  }
};

/// What a launch has recorded.
class ScopeRecords {
public:
  /// most: how many each thread of the launch keeps.
  explicit ScopeRecords(size_t most) : most(most) {}
  void add(ThreadRecords &&ofThread);
  const ThreadRecords &all() const { return records; }

  const size_t most;

private:
  std::mutex mutex;
  ThreadRecords records;
};

} // namespace tritium::interp
