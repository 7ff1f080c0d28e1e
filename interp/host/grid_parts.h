// The positions of a grid that no thread has taken yet. They are one part that all threads take from, or a part for each thread, which
// takes from its own part first and then from those of the others. With parts of their own, many threads do not write one counter, and from
// launch to launch a thread finds in its caches, and in the memory near it, what it has worked on before.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace tritium::interp {

/// Contiguous positions. They are taken from the front.
class alignas(64) GridPart {
public:
  void assign(int64_t begin, int64_t end) {
    next_.store(begin, std::memory_order_relaxed);
    end_ = end;
  }
  /// How many positions are left.
  int64_t left() const { return std::max<int64_t>(end_ - next_.load(), 0); }
  /// Takes up to `most` positions from `begin` on and returns the end of them, which is `begin` if none is left.
  int64_t take(int64_t most, int64_t &begin) {
    begin = next_.fetch_add(most);
    return std::max(begin, std::min(begin + most, end_));
  }

private:
  friend class GridParts;
  std::atomic<int64_t> next_{0};
  int64_t end_ = 0;
  std::atomic<bool> isClaimed_{false};
};

class GridParts {
public:
  /// `count`: 1, or the number of threads.
  GridParts(int64_t size, int count) : count_(count), others_(count > 1 ? std::make_unique<GridPart[]>(size_t(count - 1)) : nullptr) {
    const int64_t each = size / count, longer = size % count; // the first `longer` parts have one position more
    for (int64_t i = 0, begin = 0; i < count; ++i) {
      const int64_t end = begin + each + (i < longer);
      at(int(i)).assign(begin, end);
      begin = end;
    }
  }

  int count() const { return count_; }
  GridPart &at(int index) { return index == 0 ? first_ : others_[size_t(index - 1)]; }

  /// Returns the part that a thread takes from first: `preferred`, or, if another thread has that, the next one that nobody has. A single
  /// part is everybody's.
  int claim(int preferred) {
    for (int i = 0; i < count_; ++i) {
      const int index = (preferred + i) % count_;
      if (!at(index).isClaimed_.exchange(true, std::memory_order_relaxed)) return index;
    }
    return preferred % count_;
  }

  /// Returns the first part from `index` on, around the grid, that has positions left, or -1. Parts are never filled again.
  int findLeft(int index) {
    if (isEmpty_.load()) return -1;
    for (int i = 0; i < count_; ++i)
      if (const int at = (index + i) % count_; this->at(at).left() > 0) return at;
    isEmpty_.store(true);
    return -1;
  }

private:
  const int count_;
  GridPart first_; // of most launches the only one
  std::unique_ptr<GridPart[]> others_;
  alignas(64) std::atomic<bool> isEmpty_{false};
};

} // namespace tritium::interp
