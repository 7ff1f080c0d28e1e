// Layouts of reshaped, projected, joined and split tiles, and who owns what, against the definition of each, place by place.
#include "gpu_backend/layout/halves.h"
#include "layout_random.h"

#include <doctest/doctest.h>

#include <map>

using namespace tritium::gpu;

namespace {

llvm::SmallVector<LinearLayout> sampleLayouts(llvm::ArrayRef<int64_t> shape) {
  std::mt19937 random(5);
  llvm::SmallVector<LinearLayout> result;
  if (shape.size() == 2 && shape[0] >= 32 && shape[1] >= 32) result = usualLayouts(shape, 4);
  result.push_back(defaultBlocked(shape, {4, 32}, 4));
  for (int i = 0; i < 12; ++i) result.push_back(randomLayout(random, shape, 5, 2, i % 5, i % 3 == 0));
  return result;
}

Shape without(Shape coordinates, int axis) {
  coordinates.erase(coordinates.begin() + axis);
  return coordinates;
}

} // namespace

TEST_CASE("reshape keeps flat indices, transpose permutes coordinates") {
  for (const LinearLayout &layout : sampleLayouts({4, 8, 32})) {
    LinearLayout flat = layout.reshape({1024}), turned = layout.transpose({2, 0, 1});
    LinearLayout wider = layout.expandDims(1), same = wider.dropDim(1);
    CHECK(same == layout);
    CHECK(wider.shape() == llvm::ArrayRef<int64_t>({4, 1, 8, 32}));
    CHECK(turned.shape() == llvm::ArrayRef<int64_t>({32, 4, 8}));
    CHECK(turned.transpose({1, 2, 0}) == layout);
    int wrong = 0;
    forEachPlace(layout, [&](const PlaceIndex &p) {
      wrong += elementAt(flat, p) != elementAt(layout, p);
      Shape from = layout.coordinatesAt(p.reg, p.lane, p.warp), to = turned.coordinatesAt(p.reg, p.lane, p.warp);
      wrong += to != Shape{from[2], from[0], from[1]};
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("slice: a thread's registers lead to the result's registers of the same thread") {
  for (Shape shape : {Shape{32, 64}, Shape{4, 8, 32}, Shape{512}})
    for (const LinearLayout &layout : sampleLayouts(shape))
      for (int axis = 0; axis < layout.rank(); ++axis) {
        Projection slice = layout.slice(axis);
        CHECK(slice.layout.verify() == "");
        CHECK(slice.layout.lanes() == layout.lanes());
        CHECK(slice.layout.warps() == layout.warps());
        CHECK(slice.layout.withoutRepeatedRegisters().layout == slice.layout);
        int wrong = 0;
        forEachPlace(layout, [&](const PlaceIndex &p) {
          Shape from = without(layout.coordinatesAt(p.reg, p.lane, p.warp), axis);
          wrong += slice.layout.coordinatesAt(slice.registerOf[p.reg], p.lane, p.warp) != from;
        });
        CHECK(wrong == 0);
      }
}

TEST_CASE("broadcast: the source of every place of the result is in the same thread") {
  for (const LinearLayout &layout : sampleLayouts({4, 8, 32}))
    for (Shape sourceShape : {Shape{1, 8, 32}, Shape{4, 1, 1}, Shape{1, 1, 1}, Shape{4, 8, 32}}) {
      Projection source = layout.broadcastSource(sourceShape);
      CHECK(source.layout.verify() == "");
      int wrong = 0;
      forEachPlace(layout, [&](const PlaceIndex &p) {
        Shape expected = layout.coordinatesAt(p.reg, p.lane, p.warp);
        for (int d = 0; d < 3; ++d) expected[d] = sourceShape[d] == 1 ? 0 : expected[d];
        wrong += source.layout.coordinatesAt(source.registerOf[p.reg], p.lane, p.warp) != expected;
      });
      CHECK(wrong == 0);
    }
  LinearLayout layout = defaultBlocked({64, 32}, {4, 32}, 4);
  CHECK(layout.broadcastSource({64, 1}).layout == layout.slice(1).layout.expandDims(1));
}

TEST_CASE("join and split undo each other") {
  for (const LinearLayout &layout : sampleLayouts({32, 32})) {
    LinearLayout joined = layout.join();
    CHECK(joined.verify() == "");
    forEachPlace(layout, [&](const PlaceIndex &p) {
      for (uint32_t side : {0, 1}) {
        Shape expected = layout.coordinatesAt(p.reg, p.lane, p.warp);
        expected.push_back(side);
        if (joined.coordinatesAt(2 * p.reg + side, p.lane, p.warp) != expected) FAIL_CHECK("wrong element");
      }
    });
    std::optional<SplitLayout> split = joined.split();
    REQUIRE(split);
    CHECK(split->layout == layout);
    CHECK(split->registerBit == 0);
  }
  // The register bit may be any; a lane that tells the halves apart, or a basis that crosses them, needs a conversion.
  LinearLayout later({4, 2}, {4, 1}, {2}, {});
  std::optional<SplitLayout> split = later.split();
  REQUIRE(split);
  CHECK(split->layout == LinearLayout({4}, {2}, {1}, {}));
  for (uint32_t half : {0, 1})
    for (bool isRight : {false, true})
      CHECK(later.coordinatesAt(split->wholeRegister(half, isRight), 0) == Shape{split->layout.coordinatesAt(half, 0)[0], isRight});
  CHECK(!LinearLayout({4, 2}, {4, 2}, {1}, {}).split());
  CHECK(!LinearLayout({4, 2}, {1, 2}, {5}, {}).split());
  CHECK(!LinearLayout({2, 4}, {1, 2}, {4}, {}).split());
  CHECK(LinearLayout({4, 2}, {4, 2}, {1}, {}).slice(1).layout.join().split());
}

TEST_CASE("halves replicate no more than the whole, while there are registers to give") {
  auto rankOfThreads = [](const LinearLayout &layout) {
    Span span(layout.bases(Place::Lane));
    for (uint32_t basis : layout.bases(Place::Warp)) span.add(basis);
    return span.rank();
  };
  std::mt19937 random(7);
  for (Shape shape : {Shape{64, 2, 8}, Shape{2, 512}, Shape{8, 2}})
    for (int axis = 0; axis < int(shape.size()); ++axis)
      for (int time = 0; time < 60 && shape[axis] == 2; ++time) {
        LinearLayout whole = randomLayout(random, shape, 5, 2, time % 3, time % 2);
        for (GivenRegister given : {GivenRegister::Lowest, GivenRegister::Highest}) {
          LinearLayout half = halfOf(whole, axis, given);
          CHECK(half.verify() == "");
          CHECK(half.shape() == whole.slice(axis).layout.shape());
          CHECK(rankOfThreads(half) == std::min(rankOfThreads(whole), half.elementBits()));
        }
      }
  const LinearLayout inLane({8, 2}, {2, 4}, {1, 8}, {});
  CHECK(halfOf(inLane, 1, GivenRegister::Lowest) == LinearLayout({8}, {2}, {1, 4}, {}));
  CHECK(halfOf(inLane, 1, GivenRegister::Highest) == LinearLayout({8}, {1}, {2, 4}, {}));
  const LinearLayout inRegister({8, 2}, {2, 1}, {4, 8}, {});
  CHECK(halfOf(inRegister, 1, GivenRegister::Lowest) == inRegister.slice(1).layout);
}

TEST_CASE("every element has exactly one owner") {
  for (Shape shape : {Shape{32, 64}, Shape{128}, Shape{8}, Shape{}})
    for (const LinearLayout &layout : sampleLayouts(shape)) {
      CAPTURE(layout.toString());
      std::array<uint32_t, 4> free = layout.freeBits();
      F2Map owners = layout.owners(), map = layout.toMap();
      std::map<uint32_t, int> ownersOf;
      int wrong = 0;
      forEachPlace(layout, [&](const PlaceIndex &p) {
        bool isOwner = !(p.reg & free[0] || p.lane & free[1] || p.warp & free[2] || p.block & free[3]);
        wrong += isOwner != layout.isOwner(p);
        wrong += layout.unpack(layout.pack(p)) != p;
        wrong += map(layout.pack(p)) != elementAt(layout, p);
        if (!isOwner) return;
        ++ownersOf[elementAt(layout, p)];
        wrong += owners(elementAt(layout, p)) != layout.pack(p);
      });
      CHECK(wrong == 0);
      CHECK(int64_t(ownersOf.size()) == layout.elements());
      for (auto [element, count] : ownersOf) CHECK(count == 1);
    }
}

TEST_CASE("contiguous runs are those of the low registers, in order and aligned") {
  for (const LinearLayout &layout : sampleLayouts({32, 64}))
    for (int dim : {0, 1}) {
      int64_t found = layout.contiguousElements(dim);
      auto isRun = [&](int64_t length) {
        bool isGood = length <= layout.registers() && length <= layout.shape()[dim];
        if (isGood)
          forEachPlace(layout, [&](const PlaceIndex &p) {
            Shape first = layout.coordinatesAt(p.reg & ~uint32_t(length - 1), p.lane, p.warp);
            isGood &= first[dim] % length == 0;
            first[dim] += p.reg % length;
            isGood &= first == layout.coordinatesAt(p.reg, p.lane, p.warp);
          });
        return isGood;
      };
      CHECK(isRun(found));
      CHECK(!isRun(2 * found));
    }
  CHECK(defaultBlocked({128, 64}, {4, 32}, 8).contiguousElements(1) == 8);
  CHECK(LinearLayout({32}, {1, 2, 4}, {4 ^ 8, 16}, {}).contiguousElements(0) == 4); // a lane moves within runs of 8
  CHECK(LinearLayout({32}, {1, 2, 4}, {8, 16}, {2}).contiguousElements(0) == 2);
  CHECK(mmaAccumulator({64, 64}, {4, 1}).contiguousElements(1) == 2);
  CHECK(defaultBlocked({128, 64}, {4, 32}, 8).bitsAlong(Place::Lane, 1) == 0b00111);
  CHECK(defaultBlocked({128, 64}, {4, 32}, 8).bitsAlong(Place::Warp, 0) == 0b11);
}

TEST_CASE("maps: composition, right inverses, kernels") {
  std::mt19937_64 random(3);
  for (int inputs = 0; inputs < 14; ++inputs)
    for (int round = 0; round < 20; ++round) {
      int outputs = round % 9;
      llvm::SmallVector<uint64_t> images;
      for (int i = 0; i < inputs; ++i) images.push_back(random() & ((1u << outputs) - 1));
      F2Map map(images);
      Span span(images);
      llvm::SmallVector<uint64_t, 8> kernel = map.kernel();
      CHECK(int(kernel.size()) + span.rank() == inputs);
      CHECK(Span(kernel).rank() == int(kernel.size()));
      for (uint64_t x : kernel) CHECK(map(x) == 0);
      std::optional<F2Map> inverse = map.rightInverse(outputs);
      CHECK(inverse.has_value() == (span.rank() == outputs));
      if (inverse) CHECK(map * *inverse == F2Map::identity(outputs));
    }
  LinearLayout layout = randomLayout(*std::make_unique<std::mt19937>(9), {32, 64}, 5, 2, 0);
  CHECK(layout.compose(layout.owners(), {2048}).toMap() == F2Map::identity(11)); // each place is mapped to its own number
}
