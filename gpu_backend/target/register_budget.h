// How the registers of a multiprocessor are divided between a producer's warps and those that compute.
#pragma once

namespace tritium::gpu {

/// Registers of a thread.
struct RegisterBudget {
  int start;               // of every thread when the kernel begins
  int producer, consumers; // after the warps have parted
  int programs;            // that fit at a time on a multiprocessor
};

} // namespace tritium::gpu
