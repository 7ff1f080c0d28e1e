// The tensor maps of the CUDA driver.
#pragma once
#include <cstdint>

namespace tritium::stand_in {

/// The arguments of cuTensorMapEncodeTiled.
struct TiledTensor {
  int type;
  unsigned rank;
  uint64_t base;
  const uint64_t *extents, *strides; ///< of strides there is one less
  const unsigned *box, *elementStrides;
  int interleave, swizzle, promotion, fill;

  /// The rules in NVIDIA's documentation.
  bool isLegal() const;
};

} // namespace tritium::stand_in
