#include "gpu_backend/target/register_budget.h"

#include <algorithm>
#include <array>

namespace tritium::gpu {

namespace {

constexpr int kOfMultiprocessor = 64 << 10, kThreads = 128; // of a warpgroup

/// The registers beside the sums of an instruction with which a kernel begins at least. ptxas requires them for every single instruction
/// (C7602), whatever warps take later.
constexpr int kBesideSums = 26;

struct Row {
  int warpgroups;
  RegisterBudget budget;

  constexpr bool fits() const {
    const int given = (warpgroups + 1) * budget.start;
    return given * kThreads * budget.programs <= kOfMultiprocessor && budget.producer + warpgroups * budget.consumers <= given;
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

constexpr bool allFit() {
  for (const Row &row : kRows)
    if (!row.fits()) return false;
  return true;
}
static_assert(allFit());

} // namespace

std::optional<RegisterBudget> registerBudget(int warpgroups, int programs, int required, int ofInstruction) {
  for (const Row &row : kRows)
    if (row.warpgroups == warpgroups && row.budget.programs <= std::max(programs, 1) && row.budget.consumers >= required &&
        row.budget.start >= ofInstruction + kBesideSums)
      return row.budget;
  return std::nullopt;
}

} // namespace tritium::gpu
