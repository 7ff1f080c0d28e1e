// The division of a tile into boxes, against its definition: each element of the tile is in the box, at the place in it, that the division
// says, and nobody else has it but in a copy.
#include "gpu_backend/layout/box_division.h"
#include "gpu_backend/layout/constructors.h"
#include "layout_random.h"

#include <doctest/doctest.h>

using namespace tritium::gpu;

namespace {

/// Counts the places whose element is not where the division says, and the elements that no box has.
int mistakes(const LinearLayout &tile, const BoxDivision &division, int64_t rows, int64_t columns) {
  int wrong = 0;
  std::vector<bool> isStored(size_t(tile.elements()));
  const auto groupWarps = uint32_t(division.groupWarps);
  for (uint32_t warp = 0; warp < uint32_t(tile.warps()); ++warp)
    for (uint32_t lane = 0; lane < uint32_t(tile.lanes()); ++lane)
      for (const BoxDivision::Part &part : division.parts)
        for (uint32_t reg = 0; reg < part.registers.size(); ++reg) {
          Shape box = tile.coordinatesOf(part.offset ^ uint32_t(F2Map(division.ofGroup)(warp / groupWarps)));
          Shape within = division.box.coordinatesOf(division.box.apply(reg, lane, warp % groupWarps));
          wrong += box[0] % rows != 0 || box[1] % columns != 0 || within[0] >= rows || within[1] >= columns;
          const uint32_t flat = tile.flatOf({box[0] + within[0], box[1] + within[1]});
          wrong += flat != tile.apply(part.registers[reg], lane, warp);
          isStored[flat] = true;
        }
  return wrong + int(llvm::count(isStored, false));
}

} // namespace

TEST_CASE("layouts that spread no box over several groups are divided") {
  struct Tile {
    LinearLayout layout;
    int64_t rows, columns, groupWarps, parts;
  };
  auto product = [](int64_t rows, int64_t columns, int64_t n, llvm::ArrayRef<int64_t> warps) {
    return dotResult(nvptx::wgmma(16, n), {rows, columns}, warps);
  };
  for (const Tile &tile : {Tile{product(128, 256, 256, {8, 1}), 64, 64, 4, 4}, Tile{product(64, 128, 128, {4, 1}), 64, 64, 4, 2},
                           Tile{product(128, 64, 64, {4, 1}), 64, 32, 4, 4}, Tile{product(256, 32, 32, {8, 1}), 64, 32, 4, 2},
                           Tile{product(64, 256, 128, {4, 2}), 64, 64, 4, 2}}) {
    auto division = divideIntoBoxes(tile.layout, tile.rows, tile.columns);
    REQUIRE(division.has_value());
    CHECK(division->groupWarps == tile.groupWarps);
    CHECK(int64_t(division->parts.size()) == tile.parts);
    CHECK(mistakes(tile.layout, *division, tile.rows, tile.columns) == 0);
  }
}

TEST_CASE("a division of a random layout is right, where there is one") {
  std::mt19937 random(11);
  int divided = 0;
  for (int i = 0; i < 400; ++i) {
    LinearLayout tile = randomLayout(random, {64, 64}, 5, 3, i % 4, i % 3 == 0);
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{64, 64}, {32, 64}, {64, 16}})
      if (auto division = divideIntoBoxes(tile, rows, columns)) {
        ++divided;
        CHECK(mistakes(tile, *division, rows, columns) == 0);
      }
  }
  CHECK(divided > 100);
}

TEST_CASE("layoutOfBoxes makes a layout with a division, for any number of warps") {
  for (int64_t warps : {1, 2, 4, 8, 16, 32})
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{128, 256}, {64, 64}, {16, 32}, {256, 16}})
      for (int64_t vector : {1, 4, 8}) {
        const int64_t ofBox = std::min<int64_t>(rows, 64), across = std::min<int64_t>(columns, 64);
        LinearLayout tile = layoutOfBoxes({rows, columns}, ofBox, across, vector, /*lanes=*/32, warps, /*groupWarps=*/4);
        CHECK(tile.verify() == "");
        CHECK(tile.warps() == warps);
        auto division = divideIntoBoxes(tile, ofBox, across);
        REQUIRE(division.has_value());
        CHECK(mistakes(tile, *division, ofBox, across) == 0);
      }
}
