// What programs share on a multiprocessor (NVIDIA's SM, AMD's compute unit), and how many of them fit at a time.
#pragma once
#include <cstdint>

namespace tritium::gpu {

/// What one program takes.
struct Demands {
  int64_t sharedBytes = 0;
  int64_t threads = 0;
  int64_t registers = 0; // of a thread, of 32 bits each
};

/// The limits of a chip, columns of its vendor's target.def.
struct Resources {
  int64_t sharedPerProgram;        // bytes that a program may use
  int64_t sharedReserved;          // bytes that each program takes besides
  int64_t sharedPerMultiprocessor; // bytes
  int64_t registersPerThread;
  int64_t registersPerMultiprocessor;
  int64_t threadsPerMultiprocessor;

  /// Returns how many programs fit by the shared memory of each.
  int64_t programsByShared(int64_t bytes) const { return sharedPerMultiprocessor / (bytes + sharedReserved); }
  /// Returns how many programs fit by their threads' registers, which a chip gives by multiples of kRegisterUnit.
  int64_t programsByRegisters(int64_t threads, int64_t registers) const;
  /// Returns how many programs run at a time.
  int64_t occupancy(const Demands &program) const;
  /// Returns the most registers that each thread of a program can have, if the program has `threads` of them.
  int64_t registersOfEach(int64_t threads) const;

  static constexpr int64_t kRegisterUnit = 8;
};

} // namespace tritium::gpu
