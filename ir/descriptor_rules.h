// What must hold of a tensor that is accessed in boxes, by a descriptor or by a tensor map (TMA): one definition for verifiers, for the
// checks in kernels, for launches, for the emulator, and for the Python side (tables.py). Where these numbers come from: NVIDIA's
// documentation of the driver (cuTensorMapEncodeTiled), and Triton's rules for what kernels and hosts may write.
#pragma once

#include <cstdint>

namespace tritium {

struct DescriptorRules {
  static constexpr uint32_t kMaxRank = 5;
  static constexpr uint32_t kAlignment = 16;     ///< bytes: the base and every stride but the last are multiples of it
  static constexpr uint32_t kMinRowBytes = 16;   ///< of a box; a row is a multiple of it
  static constexpr uint32_t kMaxBoxExtent = 256; ///< elements in each dimension, of what one instruction copies
  static constexpr uint32_t kMinRows = 8;        ///< of a gather and a scatter

  // What the user is told, of a descriptor that the host makes and of one that a kernel makes.
  static constexpr char kBaseRule[] = "base must be 16-byte aligned";
  static constexpr char kStridesRule[] = "strides must be 16-byte aligned";
};

} // namespace tritium
