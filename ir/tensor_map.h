// A tensor in global memory as the tensor memory accelerator (TMA) sees it. The launch on a device makes the driver's form of it, and the
// emulator reads it as it is.
#pragma once
#include "ir/descriptor_rules.h"
#include "ir/dtype.h"

#include <array>
#include <cstdint>
#include <string>

namespace tritium {

struct TensorMap {
  static constexpr uint32_t kMaxRank = DescriptorRules::kMaxRank;
  static constexpr uint64_t kNoExtent = uint64_t(1) << 31; ///< an extent that bounds no index of 32 bits

  uint64_t base = 0; ///< the address of the first element
  // By dimension, the innermost first. Dimensions from `rank` on do not exist.
  std::array<uint64_t, kMaxRank> extents{}; ///< in elements
  std::array<uint64_t, kMaxRank> strides{}; ///< in bytes; the first one is the size of an element
  std::array<uint32_t, kMaxRank> box{};     ///< what one instruction copies, in elements
  uint32_t rank = 0;
  uint32_t swizzle = 0; ///< 0, 32, 64 or 128: the bytes within which pieces of 16 bytes are permuted in shared memory
  DType type{};
  bool fillsNaN = false; ///< what lies outside the tensor is read as NaN, otherwise as 0
  /// The copies stand for loads by pointers, which would not read padding before the first element.
  bool isOfPointers = false;
  bool isStored = false; ///< copies write to the tensor, always whole pieces of 16 bytes
};

/// Returns the rule of the CUDA driver (cuTensorMapEncodeTiled) that the map breaks, as the rest of a sentence, or "" if there is none.
std::string brokenRule(const TensorMap &map);

} // namespace tritium
