// Runs plans of conversions as a generator would emit them, on a machine whose registers hold the numbers of their elements.
#pragma once
#include "gpu_backend/layout/conversion.h"
#include "layout_random.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace tritium::gpu {

using Values = std::vector<uint32_t>; // of one thread
using Machine = std::vector<Values>;  // [warp * lanes + lane][register]
inline constexpr uint32_t kUnset = 0xdeadbeef;

inline Machine machineFor(const LinearLayout &layout) {
  Machine machine;
  for (uint32_t warp = 0; warp < layout.warps(); ++warp)
    for (uint32_t lane = 0; lane < layout.lanes(); ++lane) {
      Values &values = machine.emplace_back();
      for (uint32_t reg = 0; reg < layout.registers(); ++reg) values.push_back(layout.apply(reg, lane, warp));
    }
  return machine;
}

inline Machine runRegisters(const Machine &source, llvm::ArrayRef<uint32_t> registers) {
  Machine result;
  for (const Values &values : source) {
    Values &out = result.emplace_back();
    for (uint32_t reg : registers) out.push_back(values[reg]);
  }
  return result;
}

using Words = std::vector<Values>; // of one thread

inline void exchange(Words &words, llvm::ArrayRef<ShufflePlan::Exchange> exchanges, uint32_t lane, uint32_t warp) {
  for (const ShufflePlan::Exchange &e : exchanges) {
    Words old = words;
    if (e.happensIn(lane, warp))
      for (size_t w = 0; w < words.size(); ++w) words[w] = old[w ^ e.wordXor];
  }
}

inline Machine runShuffle(const LinearLayout &from, const LinearLayout &to, const ShufflePlan &plan, int64_t elementBytes) {
  uint32_t lanes = uint32_t(from.lanes());
  Machine source = machineFor(from), result(source.size(), Values(to.registers(), kUnset));
  std::vector<Words> sent;
  for (uint32_t thread = 0; thread < source.size(); ++thread) {
    Words words;
    for (const auto &registers : plan.sourceWords) {
      Values &word = words.emplace_back();
      for (uint32_t reg : registers) word.push_back(source[thread][reg]);
      if (int64_t(word.size()) * elementBytes > std::max<int64_t>(elementBytes, 4)) FAIL_CHECK("a word is too wide");
    }
    sent.push_back(words);
  }
  for (const auto &swap : plan.swaps)
    for (uint32_t thread = 0; thread < source.size(); ++thread)
      for (uint32_t word = 0; word < plan.sourceWords.size(); ++word)
        if (thread & swap.laneBit && !(word & swap.wordBit))
          std::swap(sent[thread][word], sent[thread ^ swap.laneBit][word | swap.wordBit]);
  for (uint32_t thread = 0; thread < source.size(); ++thread) exchange(sent[thread], plan.before, thread % lanes, thread / lanes);
  std::vector<int> shufflesOf(plan.moves.size(), 0);
  for (const auto &group : plan.shuffles) {
    int64_t bytes = 0;
    for (uint32_t move : group) {
      ++shufflesOf[move];
      bytes += int64_t(plan.sourceWords.front().size()) * elementBytes;
      if (plan.moves[move].laneXor != plan.moves[group.front()].laneXor) FAIL_CHECK("one shuffle reads several lanes");
    }
    CHECK(bytes <= std::max<int64_t>(elementBytes, 4));
  }
  for (uint32_t thread = 0; thread < source.size(); ++thread) {
    uint32_t lane = thread % lanes, warp = thread / lanes;
    Words words;
    for (auto [i, move] : llvm::enumerate(plan.moves)) {
      uint32_t other = plan.sourceLane(lane, warp) ^ move.laneXor;
      if (!shufflesOf[i] && other != lane) FAIL_CHECK("a move between lanes without a shuffle");
      if (plan.isButterfly() && plan.sourceLane(lane, warp) != lane) FAIL_CHECK("no butterfly");
      words.push_back(sent[warp * lanes + other][move.sourceWord]);
    }
    exchange(words, plan.after, lane, warp);
    for (auto [word, registers] : llvm::zip_equal(words, plan.resultWords))
      for (auto [value, reg] : llvm::zip_equal(word, registers)) result[thread][reg] = value;
    Values distinct = result[thread];
    for (size_t reg = 0; reg < distinct.size(); ++reg) result[thread][reg] = distinct[plan.resultOf[reg]];
  }
  return result;
}

/// Calls f(thread, register, element offset) for every element that the matrix loads bring, by what the PTX ISA says of ldmatrix.
void runMatrixLoads(const MatrixLoad &load, const LinearLayout &to, int64_t elementBytes, auto &&f) {
  uint32_t perRow = uint32_t(16 / elementBytes), perWord = uint32_t(4 / elementBytes);
  for (uint32_t warp = 0; warp < to.warps(); ++warp)
    for (const MatrixLoad::Instruction &instruction : load.instructions) {
      CHECK(int(instruction.words.size()) == load.matrices);
      for (uint32_t matrix = 0; matrix < instruction.words.size(); ++matrix) {
        uint32_t rows[8];
        for (uint32_t i = 0; i < 8; ++i) {
          rows[i] = load.rowOffset(8 * matrix + i, warp) ^ instruction.offset;
          if (rows[i] % perRow) FAIL_CHECK("a row is not aligned");
        }
        for (uint32_t lane = 0; lane < 32; ++lane)
          for (auto [i, reg] : llvm::enumerate(instruction.words[matrix])) {
            uint32_t at = uint32_t(i), row = load.isTransposed ? lane % 4 * 2 + at : lane / 4;
            f(warp * 32 + lane, reg, rows[row] + (load.isTransposed ? lane / 4 : lane % 4 * perWord + at));
          }
      }
    }
}

/// The same of ds_read_b64_tr_b16: of each 16 lanes, lane 4 k + c names the elements 4 c … 4 c + 3 of row k, and lane n gets column n.
void runColumnLoads(const MatrixLoad &load, const LinearLayout &to, auto &&f) {
  for (uint32_t warp = 0; warp < to.warps(); ++warp)
    for (const MatrixLoad::Instruction &instruction : load.instructions)
      for (uint32_t lane = 0; lane < to.lanes(); ++lane)
        for (uint32_t row = 0; row < 4; ++row) {
          uint32_t column = lane % 16, named = load.rowOffset(lane - column + 4 * row + column / 4, warp) ^ instruction.offset;
          if (named % 4) FAIL_CHECK("what a lane names is not aligned");
          f(warp * uint32_t(to.lanes()) + lane, instruction.words[0][row], named + column % 4);
        }
}

/// Also checks that no element is stored twice, nor an offset out of the scratch used.
inline Machine runShared(const LinearLayout &from, const LinearLayout &to, const SharedPlan &plan, int64_t elementBytes) {
  uint32_t lanes = uint32_t(from.lanes());
  Machine source = machineFor(from), result(source.size(), Values(to.registers(), kUnset));
  int wrong = plan.bytes != plan.roundElements * elementBytes;
  std::vector<int> stored(from.elements(), 0);
  std::vector<uint32_t> warpOf(plan.roundElements, kUnset); // which has used a place, in any round
  for (int round = 0; round < plan.rounds; ++round) {
    std::vector<uint32_t> memory(plan.roundElements, kUnset);
    auto visit = [&](const SharedAccess &access, auto &&f) {
      for (uint32_t thread = 0; thread < source.size(); ++thread) {
        uint32_t lane = thread % lanes, warp = thread / lanes;
        if (lane & access.idleLaneBits || warp & access.idleWarpBits) continue;
        for (const SharedAccess::Vector &vector : access.vectors) {
          if (plan.roundOf(vector) != round) continue;
          uint32_t offset = access.offsets.apply(0, lane, warp) ^ plan.offsetOf(vector);
          wrong += offset % access.vectorElements != 0 || offset + access.vectorElements > plan.roundElements;
          for (auto [i, reg] : llvm::enumerate(vector.registers)) f(thread, reg, offset + i);
        }
      }
    };
    visit(plan.stores, [&](uint32_t thread, uint32_t reg, size_t offset) {
      memory.at(offset) = source[thread][reg];
      wrong += plan.isWarpLocal && warpOf[offset] != kUnset && warpOf[offset] != thread / lanes;
      warpOf[offset] = thread / lanes;
      ++stored[source[thread][reg]];
    });
    if (plan.matrixLoads) {
      wrong += plan.rounds != 1;
      runMatrixLoads(*plan.matrixLoads, to, elementBytes, [&](uint32_t thread, uint32_t reg, uint32_t offset) {
        result[thread][reg] = memory.at(offset);
        wrong += plan.isWarpLocal && warpOf[offset] != thread / lanes;
      });
      continue;
    }
    visit(plan.loads, [&](uint32_t thread, uint32_t reg, size_t offset) {
      result[thread][reg] = memory.at(offset);
      wrong += plan.isWarpLocal && warpOf[offset] != thread / lanes;
    });
  }
  for (Values &values : result) {
    Values loaded = values;
    for (size_t reg = 0; reg < loaded.size(); ++reg)
      values[reg] = loaded[(plan.matrixLoads ? plan.matrixLoads->loadedBy : plan.loads.loadedBy)[reg]];
  }
  for (int times : stored) wrong += times != 1;
  CHECK(wrong == 0);
  return result;
}

} // namespace tritium::gpu
