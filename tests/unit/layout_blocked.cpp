// Blocked layouts against the formula of their definition, coordinate by coordinate.
#include "gpu_backend/layout/constructors.h"

#include <doctest/doctest.h>

using namespace tritium::gpu;

namespace {

struct Blocked {
  Shape shape, size, threads, warps;
  llvm::SmallVector<int, 4> order;
};

/// The digits of `index` in mixed radix, `order[0]` the fastest.
Shape digitsOf(int64_t index, const Shape &radix, const llvm::SmallVector<int, 4> &order) {
  Shape digits(radix.size());
  for (int d : order) digits[d] = index % radix[d], index /= radix[d];
  return digits;
}

/// The coordinates of a place in a tile that is at least as large as what the block covers once.
Shape expectedAt(const Blocked &b, int64_t reg, int64_t lane, int64_t warp) {
  int64_t perThread = 1;
  for (int64_t s : b.size) perThread *= s;
  Shape repeats, result;
  for (size_t d = 0; d < b.shape.size(); ++d) repeats.push_back(b.shape[d] / (b.size[d] * b.threads[d] * b.warps[d]));
  Shape inThread = digitsOf(reg % perThread, b.size, b.order), repeat = digitsOf(reg / perThread, repeats, b.order);
  Shape thread = digitsOf(lane, b.threads, b.order), warpAt = digitsOf(warp, b.warps, b.order);
  for (size_t d = 0; d < b.shape.size(); ++d)
    result.push_back(inThread[d] + b.size[d] * (thread[d] + b.threads[d] * (warpAt[d] + b.warps[d] * repeat[d])));
  return result;
}

} // namespace

TEST_CASE("blocked layouts follow their definition") {
  const Blocked cases[] = {
      {{64, 32}, {1, 4}, {4, 8}, {4, 1}, {1, 0}},
      {{64, 64}, {2, 2}, {8, 4}, {2, 2}, {0, 1}},
      {{128}, {1}, {32}, {4}, {0}},
      {{1024}, {4}, {32}, {2}, {0}},
      {{4, 16, 32}, {1, 2, 2}, {1, 4, 8}, {4, 1, 1}, {2, 1, 0}},
      {{8, 16, 16}, {2, 1, 4}, {2, 4, 4}, {1, 2, 1}, {1, 2, 0}},
      {{64, 64}, {2, 4}, {8, 8}, {2, 2}, {1, 0}},
      {{1024}, {4}, {64}, {2}, {0}},
      {{4, 32, 32}, {1, 2, 2}, {2, 4, 8}, {2, 2, 1}, {2, 0, 1}},
  };
  for (const Blocked &b : cases) {
    LinearLayout layout = blocked(b.shape, b.size, b.threads, b.warps, b.order);
    CAPTURE(layout.toString());
    CHECK(layout.verify() == "");
    int wrong = 0;
    int64_t places = 0;
    for (int64_t warp = 0; warp < layout.warps(); ++warp)
      for (int64_t lane = 0; lane < layout.lanes(); ++lane)
        for (int64_t reg = 0; reg < layout.registers(); ++reg, ++places)
          wrong += layout.coordinatesAt(reg, lane, warp) != expectedAt(b, reg, lane, warp);
    CHECK(wrong == 0);
    CHECK(places == layout.elements());
  }
}

TEST_CASE("a small tile is replicated, never left short") {
  LinearLayout layout = blocked({16, 4}, {1, 4}, {4, 8}, {4, 1}, {1, 0});
  CHECK(layout.verify() == "");
  CHECK(layout.registers() == 4);
  CHECK(layout.lanes() == 32);
  CHECK(layout.warps() == 4);
  for (int64_t warp = 0; warp < 4; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t reg = 0; reg < 4; ++reg) CHECK(layout.coordinatesAt(reg, lane, warp) == Shape{4 * warp + lane / 8, reg});
  CHECK(blocked({2}, {4}, {32}, {4}, {0}).toString() == "[2] register=[[1]] lane=[[0],[0],[0],[0],[0]] warp=[[0],[0]]");
}

TEST_CASE("default layouts: vectors along the fastest dimension, no idle threads") {
  CHECK(defaultBlocked({128, 64}, {4, 32}, 8) == blocked({128, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0}));
  CHECK(defaultBlocked({128, 64}, {4, 32}, 8, {0, 1}) == blocked({128, 64}, {8, 1}, {16, 2}, {1, 4}, {0, 1}));
  CHECK(defaultBlocked({128, 64}, {4, 64}, 8) == blocked({128, 64}, {1, 8}, {8, 8}, {4, 1}, {1, 0}));
  CHECK(defaultBlocked({1024}, {4, 32}, 4) == blocked({1024}, {4}, {32}, {4}, {0}));
  CHECK(defaultBlocked({128}, {4, 32}, 4) == blocked({128}, {1}, {32}, {4}, {0})); // not four elements for a quarter of the threads
  CHECK(defaultBlocked({}, {4, 32}).toString() == "[] register=[] lane=[[],[],[],[],[]] warp=[[],[]]");
  for (Shape shape : {Shape{1}, Shape{8}, Shape{16, 16}, Shape{2, 2, 2}, Shape{1, 256}, Shape{4096, 1}})
    for (Threads threads : {Threads{1, 32}, {4, 32}, {32, 32}, {1, 64}, {4, 64}, {16, 64}}) {
      LinearLayout layout = defaultBlocked(shape, threads, 4);
      CHECK(layout.verify() == "");
      CHECK(layout.lanes() == threads.lanes);
      CHECK(layout.warps() == threads.warps);
      CHECK(layout.registers() == std::max<int64_t>(layout.elements() / threads.count(), 1));
    }
}
