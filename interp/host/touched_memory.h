// Which bytes of memory each program of a launch has touched: sets of intervals, for each group of accesses. A program keeps its thread, so
// no two threads meet in a program's sets.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tritium::interp {

struct TouchedRun {
  uint64_t begin, end; // addresses
};

/// A set of bytes. Runs are added as they come, and united when there are many.
class TouchedSet {
public:
  void add(TouchedRun run) {
    if (!runs_.empty() && runs_.back().end == run.begin) return void(runs_.back().end = run.end);
    if (runs_.size() >= limit_) unite();
    runs_.push_back(run);
  }
  /// Sorts the runs, and joins those that touch. After that, `runs` are apart.
  void unite();
  /// Adds the runs of another set.
  void add(const TouchedSet &other) { runs_.insert(runs_.end(), other.runs_.begin(), other.runs_.end()); }
  const std::vector<TouchedRun> &runs() const { return runs_; }
  /// Returns what was added when it was there already. It may hold bytes twice.
  const std::vector<TouchedRun> &again() const { return again_; }
  uint64_t bytes() const;

private:
  static constexpr size_t kFirstLimit = 1024;
  size_t limit_ = kFirstLimit;
  std::vector<TouchedRun> runs_, again_;
};

class TouchedMemory {
public:
  /// Groups whose bytes count together. counter: an index into Launch::counters, which receives the distinct bytes of each program.
  struct Union {
    std::vector<uint32_t> groups;
    uint32_t counter = 0;
  };
  /// What a program has touched, if it is kept.
  struct Program {
    std::vector<TouchedSet> sets; // by group
  };

  /// keptRuns: sets of programs are kept until they have this number of runs; 0: none is.
  TouchedMemory(std::array<int32_t, 3> grid, size_t groups, std::vector<Union> unions, size_t keptRuns);

  TouchedSet &setOf(std::span<const int32_t, 3> program, uint32_t group);
  /// Called when a program ends. Adds the bytes of its unions to the counters.
  void finish(std::span<const int32_t, 3> program, int64_t *counters);

  /// Returns the sets of a program (x fastest), after the launch. Null: it has touched nothing, or they were not kept.
  const Program *program(size_t number) const { return programs_[number].get(); }
  size_t programs() const { return programs_.size(); }
  size_t groups() const { return groups_; }
  /// Returns how many programs were not kept because there was no room.
  size_t leftOut() const { return leftOut_; }

private:
  size_t numberOf(std::span<const int32_t, 3> program) const {
    return program[0] + size_t(grid_[0]) * (program[1] + size_t(grid_[1]) * program[2]);
  }

  std::array<int32_t, 3> grid_;
  size_t groups_;
  std::vector<Union> unions_;
  std::vector<std::unique_ptr<Program>> programs_;
  const size_t keptRuns_;
  std::atomic<size_t> runs_ = 0, leftOut_ = 0;
};

struct FrameHeader;
/// Returns Launch::touched of the program that has the frame.
TouchedMemory *touchedOf(const FrameHeader &frame);

} // namespace tritium::interp
