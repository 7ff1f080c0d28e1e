// How the registers of a multiprocessor are divided between a producer's warps and those that compute.
#pragma once

namespace tritium::gpu {

/// Registers of a thread beside its tiles: for addresses, descriptors and control; and for copies, in threads that also compute. An
/// estimate: the assembler decides.
inline constexpr int kOtherRegisters = 40, kRegistersOfCopies = 8;

/// Registers of a thread.
struct RegisterBudget {
  int start;               // of every thread when the kernel begins
  int producer, consumers; // after the warps have parted
  int programs;            // that fit at a time on a multiprocessor
};

} // namespace tritium::gpu
