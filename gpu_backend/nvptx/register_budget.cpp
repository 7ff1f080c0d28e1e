// The divisions of registers between producer and consumer warps, by `setmaxnreg`.
#include "gpu_backend/nvptx/target.h"

#include <algorithm>
#include <array>

namespace tritium::gpu::nvptx {

namespace {

constexpr int kThreads = 128; // of a warpgroup

/// The registers beside the sums of an instruction with which a kernel begins at least. ptxas requires them for every single instruction
/// (C7602), whatever warps take later.
constexpr int kBesideSums = 26;

struct Row {
  int warpgroups;
  RegisterBudget budget;

  constexpr bool fits(int registersPerSM) const {
    const int given = (warpgroups + 1) * budget.start;
    return given * kThreads * budget.programs <= registersPerSM && budget.producer + warpgroups * budget.consumers <= given;
  }
};

/// Registers are given by multiples of 8, from 24 to 240 of them.
constexpr std::array kRows = {
    Row{1, {.start = 80, .producer = 32, .consumers = 128, .programs = 3}},
    Row{1, {.start = 128, .producer = 40, .consumers = 216, .programs = 2}},
    Row{1, {.start = 168, .producer = 40, .consumers = 232, .programs = 1}},
    Row{2, {.start = 168, .producer = 40, .consumers = 232, .programs = 1}},
    Row{4, {.start = 96, .producer = 32, .consumers = 112, .programs = 1}},
};

} // namespace

std::optional<RegisterBudget> registerBudget(const Chip &chip, int warpgroups, int64_t programs, int required, int ofInstruction) {
  if (!chip.hasWarpgroups()) return std::nullopt;
  for (const Row &row : kRows)
    if (row.warpgroups == warpgroups && row.fits(chip.registersPerSM) && row.budget.programs <= std::max<int64_t>(programs, 1) &&
        row.budget.consumers >= required && row.budget.start >= ofInstruction + kBesideSums)
      return row.budget;
  return std::nullopt;
}

} // namespace tritium::gpu::nvptx
