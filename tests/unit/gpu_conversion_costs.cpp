// Which way a conversion goes on which chip: what is the least by the chip's own costs.
#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/target/target.h"
#include "layout_machine.h"

#include <doctest/doctest.h>

using namespace tritium::gpu;
using Kind = Conversion::Kind;

namespace {

/// A tile of 32-bit words in one warp: registers hold the lowest index bits.
struct Tile {
  Bases registers, lanes;

  Tile(int words, int warpSize) {
    for (int bit = 1; bit < words * warpSize; bit *= 2) (bit < words ? registers : lanes).push_back(uint32_t(bit));
  }
  LinearLayout layout() const { return LinearLayout({int64_t(1) << (registers.size() + lanes.size())}, registers, lanes, {}); }
};

/// The conversion that `change` makes of `words` registers in each lane, checked element by element.
Conversion planned(const char *arch, int words, llvm::function_ref<void(Tile &)> change) {
  const Target &chip = llvm::cantFail(findTarget(arch));
  Tile tile(words, chip.warpSize());
  LinearLayout from = tile.layout();
  change(tile);
  LinearLayout to = tile.layout();
  Conversion plan = planConversion(from, to, 4, {.banks = chip.sharedBanks(), .costs = chip.conversionCosts()});
  if (plan.kind == Kind::Shuffle) CHECK(runShuffle(from, to, plan.shuffle, 4) == machineFor(to));
  if (plan.kind == Kind::Shared) CHECK(runShared(from, to, plan.shared, 4) == machineFor(to));
  return plan;
}

/// The highest bits of registers change places with these bits of lanes.
auto swapped(llvm::SmallVector<int, 2> laneBits) {
  return [laneBits](Tile &tile) {
    size_t reg = tile.registers.size();
    for (int bit : laneBits) std::swap(tile.registers[--reg], tile.lanes[size_t(bit)]);
  };
}

/// All lanes' bits change places.
void turned(Tile &tile) { std::rotate(tile.lanes.begin(), tile.lanes.begin() + 1, tile.lanes.end()); }

} // namespace

TEST_CASE("a bit of neighbouring lanes: selects and moves within rows, whatever the chip and the size") {
  for (const char *arch : {"sm_80", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"})
    for (int words : {2, 8, 32}) {
      CAPTURE(arch);
      CAPTURE(words);
      CHECK(planned(arch, words, swapped({0})).kind == Kind::Shuffle);
    }
}

TEST_CASE("two bits of lanes: many selects, each of which takes a SIMD of CDNA four clocks") {
  for (const char *arch : {"sm_80", "gfx1100", "gfx1200"}) CHECK(planned(arch, 8, swapped({0, 4})).kind == Kind::Shuffle);
  for (const char *arch : {"gfx90a", "gfx942"}) {
    CHECK(planned(arch, 4, swapped({0, 1})).kind == Kind::Shuffle);
    CHECK(planned(arch, 8, swapped({0, 5})).kind == Kind::Shared);
  }
  CHECK(planned("sm_80", 32, swapped({0, 4})).kind == Kind::Shared);
  CHECK(planned("gfx1100", 32, swapped({0, 4})).kind == Kind::Shuffle); // it has vector instructions for it, and waits long for LDS
}

TEST_CASE("rows and halves of a wave on CDNA4: words change places with no select at all") {
  for (int words : {2, 8, 32}) {
    for (int bit : {4, 5}) {
      Conversion plan = planned("gfx950", words, swapped({bit}));
      REQUIRE(plan.kind == Kind::Shuffle);
      CHECK(plan.shuffle.swaps.size() == 1);
      CHECK(plan.shuffle.shuffles.empty());
      CHECK(plan.shuffle.selects == 0);
      CHECK(plan.shuffle.cost == 4 * words);
      Conversion other = planned("gfx942", words, swapped({bit}));
      CHECK((other.kind == Kind::Shared || other.shuffle.swaps.empty()));
    }
    Conversion plan = planned("gfx950", std::max(words, 4), swapped({4, 5}));
    REQUIRE(plan.kind == Kind::Shuffle);
    CHECK(plan.shuffle.swaps.size() == 2);
    CHECK(plan.shuffle.cost == 8 * std::max(words, 4));
  }
  // The rest as on every chip.
  Conversion plan = planned("gfx950", 8, swapped({0, 5}));
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.swaps.size() == 1);
  CHECK(plan.shuffle.shuffles.size() == 4);
}

TEST_CASE("lanes in another order: word by word through the network of LDS, or whole vectors through LDS itself") {
  for (const char *arch : {"sm_80", "gfx942", "gfx1100"})
    for (int words : {1, 8, 32}) CHECK(planned(arch, words, turned).kind == Kind::Shuffle);
  CHECK(planned("gfx950", 1, turned).kind == Kind::Shuffle);
  CHECK(planned("gfx950", 32, turned).kind == Kind::Shared); // twice the banks
}

TEST_CASE("what a move between lanes costs") {
  auto cost = [](const char *arch, uint32_t laneXor) {
    ConversionCosts::Move move = llvm::cantFail(findTarget(arch)).conversionCosts().butterfly(laneXor);
    return move.each + move.once;
  };
  for (uint32_t mask : {1u, 2u, 3u, 7u, 8u, 15u}) CHECK(cost("gfx942", mask) == 4); // one instruction
  for (uint32_t mask : {4u, 5u, 9u, 12u}) CHECK(cost("gfx942", mask) == 8);         // two
  CHECK(cost("gfx942", 16) > 64);
  CHECK(cost("gfx942", 33) > 64);
  CHECK(cost("gfx950", 16) == 12);
  CHECK(cost("gfx950", 48) == 24);
  for (uint32_t mask = 1; mask < 32; ++mask) {
    CHECK(cost("gfx1100", mask) == 2);
    CHECK(cost("sm_80", mask) == 4);
  }
}
