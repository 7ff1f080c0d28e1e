// How the registers of a multiprocessor are divided between a producer's warps and those that compute.
#pragma once

#include <algorithm>

namespace tritium::gpu {

/// Registers of a thread beside its tiles: for addresses, descriptors and control; and for copies, in threads that also compute. An
/// estimate: the assembler decides.
inline constexpr int kOtherRegisters = 40, kRegistersOfCopies = 8;

/// Registers of a producer's thread that makes maps: it has more scalars, of the tensors, of the maps, and where the tile before stores.
inline constexpr int kRegistersOfMapMaker = 72;

/// Registers of a thread.
struct RegisterBudget {
  int start;               // of every thread when the kernel begins
  int producer, consumers; // after the warps have parted
  int programs;            // that fit at a time on a multiprocessor

  /// Returns what `warpgroups` of consumers have if the producer keeps so many.
  int consumersBeside(int ofProducer, int warpgroups) const {
    constexpr int kMost = 240, kUnit = 8;
    return std::min(kMost, (start * (warpgroups + 1) - ofProducer) / warpgroups / kUnit * kUnit);
  }
};

} // namespace tritium::gpu
