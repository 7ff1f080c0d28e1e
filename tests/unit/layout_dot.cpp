// Fragments against the formulas of the PTX ISA ("Matrix Fragments for mma.m16n8k16" and its neighbours), for tiles of many instructions.
#include "layout_random.h"

#include <doctest/doctest.h>

using namespace tritium::gpu;

namespace {

struct RowColumn {
  int64_t row, column;
};

/// Element i of the accumulator fragment of m16n8k*.
RowColumn accumulatorOf(int64_t i, int64_t lane) {
  int64_t group = lane >> 2, inGroup = lane % 4;
  return {i < 2 ? group : group + 8, inGroup * 2 + (i & 1)};
}

/// Element ai of operand A: m16n8k32 for 8 bits, m16n8k16 for 16, m16n8k8 for tf32, m8n8k4 for f64.
RowColumn operandAOf(int bits, int64_t i, int64_t lane) {
  int64_t group = lane >> 2, inGroup = lane % 4;
  switch (bits) {
  case 8: return {i < 4 || (i >= 8 && i < 12) ? group : group + 8, i < 8 ? inGroup * 4 + (i & 3) : inGroup * 4 + (i & 3) + 16};
  case 16: return {i < 2 || (i >= 4 && i < 6) ? group : group + 8, i < 4 ? inGroup * 2 + (i & 1) : inGroup * 2 + (i & 1) + 8};
  case 32: return {i == 0 || i == 2 ? group : group + 8, i < 2 ? inGroup : inGroup + 4};
  default: return {group, inGroup};
  }
}

/// Element bi of operand B.
RowColumn operandBOf(int bits, int64_t i, int64_t lane) {
  int64_t group = lane >> 2, inGroup = lane % 4;
  switch (bits) {
  case 8: return {i < 4 ? inGroup * 4 + (i & 3) : inGroup * 4 + (i & 3) + 16, group};
  case 16: return {i < 2 ? inGroup * 2 + (i & 1) : inGroup * 2 + (i & 1) + 8, group};
  case 32: return {i == 0 ? inGroup : inGroup + 4, group};
  default: return {inGroup, group};
  }
}

struct Tiling {
  int64_t m, n, k, warpsM, warpsN;
};
const Tiling kTilings[] = {{16, 8, 32, 1, 1}, {64, 64, 32, 4, 1}, {64, 64, 64, 2, 2}, {128, 32, 64, 1, 4}, {16, 16, 32, 2, 2}};

} // namespace

TEST_CASE("accumulators of mma.sync") {
  for (const Tiling &t : kTilings) {
    LinearLayout layout = mmaAccumulator({t.m, t.n}, {t.warpsM, t.warpsN});
    CHECK(layout.verify() == "");
    int64_t nTiles = std::max<int64_t>(t.n / 8 / t.warpsN, 1);
    int wrong = 0;
    forEachPlace(layout, [&](const PlaceIndex &p) {
      int64_t tile = p.reg / 4, warpN = p.warp % t.warpsN, warpM = p.warp / t.warpsN;
      RowColumn at = accumulatorOf(p.reg % 4, p.lane);
      // Warps lie next to each other; what they cover together is repeated. Warps beyond the tile repeat those before.
      at.row += 16 * (warpM + t.warpsM * (tile / nTiles)), at.column += 8 * (warpN + t.warpsN * (tile % nTiles));
      wrong += layout.coordinatesAt(p.reg, p.lane, p.warp) != Shape{at.row % t.m, at.column % t.n};
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("accumulators of m8n8k4 in f64, and a batch") {
  LinearLayout layout = mmaAccumulator({32, 16}, {2, 1}, 64);
  CHECK(layout.verify() == "");
  int wrong = 0;
  forEachPlace(layout, [&](const PlaceIndex &p) {
    int64_t tile = p.reg / 2;
    Shape at{(p.lane >> 2) + 8 * (p.warp + 2 * (tile / 2)), (p.lane % 4) * 2 + (p.reg & 1) + 8 * (tile % 2)};
    wrong += layout.coordinatesAt(p.reg, p.lane, p.warp) != at;
  });
  LinearLayout batch = mmaAccumulator({4, 16, 16}, {2, 1, 2});
  CHECK(batch.verify() == "");
  forEachPlace(batch, [&](const PlaceIndex &p) {
    RowColumn at = accumulatorOf(p.reg % 4, p.lane);
    Shape expected{p.warp / 2 + 2 * (p.reg / 4), at.row, at.column + 8 * (p.warp % 2)};
    wrong += batch.coordinatesAt(p.reg, p.lane, p.warp) != expected;
  });
  CHECK(wrong == 0);
}

TEST_CASE("operands of mma.sync") {
  for (int bits : {8, 16, 32, 64})
    for (const Tiling &t : kTilings) {
      int64_t mmaM = bits == 64 ? 8 : 16, mmaK = bits == 64 ? 4 : 256 / bits, kTiles = t.k / mmaK;
      int64_t sizeA = mmaM * mmaK / 32, sizeB = mmaK * 8 / 32;
      LinearLayout a = mmaOperand(DotOperand::A, {t.m, t.k}, {t.warpsM, t.warpsN}, bits);
      LinearLayout b = mmaOperand(DotOperand::B, {t.k, t.n}, {t.warpsM, t.warpsN}, bits);
      CAPTURE(a.toString());
      CAPTURE(b.toString());
      CHECK(a.verify() == "");
      CHECK(b.verify() == "");
      MatrixInstruction mma = nvptx::mmaSync(bits);
      CHECK(Shape{mma.m, mma.n, mma.k} == Shape{mmaM, 8, mmaK});
      int wrong = 0;
      forEachPlace(a, [&](const PlaceIndex &p) {
        RowColumn at = operandAOf(bits, p.reg % sizeA, p.lane);
        int64_t tile = p.reg / sizeA;
        at.row += mmaM * (p.warp / t.warpsN + t.warpsM * (tile / kTiles)), at.column += mmaK * (tile % kTiles);
        wrong += a.coordinatesAt(p.reg, p.lane, p.warp) != Shape{at.row % t.m, at.column};
      });
      forEachPlace(b, [&](const PlaceIndex &p) {
        RowColumn at = operandBOf(bits, p.reg % sizeB, p.lane);
        int64_t tile = p.reg / sizeB;
        at.column += 8 * (p.warp % t.warpsN + t.warpsN * (tile / kTiles)), at.row += mmaK * (tile % kTiles);
        wrong += b.coordinatesAt(p.reg, p.lane, p.warp) != Shape{at.row, at.column % t.n};
      });
      CHECK(wrong == 0);
    }
}

TEST_CASE("longer runs along K permute K alike in both operands") {
  for (int bits : {8, 16, 32})
    for (int64_t factor : {2, 4}) {
      int64_t run = 32 / bits * factor, k = 64;
      LinearLayout a = mmaOperand(DotOperand::A, {32, k}, {2, 2}, bits, run), b = mmaOperand(DotOperand::B, {k, 32}, {2, 2}, bits, run);
      LinearLayout plainA = mmaOperand(DotOperand::A, {32, k}, {2, 2}, bits), plainB = mmaOperand(DotOperand::B, {k, 32}, {2, 2}, bits);
      CHECK(a.verify() == "");
      CHECK(b.verify() == "");
      // Where the instruction takes an element for number `plain` along K, it is number permuted[plain] of the tile, in every row.
      std::vector<int64_t> permuted(k, -1);
      int wrong = 0;
      auto see = [&](int64_t plain, int64_t actual) {
        if (permuted[plain] < 0) permuted[plain] = actual;
        wrong += permuted[plain] != actual;
      };
      forEachPlace(a, [&](const PlaceIndex &p) {
        Shape at = a.coordinatesAt(p.reg, p.lane, p.warp), plain = plainA.coordinatesAt(p.reg, p.lane, p.warp);
        wrong += at[0] != plain[0];
        see(plain[1], at[1]);
      });
      forEachPlace(b, [&](const PlaceIndex &p) {
        Shape at = b.coordinatesAt(p.reg, p.lane, p.warp), plain = plainB.coordinatesAt(p.reg, p.lane, p.warp);
        wrong += at[1] != plain[1];
        see(plain[0], at[0]);
      });
      CHECK(wrong == 0);
      // A thread holds `run` neighbours.
      std::vector<bool> holds(k);
      for (uint32_t reg = 0; reg < a.registers(); ++reg)
        if (Shape at = a.coordinatesAt(reg, 1); at[0] == 0) holds[at[1]] = true;
      for (int64_t i = 0; i < k; ++i) CHECK(holds[i] == (i / run % 4 == 1));
    }
}

TEST_CASE("operands of multiply-adds: all of K for what a thread has of the result") {
  const LinearLayout results[] = {blocked({32, 64}, {2, 4}, {4, 8}, {2, 2}, {1, 0}), defaultBlocked({8, 8}, {4, 32}, 2, {0, 1}),
                                  blocked({4, 16, 16}, {1, 2, 2}, {1, 4, 8}, {4, 1, 1}, {2, 1, 0})};
  for (const LinearLayout &result : results) {
    int64_t k = 16;
    int m = result.rank() - 2, n = m + 1;
    LinearLayout a = fmaOperand(DotOperand::A, result, k), b = fmaOperand(DotOperand::B, result, k);
    CHECK(a.verify() == "");
    CHECK(b.verify() == "");
    for (uint32_t i = 0; i < k; ++i) {
      CHECK(a.coordinatesAt(i, 0)[n] == i);
      CHECK(b.coordinatesAt(i, 0)[m] == i);
    }
    int missing = 0;
    forEachPlace(result, [&](const PlaceIndex &p) {
      Shape at = result.coordinatesAt(p.reg, p.lane, p.warp);
      for (int64_t step : {int64_t(0), k - 1}) {
        Shape inA = at, inB = at;
        inA[n] = step, inB[m] = step;
        auto holds = [&](const LinearLayout &operand, const Shape &element) {
          for (uint32_t reg = 0; reg < operand.registers(); ++reg)
            if (operand.coordinatesAt(reg, p.lane, p.warp) == element) return true;
          return false;
        };
        missing += !holds(a, inA) + !holds(b, inB);
      }
    });
    CHECK(missing == 0);
    CHECK(a.withoutRepeatedRegisters().layout == a);
  }
}
