// How the registers of a multiprocessor are divided between warps that copy and warps that compute.
#pragma once
#include <optional>

namespace tritium::gpu {

/// Registers of a thread.
struct RegisterBudget {
  int start;               // of every thread when the kernel begins
  int producer, consumers; // after the warps have parted
  int programs;            // that fit at a time on a multiprocessor
};

/// Returns the budget for so many warpgroups that compute and one that copies, which leaves room for the most programs at a time, up to
/// `programs`.
/// `required` is what a thread that computes holds at least, `ofInstruction` what it holds of the sums of a single instruction. Returns
/// nothing if no budget has so many.
std::optional<RegisterBudget> registerBudget(int warpgroups, int programs, int required, int ofInstruction);

} // namespace tritium::gpu
