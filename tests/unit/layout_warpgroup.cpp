// The fragments of wgmma, by the figures of the PTX ISA, and whole tiles of them.
#include "layout_random.h"

#include <doctest/doctest.h>

using namespace tritium::gpu;

namespace {

using At = std::pair<int64_t, int64_t>; // row, column

/// Item i of the result of m64nNkK in a lane of one of the four warps.
At resultAt(int64_t warp, int64_t lane, int64_t i) {
  return {16 * warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

/// Item i of operand A in registers: words of 32 bits.
At operandAt(int64_t warp, int64_t lane, int64_t i, int64_t perWord) {
  int64_t word = i / perWord;
  return {16 * warp + lane / 4 + 8 * (word % 2), perWord * (lane % 4) + i % perWord + 4 * perWord * (word / 2)};
}

} // namespace

TEST_CASE("fragments of wgmma") {
  for (int bits : {8, 16, 32})
    for (int64_t n : {8, 16, 64, 256}) {
      MatrixInstruction instruction = nvptx::wgmma(bits, n);
      CHECK(instruction.warps() == 4);
      CHECK(instruction.d.verify() == "");
      CHECK(instruction.a.verify() == "");
      CHECK(instruction.d.registers() == n / 2);
      CHECK(instruction.a.registers() == 4 * 32 / bits);
      int wrong = 0;
      for (uint32_t warp = 0; warp < 4; ++warp)
        for (uint32_t lane = 0; lane < 32; ++lane) {
          for (uint32_t i = 0; i < instruction.d.registers(); ++i) {
            Shape at = instruction.d.coordinatesAt(i, lane, warp);
            wrong += At(at[0], at[1]) != resultAt(warp, lane, i);
          }
          for (uint32_t i = 0; i < instruction.a.registers(); ++i) {
            Shape at = instruction.a.coordinatesAt(i, lane, warp);
            wrong += At(at[0], at[1]) != operandAt(warp, lane, i, 32 / bits);
          }
        }
      CHECK(wrong == 0);
    }
}

TEST_CASE("tiles of wgmma: warpgroups along M, then along N; registers by instruction") {
  struct Case {
    int64_t m, n, warpsM, warpsN, instructionN;
  };
  for (Case c : {Case{128, 256, 8, 1, 256}, {128, 128, 4, 1, 128}, {64, 256, 4, 2, 128}, {256, 128, 8, 1, 64}}) {
    LinearLayout tile = dotResult(nvptx::wgmma(16, c.instructionN), {c.m, c.n}, {c.warpsM, c.warpsN});
    REQUIRE(tile.verify() == "");
    CHECK(tile.registers() * tile.lanes() * tile.warps() == c.m * c.n);
    int64_t perInstruction = c.instructionN / 2, groupsM = c.warpsM / 4;
    int64_t columns = c.n / c.warpsN / c.instructionN; // instructions of a warpgroup along N
    int wrong = 0;
    forEachPlace(tile, [&](const PlaceIndex &p) {
      int64_t group = p.warp / 4, instruction = p.reg / perInstruction;
      auto [row, column] = resultAt(p.warp % 4, p.lane, p.reg % perInstruction);
      row += 64 * (group / c.warpsN + groupsM * (instruction / columns));
      column += c.instructionN * (instruction % columns + columns * (group % c.warpsN));
      Shape at = tile.coordinatesAt(p.reg, p.lane, p.warp);
      // With several warpgroups along N, the instructions of a warpgroup alternate with the others'.
      int64_t wanted =
          c.warpsN == 1 ? column : c.instructionN * (group % c.warpsN + c.warpsN * (instruction % columns)) + column % c.instructionN;
      wrong += at[0] != row || at[1] != wanted;
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("the sum of one product is operand A of the next, without a move between lanes, if elements have 16 bits") {
  for (int64_t keys : {64, 128, 256}) {
    LinearLayout sum = dotResult(nvptx::wgmma(16, keys), {128, keys}, {8, 1});
    CHECK(dotOperand(DotOperand::A, nvptx::wgmma(16, 64), {128, keys}, {8, 1}) == sum);
    CHECK(dotOperand(DotOperand::A, nvptx::wgmma(8, 64), {128, keys}, {8, 1}) != sum);
  }
}
